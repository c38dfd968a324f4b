"""Ends snoozes at their moment: messages come back as new and unread, once."""

import asyncio
from collections.abc import Sequence

from clarion.background import BackgroundService, ServiceName, pause_until
from clarion.bus import Bus
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import EnvironmentId, new_id
from clarion.inbox.listing import COLUMN_COUNT, COLUMNS, inbox_message_of
from clarion.inbox.sockets.announcements import Arrival, publish_arrivals
from clarion.inbox.state import wake
from clarion.jsontext import json_text
from clarion.messages.model import InboxMessage, InboxOwner
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType

_WOKEN_TOGETHER = 100
_SETTLE_SECONDS = 1.0
"""Signals announce any work and never stop under load, so there is at most one look in this time."""

FIND_NEXT_WAKE = sql("""
    SELECT snoozed_until, environment_id FROM messages
    WHERE snoozed_until IS NOT NULL ORDER BY snoozed_until LIMIT 1
""")
CLAIM_DUE = sql(f"""
    SELECT {COLUMNS}, t.environment_id, t.subscriber_id
    FROM messages AS t WHERE t.snoozed_until IS NOT NULL AND t.snoozed_until <= :now
    ORDER BY t.snoozed_until LIMIT :limit {{skip_locked}}
""")
WAKE = sql("""
    UPDATE messages SET
        snoozed_until = NULL, read = FALSE, read_at = NULL, delivered_at = :delivered_at, position = :position,
        created_at = :now, updated_at = :now
    {each: environment_id uuid, id uuid, position uuid, delivered_at text}
    WHERE environment_id = :environment_id AND id = :id
""")


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
            interval=lambda: pause_until(self.next_at, self._clock.now()),
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


async def find_next_wake(db: Connection) -> Millis | None:
    """Return when the next snooze ends, of all environments."""
    row = await db.fetch_one(FIND_NEXT_WAKE)
    return None if row is None else Millis(row["snoozed_until"])


async def wake_due_messages(db: Connection, now: Millis, *, limit: int) -> Sequence[InboxMessage]:
    """Bring back up to `limit` messages whose snooze has ended, and write their events.

    Messages that another worker or their owner is changing at this moment are skipped.
    """
    rows = await db.fetch_values(CLAIM_DUE, now=now, limit=limit)
    woken = [wake(inbox_message_of(row, InboxOwner(*row[COLUMN_COUNT:])), now) for row in rows]
    if not woken:
        return ()
    await db.execute_many(
        WAKE,
        [
            {
                "environment_id": message.environment_id,
                "id": message.id,
                "position": new_id(now),
                "delivered_at": json_text(message.delivered_at),
                "now": now,
            }
            for message in woken
        ],
    )
    by_environment: dict[EnvironmentId, list[InboxMessage]] = {}
    for message in woken:
        by_environment.setdefault(message.environment_id, []).append(message)
    for environment_id, messages in by_environment.items():
        events = [(EventType.MESSAGE_UNSNOOZED, message.id) for message in messages]
        await append_message_events(db, environment_id, events, now)
    return woken
