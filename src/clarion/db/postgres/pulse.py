"""Finds out whether a PostgreSQL that does not answer is slow or gone.

A server that is stopped, or a network that drops packets, closes no connection: statements would wait for a minute.
When a unit of work takes long, the server is asked for a new connection. If it gives none, and no other unit ends
meanwhile, it is lost: the connections in use are closed, and units are refused at once until it answers again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from clarion.background import BackgroundService, ServiceName, Supervisor

SLOW_SECONDS = 1.0
"""A unit of work that takes longer is a reason to ask."""
ANSWER_SECONDS = 2.5
"""How long the server may take to answer."""
_LOOK_SECONDS = 0.25
_RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class Pulse:
    """Watches the connections in use; `is_lost` while the server does not answer."""

    def __init__(
        self, ask: Callable[[], Awaitable[None]], on_lost: Callable[[], Awaitable[None]], background: Supervisor
    ) -> None:
        self._ask = ask
        self._on_lost = on_lost
        self._background = background
        self._busy: dict[Any, float] = {}
        self._ended = 0
        self._task: asyncio.Task[None] | None = None
        self.is_lost = False

    def begin(self, connection: Any) -> None:
        """A unit of work begins on a connection."""
        self._busy[connection] = asyncio.get_running_loop().time()
        if self._task is None:
            looking = BackgroundService(name=ServiceName.STORE_PULSE, run_once=self._look, interval=_LOOK_SECONDS)
            self._task = asyncio.create_task(self._background.run([looking]))

    def end(self, connection: Any) -> None:
        self._busy.pop(connection, None)
        self._ended += 1

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _look(self) -> None:
        if self._is_slow():
            await self._check()

    def _is_slow(self) -> bool:
        # They began one after the other.
        began = next(iter(self._busy.values()), None)
        return began is not None and asyncio.get_running_loop().time() - began > SLOW_SECONDS

    async def _check(self) -> None:
        ended = self._ended
        if await self._answers() or self._ended != ended:
            # Long units are no reason to ask four times a second.
            await asyncio.sleep(SLOW_SECONDS)
            return
        self.is_lost = True
        log.warning("PostgreSQL does not answer", extra={"units": len(self._busy)})
        for connection in list(self._busy):
            connection.terminate()
        try:
            await self._on_lost()
            await self._wait_for_answer()
        finally:
            # After an unexpected error as well: units may try, and whether the server is lost is found out again.
            self.is_lost = False
        log.warning("PostgreSQL answers again")

    async def _wait_for_answer(self) -> None:
        while not await self._answers():  # noqa: ASYNC110 - nothing tells when it answers again
            await asyncio.sleep(_RETRY_SECONDS)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._ask()
        except Exception:  # noqa: BLE001 - whatever it is, there was no answer
            return False
        return True


async def ask_server(url: str) -> None:
    """Open a connection and close it; raises an error if PostgreSQL gives none."""
    connection = await asyncpg.connect(url)
    try:
        await connection.fetchval("SELECT 1")
    finally:
        connection.terminate()
