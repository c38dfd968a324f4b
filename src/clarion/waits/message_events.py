"""Events of messages: emitted where webhooks report them, if a step waits for events of that name.

They are written in the transaction of the change. An environment whose workflows wait for none of them costs one
look-up by key, and nothing at all where the version of its configuration is known.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.environments.configuration import Versioned, get_or_load
from clarion.ids import EmittedEventId, EnvironmentId, MessageId, SubscriberKey, id_text, new_id
from clarion.jobs.lanes import lane_of
from clarion.waits import store
from clarion.waits.model import EmittedEvent, MessageEventName
from clarion.webhooks.model import EventType

_NAMES: Final[Mapping[EventType, Sequence[MessageEventName]]] = {
    EventType.MESSAGE_SEEN: (MessageEventName.SEEN,),
    # What is read was seen, and what is clicked was opened.
    EventType.MESSAGE_READ: (MessageEventName.READ, MessageEventName.SEEN),
    EventType.MESSAGE_OPENED: (MessageEventName.OPENED,),
    EventType.MESSAGE_CLICKED: (MessageEventName.CLICKED, MessageEventName.OPENED),
    EventType.MESSAGE_DELIVERED: (MessageEventName.DELIVERED,),
    EventType.MESSAGE_FAILED: (MessageEventName.FAILED,),
    EventType.MESSAGE_BOUNCED: (MessageEventName.FAILED,),
    EventType.MESSAGE_REPLIED: (MessageEventName.REPLIED,),
}
_BATCH: Final = 500

AWAITED: CacheSlot[EnvironmentId, Versioned[frozenset[str]]] = CacheSlot(limit=10_000)

LIST_MESSAGES = sql("""
    SELECT t.id, t.notification_id, t.job_id, t.step_id, t.channel, t.provider_id, t.subscriber_id, s.key
    FROM messages AS t JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
    WHERE t.environment_id = :environment_id AND t.id {any:ids}
""")


async def get_awaited(db: Connection, environment_id: EnvironmentId, version: int) -> frozenset[str]:
    """What steps wait for, at this version of the environment's configuration."""
    return await get_or_load(db, AWAITED, environment_id, version, store.list_awaited)


async def emit_message_events(
    db: Connection,
    environment_id: EnvironmentId,
    events: Sequence[tuple[EventType, MessageId]],
    now: Millis,
    *,
    details: Mapping[MessageId, Mapping[str, Any]] | None = None,
) -> None:
    """Emit what happened to messages for the steps that wait for it; `details` are added to the data."""
    wanted = [(name, message_id) for kind, message_id in events for name in _NAMES.get(kind, ())]
    if not wanted:
        return
    awaited = await store.list_awaited_of(db, environment_id, {name for name, _ in wanted})
    wanted = [one for one in wanted if one[0] in awaited]
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        ids = list(dict.fromkeys(message_id for _, message_id in batch))
        rows = {row["id"]: row for row in await db.fetch(LIST_MESSAGES, environment_id=environment_id, ids=ids)}
        more = details or {}
        emitted = [_row(environment_id, name, rows[one], more.get(one, {}), now) for name, one in batch if one in rows]
        await store.insert_events(db, emitted)


def describe_message(row: Row) -> dict[str, Any]:
    """The data of an event of a message."""
    return {
        "messageId": id_text(row["id"]),
        "notificationId": id_text(row["notification_id"]),
        "jobId": id_text(row["job_id"]),
        "channel": row["channel"],
        "providerId": row["provider_id"],
    }


def _row(
    environment_id: EnvironmentId, name: str, row: Row, details: Mapping[str, Any], now: Millis
) -> tuple[Any, ...]:
    event = EmittedEvent(
        environment_id=environment_id,
        id=EmittedEventId(new_id(now)),
        name=name,
        created_at=now,
        data={**describe_message(row), **details},
        subscriber_id=row["subscriber_id"],
    )
    return store.event_row(event, lane=lane_of(SubscriberKey(row["key"])))
