"""The long-running commands: serve, api and worker, with graceful shutdown."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import uvicorn

from clarion.app import Application, open_application
from clarion.cli.configuration import log_settings_warnings
from clarion.cli.installation import load_settings
from clarion.cli.options import DatabaseUrl, DataDir, Host, Port
from clarion.cli.process import (
    choose_max_connections,
    choose_max_sockets,
    handle_hangup,
    ignore_hangup,
    raise_open_files,
)
from clarion.cli.welcome import announce_api, announce_worker, is_at_terminal
from clarion.clock import Clock
from clarion.errors import SettingsError
from clarion.http.server.connections import ConnectionLimits, ConnectionTable
from clarion.http.server.protocol import LimitedProtocol
from clarion.monitoring.logs import configure_logging
from clarion.monitoring.metrics import Gauge
from clarion.settings.model import Settings

_BACKLOG = 2048
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger(__name__)


def serve(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Run everything in one process: migrate the store, serve the API, do the work."""
    settings = load_settings(data_dir, database_url, host=host, port=port)
    run_serve(settings)


def api(host: Host = None, port: Port = None, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Serve the API only; run any number of these on PostgreSQL."""
    settings = load_settings(data_dir, database_url, host=host, port=port)
    run_api(settings)


def worker(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Do the background work only; run any number of these on PostgreSQL."""
    run_worker(load_settings(data_dir, database_url))


def run_serve(settings: Settings, clock: Clock | None = None) -> None:
    _run(settings, _serve_api(settings, clock, has_worker=True))


def run_api(settings: Settings, clock: Clock | None = None) -> None:
    _run(settings, _serve_api(settings, clock))


def run_worker(settings: Settings, clock: Clock | None = None) -> None:
    _run(settings, _work(settings, clock))


async def _serve_api(settings: Settings, clock: Clock | None, *, has_worker: bool = False) -> None:
    """Serve the API; with a worker it is a complete installation, which also migrates the store."""
    with _open_socket(settings) as listener:
        # Links name the port that was taken.
        settings = replace(settings, port=listener.getsockname()[1])
        opening = open_application(settings, migrate=has_worker, makes_keys=is_at_terminal(), clock=clock)
        kind = "serve" if has_worker else "api"
        async with opening as application, application.monitor.listen(kind) as watched, _Shutdown() as shutdown:
            # What the start made stays: collections need not look at it.
            gc.freeze()
            table = _make_connection_table(application)
            max_sockets = choose_max_sockets(settings, table.limits.max_connections)
            shutdown.run(
                application.background.run(
                    [
                        *await application.list_services(kind),
                        table.make_service(),
                        *application.realtime.list_socket_services(max_sockets),
                    ]
                )
            )
            server = _make_server(application, table)
            shutdown.on_begin(lambda: _stop(server, application))
            await announce_api(application, kind, watched)
            with application.watchdog.watch():
                await server.serve(sockets=[listener])


async def _work(settings: Settings, clock: Clock | None) -> None:
    opening = open_application(settings, clock=clock)
    async with opening as application, application.monitor.listen("worker") as watched, _Shutdown() as shutdown:
        shutdown.run(application.background.run(await application.list_services("worker")))
        # What the start made stays: collections need not look at it.
        gc.freeze()
        stopping = asyncio.Event()
        shutdown.on_begin(stopping.set)
        announce_worker(settings, watched)
        with application.watchdog.watch():
            await stopping.wait()


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling, which would kill the process with the signal after shutdown."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _make_connection_table(application: Application) -> ConnectionTable:
    settings = application.settings
    limits = ConnectionLimits(
        max_connections=choose_max_connections(settings),
        header_seconds=settings.header_timeout_seconds,
        body_seconds=settings.body_timeout_seconds,
        idle_seconds=settings.idle_timeout_seconds,
    )
    table = ConnectionTable(limits, application.services.clock)
    application.services.measures.watch(Gauge.CONNECTIONS, lambda: len(table))
    return table


def _make_server(application: Application, table: ConnectionTable) -> uvicorn.Server:
    return _Server(
        uvicorn.Config(
            application.asgi,
            # It would take a function that is no coroutine for an application of an older protocol.
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            # uvicorn only calls it, as it would call a class.
            http=cast("Any", partial(LimitedProtocol, table=table, upgrader=application.realtime.upgrader)),
            ws="none",
            timeout_graceful_shutdown=application.settings.shutdown_grace_seconds,
        )
    )


def _stop(server: uvicorn.Server, application: Application) -> None:
    application.services.streams.close()
    server.should_exit = True


def _open_socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Cannot listen on {settings.host}:{settings.port} ({error.strerror}); choose another with --port."
        ) from error
    listener.listen(_BACKLOG)
    return listener


class _Shutdown:
    """Ends the process at a signal: background work and open requests have the same grace period, at the same time.

    A second signal ends the process at once, even if the event loop is blocked. The store is as after a kill.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._stop: Callable[[], None] = lambda: None
        self._has_begun = False
        self._failure: BaseException | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, self._begin)
        handle_hangup(loop, self._begin)
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._begin()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if error is None and self._failure is not None:
            # The exit status says it, so that a supervisor starts the process again.
            raise self._failure

    def on_begin(self, stop: Callable[[], None]) -> None:
        """Call this when the process is to end."""
        self._stop = stop
        if self._has_begun:
            stop()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine until the process is to end; if it fails, the process must not continue without it."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._end_on_failure)
        if self._has_begun:
            task.cancel()

    def _begin(self) -> None:
        # Once only: cancelling a task again would cut short what it still has to finish.
        if self._has_begun:
            return
        self._has_begun = True
        for number in _STOP_SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, _end_at_once)
        for task in self._tasks:
            task.cancel()
        self._stop()

    def _end_on_failure(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()
            log.critical("Background work died; stopping", exc_info=task.exception())
            self._begin()


def _end_at_once(number: int, _: object) -> None:
    os._exit(128 + number)


def _run(settings: Settings, work: Coroutine[Any, Any, None]) -> None:
    is_terminal = settings.log_file is None and sys.stderr.isatty()
    json_lines = settings.log_format == "json" or (settings.log_format == "auto" and not is_terminal)
    configure_logging(level=settings.log_level, json_lines=json_lines, file=settings.log_file)
    log_settings_warnings()
    ignore_hangup()
    raise_open_files()
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not on every platform

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)
    log.info("Stopped")
