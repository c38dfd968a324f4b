"""Ends snoozes at their moment. It sleeps until the next one, so that an idle process asks the store very rarely."""

import asyncio

from clarion.background import BackgroundService, ServiceName
from clarion.bus import Bus
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Database
from clarion.inbox.announcing import Arrival, publish_arrivals
from clarion.inbox.waking import find_next_wake, wake_due_messages

IDLE_SECONDS = 5.0
"""How long to sleep at most: the signal of a snooze in another process may be lost."""

_WOKEN_TOGETHER = 100
_SETTLE_SECONDS = 1.0
"""Signals announce any work, and under load they never end: they cause one look in this time."""
_LOCKED_SECONDS = 0.1


class Waker:
    """Brings snoozed messages of all environments back. Any number of processes do so, and each message comes once."""

    def __init__(self, database: Database, *, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._bus = bus
        self._hint = asyncio.Event()
        self.next_at: Millis | None = None
        """When the next snooze ends, as far as is known."""

    def wake(self) -> None:
        """There may be a new snooze."""
        self._hint.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SNOOZES,
            run_once=self.work,
            interval=self._choose_pause,
            wake_up=self._hint,
            settle_seconds=_SETTLE_SECONDS,
        )

    async def work(self) -> bool:
        """End the snoozes that are due at this moment, up to a limit; returns whether there were any."""
        now = self._clock.now()
        self.next_at = await self._database.read(find_next_wake)
        if self.next_at is None or self.next_at > now:
            return False
        woken = await self._database.transaction(lambda db: wake_due_messages(db, now, limit=_WOKEN_TOGETHER))
        publish_arrivals(self._bus, [Arrival(one.environment_id, one.subscriber_id, one.id) for one in woken])
        return bool(woken)

    def _choose_pause(self) -> float:
        if self.next_at is None:
            return IDLE_SECONDS
        until_next = (self.next_at - self._clock.now()) / SECOND
        # What is due but was not brought back is locked for a moment.
        return min(IDLE_SECONDS, until_next if until_next > 0 else _LOCKED_SECONDS)
