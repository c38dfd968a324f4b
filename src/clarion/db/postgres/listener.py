"""A PostgreSQL connection that listens for notifications; when it is lost, another one takes its place."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import asyncpg
from msgspec import Struct

from clarion.background import BackgroundService, ServiceName, Supervisor

_CHECK_SECONDS = 10.0
"""How often to check the connection: when a machine or a network fails, nothing reports that it is gone."""
_CHECK_TIMEOUT_SECONDS = 5.0
_MIN_BACKOFF_SECONDS = 0.1
_MAX_BACKOFF_SECONDS = 5.0
_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)

log = logging.getLogger(__name__)


class ListenedChannel(Struct, frozen=True):
    """Whom to call with the payload of a notification, and when notifications may have been lost."""

    on_message: Callable[[str], None]
    on_resumed: Callable[[], None]


class Listener:
    """Listens to channels on one connection."""

    def __init__(self, url: str, background: Supervisor) -> None:
        self._url = url
        self._background = background
        self._channels: dict[str, list[ListenedChannel]] = {}
        self._connection: Any = None
        self._resumed: deque[ListenedChannel] = deque()
        """Those who are still to be told that notifications may have been lost."""
        self._adding = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def add(self, name: str, channel: ListenedChannel) -> None:
        """Listen to a channel until closed. Where PostgreSQL cannot be reached, it is tried until it can be."""
        is_new = name not in self._channels
        self._channels.setdefault(name, []).append(channel)
        async with self._adding:
            try:
                if self._task is None:
                    self._connection = await self._connect()
                elif is_new and self._connection is not None:
                    await self._connection.add_listener(name, self._receive)
            except _ERRORS:
                self._terminate()
            if self._task is None:
                listening = BackgroundService(name=ServiceName.STORE_NOTIFICATIONS, run_once=self._replace_lost)
                self._task = asyncio.create_task(self._background.run([listening]))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        # A task that is cancelled before it begins leaves the connection open.
        self._terminate()

    async def _replace_lost(self) -> bool:
        """Wait until the connection is lost, and open another one."""
        while self._resumed:
            self._resumed.popleft().on_resumed()
        try:
            if self._connection is not None:
                await _wait_until_lost(self._connection)
        finally:
            # At once: a connection that no longer answers cannot be closed properly.
            self._terminate()
        log.warning("Listening connection lost")
        self._connection = await self._reconnect()
        log.info("Listening connection replaced")
        self._resumed.extend(channel for channels in self._channels.values() for channel in channels)
        return True

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

    def _terminate(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    def _receive(self, _connection: Any, _pid: int, name: str, payload: str) -> None:
        for channel in self._channels[name]:
            channel.on_message(payload)

    async def _connect(self) -> Any:
        connection = await asyncpg.connect(self._url, timeout=_CHECK_TIMEOUT_SECONDS)
        try:
            heard: set[str] = set()
            # Others may be added meanwhile.
            while missing := self._channels.keys() - heard:
                for name in missing:
                    await connection.add_listener(name, self._receive)
                heard |= missing
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
