"""A PostgreSQL connection that listens for work; when it is lost, another one takes its place."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import asyncpg

WORK_CHANNEL = "clarion_work"

_CHECK_SECONDS = 10.0
"""How often to check the connection: when a machine or a network fails, nothing reports that it is gone."""
_CHECK_TIMEOUT_SECONDS = 5.0
_MIN_BACKOFF_SECONDS = 0.1
_MAX_BACKOFF_SECONDS = 5.0
_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)

log = logging.getLogger(__name__)


class WorkListener:
    """Calls a function whenever another process notifies the workers, and whenever notifications may have been lost."""

    def __init__(self, url: str, on_work: Callable[[], None], *, own_name: str) -> None:
        self._url = url
        self._own_name = own_name
        self._on_work = on_work
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen from now on, until closed; raises if PostgreSQL cannot be reached."""
        connection = await self._connect()
        self._task = asyncio.create_task(self._run(connection))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, connection: Any) -> None:
        while True:
            try:
                await _wait_until_lost(connection)
            finally:
                # At once: a connection that no longer answers cannot be closed properly.
                connection.terminate()
            log.warning("Listening connection lost")
            connection = await self._reconnect()
            log.info("Listening connection replaced")
            self._on_work()

    async def _reconnect(self) -> Any:
        backoff = _MIN_BACKOFF_SECONDS
        while True:
            try:
                return await self._connect()
            except _ERRORS as error:
                log.warning("Listening connection not replaced", extra={"error": str(error)})
            # Random, so that the processes of an installation do not all connect at the same moment.
            await asyncio.sleep(backoff * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
            backoff = min(2 * backoff, _MAX_BACKOFF_SECONDS)

    def _receive(self, _connection: Any, _pid: int, _channel: str, sender: str) -> None:
        if sender != self._own_name:
            self._on_work()

    async def _connect(self) -> Any:
        connection = await asyncpg.connect(self._url, timeout=_CHECK_TIMEOUT_SECONDS)
        try:
            await connection.add_listener(WORK_CHANNEL, self._receive)
        except BaseException:
            connection.terminate()
            raise
        return connection


async def _wait_until_lost(connection: Any) -> None:
    lost = asyncio.Event()
    connection.add_termination_listener(lambda _: lost.set())
    while not connection.is_closed():
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await lost.wait()
        except TimeoutError:
            try:
                await connection.execute("SELECT 1", timeout=_CHECK_TIMEOUT_SECONDS)
            except _ERRORS:
                return
