"""Renewing leases in a thread of its own, so that a blocked event loop does not lose its sends to another worker."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.db.port import Database
from clarion.errors import StoreUnavailable
from clarion.sending.claim import renew_leases
from clarion.sending.places import Places

MAX_BLOCKED = Millis(5 * MINUTE)
"""A loop that is blocked for longer counts as dead: other workers take over its sends."""

log = logging.getLogger(__name__)


class LeaseKeeper:
    """Renews the leases of the sends that are in flight.

    Where the store has one process only, the event loop renews them: no other process can take the sends.
    """

    def __init__(self, database: Database, places: Places, clock: Clock, *, lease: Millis) -> None:
        self._database = database
        self._places = places
        self._clock = clock
        self._lease = lease
        self._seen_at = clock.now()
        self._apart: Database | None = None
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], object] = lambda: None

    def make_service(self) -> BackgroundService:
        seconds = self._lease / SECOND / 3
        return BackgroundService(
            name=ServiceName.LEASES, run_once=self._show_life, interval=seconds, finish=self._end, ends_last=True
        )

    async def _show_life(self) -> None:
        """Show the thread that the event loop is not blocked."""
        if self._thread is None:
            self._start_thread()
        self._seen_at = self._clock.now()
        if self._apart is None:
            await self.renew(self._database)

    async def _end(self) -> None:
        if self._thread is not None:
            self._stop()
            await asyncio.shield(asyncio.to_thread(self._thread.join))

    async def renew(self, database: Database) -> None:
        """Renew the leases once; those that cannot be renewed in time lapse."""
        now, sends = self._clock.now(), tuple(self._places)
        if not sends:
            return
        work = partial(renew_leases, sends=sends, now=now, lease=self._lease)
        try:
            renewed = await database.transaction(work)
        except StoreUnavailable as error:
            log.warning("Leases not renewed", extra={"error": str(error)})
            return
        for send in sends:
            if send.job.id in renewed:
                send.lease_until = Millis(now + self._lease)

    def _start_thread(self) -> None:
        loop, stop = asyncio.new_event_loop(), asyncio.Event()
        self._stop = partial(loop.call_soon_threadsafe, stop.set)
        self._thread = threading.Thread(target=self._run_thread, args=(loop, stop), name="clarion-leases", daemon=True)
        self._thread.start()

    def _run_thread(self, loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
        try:
            loop.run_until_complete(self._keep(stop))
        finally:
            loop.close()

    async def _keep(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._lease / SECOND / 3)
            try:
                await self._renew_apart()
            except Exception:
                log.exception("Leases not renewed")
        if self._apart is not None:
            await self._apart.close()

    async def _renew_apart(self) -> None:
        if not len(self._places) or self._clock.now() - self._seen_at > MAX_BLOCKED:
            return
        if self._apart is None:
            try:
                self._apart = await self._database.open_apart()
            except StoreUnavailable as error:
                log.warning("Leases not renewed", extra={"error": str(error)})
        if self._apart is not None:
            await self.renew(self._apart)
