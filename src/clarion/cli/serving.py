"""Processes that stay: serve, api and worker, from start to a clean end."""

import asyncio
import gc
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

import uvicorn
from rich.console import Console

from clarion import __version__
from clarion.app import Application, open_application
from clarion.errors import SettingsError
from clarion.logs import configure_logging
from clarion.settings import Settings

_BACKLOG = 2048
_OBJECTS_UNTIL_COLLECTION = 20_000

log = logging.getLogger(__name__)


def run_serve(settings: Settings) -> None:
    _run(settings, _serve_api(settings, is_whole=True))


def run_api(settings: Settings) -> None:
    _run(settings, _serve_api(settings))


def run_worker(settings: Settings) -> None:
    _run(settings, _work(settings))


async def _serve_api(settings: Settings, *, is_whole: bool = False) -> None:
    """Serve the API; as a whole installation, migrate the store first and do the work too."""
    with _listening_socket(settings) as listener:
        async with open_application(settings, migrate=is_whole) as application, AsyncExitStack() as beside:
            _settle_memory()
            await beside.enter_async_context(_in_background(application.keep_up()))
            await beside.enter_async_context(_in_background(application.work() if is_whole else application.announce()))
            server = _server(application)
            _on_stop(lambda: _stop(server))
            _welcome(application, listener.getsockname()[1])
            await server.serve(sockets=[listener])


async def _work(settings: Settings) -> None:
    async with (
        open_application(settings) as application,
        _in_background(application.keep_up()),
        _in_background(application.work()),
    ):
        _settle_memory()
        stopping = asyncio.Event()
        _on_stop(stopping.set)
        _say(f"Clarion {__version__} works on {_store(settings)}")
        await stopping.wait()


def _settle_memory() -> None:
    """Spare the garbage collector what start-up made, which stays, and let it look less often at what batches make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION, 10, 10)


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: it would end the process by the signal instead of cleanly."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(application: Application) -> uvicorn.Server:
    return _Server(
        uvicorn.Config(
            application.asgi,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http="httptools",
            ws="none",
            timeout_keep_alive=61,
            timeout_graceful_shutdown=application.settings.shutdown_grace_seconds,
        )
    )


def _stop(server: uvicorn.Server) -> None:
    # A second signal does not wait for requests under way.
    server.force_exit = server.should_exit
    server.should_exit = True


def _listening_socket(settings: Settings) -> socket.socket:
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


def _welcome(application: Application, port: int) -> None:
    host = application.settings.host
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    _say(f"Clarion {__version__} listens on {address}, store: {_store(application.settings)}")
    if application.first_keys is None:
        _say("  Keys were shown at the first start; make another: clarion keys create --environment Development")
        _say(f"  curl {address}/v1/health-check")
    else:
        _say("  API keys, shown this once:")
        for name, key in application.first_keys.keys.items():
            _say(f"    {name:12} {key}")
        key_of_development = application.first_keys.keys["Development"]
        _say("  Try it:")
        _say(
            f"    curl {address}/v2/subscribers -H 'Authorization: ApiKey {key_of_development}' "
            '-H \'Content-Type: application/json\' -d \'{"subscriberId": "ada", "firstName": "Ada"}\''
        )
    _say(f"  API reference: {address}/docs")


def _store(settings: Settings) -> str:
    return f"SQLite in {settings.data_dir}" if settings.database_url is None else "PostgreSQL"


def _say(line: str) -> None:
    Console().print(line, markup=False, highlight=False, soft_wrap=True)
    sys.stdout.flush()


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a coroutine beside the body, and end it with the body."""
    task = asyncio.create_task(work)
    task.add_done_callback(_end_with)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _end_with(task: asyncio.Task[None]) -> None:
    """A process whose background work has died must not go on as if nothing were missing."""
    if not task.cancelled() and task.exception() is not None:
        log.critical("Background work died; stopping", exc_info=task.exception())
        signal.raise_signal(signal.SIGTERM)


def _on_stop(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


def _run(settings: Settings, work: Coroutine[Any, Any, None]) -> None:
    is_terminal = sys.stderr.isatty()
    json_lines = settings.log_format == "json" or (settings.log_format == "auto" and not is_terminal)
    configure_logging(level=settings.log_level, json_lines=json_lines)
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415 - not on every platform

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)
