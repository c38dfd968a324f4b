"""Messages whose snooze has ended: they come back as new and unread, once."""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, new_id
from clarion.inbox.listing import COLUMN_COUNT, COLUMNS, inbox_message_of
from clarion.inbox.state import wake
from clarion.jsontext import json_text
from clarion.messages.model import InboxMessage, InboxOwner
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType

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
                "environment_id": one.environment_id,
                "id": one.id,
                "position": new_id(now),
                "delivered_at": json_text(one.delivered_at),
                "now": now,
            }
            for one in woken
        ],
    )
    by_environment: dict[EnvironmentId, list[InboxMessage]] = {}
    for one in woken:
        by_environment.setdefault(one.environment_id, []).append(one)
    for environment_id, messages in by_environment.items():
        events = [(EventType.MESSAGE_UNSNOOZED, one.id) for one in messages]
        await append_message_events(db, environment_id, events, now)
    return woken
