"""SQL of messages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.listing import add_lengths
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, MessageId, SubscriberId, TransactionKey, TriggerId, id_text
from clarion.jsontext import json_value
from clarion.messages.model import DeletedMessage, Message, MessageChanges, MessageOrigin
from clarion.subscribers.model import Subscriber
from clarion.tracking.model import decode_tracking
from clarion.vocabulary import Channel

COLUMNS = ", ".join(f"t.{name}" for name in Message.__struct_fields__)
# A message is shown with the payload and the overrides of its trigger, and with its subscriber.
WEIGHT = f"""
    {add_lengths("t.content", "t.subject", "t.title", "t.cta", "t.data", "t.device_tokens", "t.error_text")}
    + (SELECT {add_lengths("g.payload", "g.overrides")} FROM triggers AS g
       WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id)
    + coalesce((SELECT {add_lengths("s.data")} FROM subscribers AS s
                WHERE s.environment_id = t.environment_id AND s.id = t.subscriber_id), 0)
"""
_JSON_COLUMNS = ("device_tokens", "cta", "data", "delivery", "delivered_at", "context_keys")
_FLAGS = ("seen", "read", "archived")

LIST_MESSAGES_BY_ID = sql(f"""
    SELECT {COLUMNS} FROM messages AS t
    WHERE t.environment_id = :environment_id AND t.subscriber_id = :subscriber_id AND t.id {{any:ids}}
""")
LIST_ORIGINS = sql("""
    SELECT g.id, g.transaction_key, g.payload, g.overrides, w.key AS workflow_key, w.tags
    FROM triggers AS g
    JOIN workflows AS w ON w.environment_id = g.environment_id AND w.id = g.workflow_id
    WHERE g.environment_id = :environment_id AND g.id {any:ids}
""")
_DELETED = """
    job_id, subscriber_id, (channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL) AS is_unread
"""
DELETE_MESSAGE = sql(f"DELETE FROM messages WHERE environment_id = :environment_id AND id = :id RETURNING {_DELETED}")

_OF_TRANSACTION = """
    t.trigger_id = (
        SELECT id FROM triggers WHERE environment_id = :environment_id AND transaction_key = :transaction_key
    )
"""


async def list_messages_by_id(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, ids: Sequence[MessageId]
) -> list[Message]:
    """Return the given messages that belong to the subscriber, in the given order."""
    rows = await db.fetch(
        LIST_MESSAGES_BY_ID, environment_id=environment_id, subscriber_id=subscriber_id, ids=list(ids)
    )
    found = {row["id"]: message_of(row) for row in rows}
    return [found[one] for one in ids if one in found]


async def list_origins(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[TriggerId]
) -> dict[TriggerId, MessageOrigin]:
    """Return the shared fields of each trigger's messages, reading each trigger once."""
    rows = await db.fetch(LIST_ORIGINS, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: _origin(row) for row in rows}


async def mark_messages(
    db: Connection, subscriber: Subscriber, ids: Sequence[MessageId], changes: MessageChanges, now: Millis
) -> None:
    """Change the given messages that belong to the subscriber."""
    await db.execute(
        sql(f"""
            UPDATE messages SET {_assignments(changes)}, updated_at = :now
            WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND id {{any:ids}}
        """),
        environment_id=subscriber.environment_id,
        subscriber_id=subscriber.id,
        ids=list(ids),
        now=now,
        **changes,
    )


async def mark_all_messages(
    db: Connection, subscriber: Subscriber, changes: MessageChanges, now: Millis
) -> list[MessageId]:
    """Change the subscriber's in-app messages that are not in that state yet; returns their ids."""
    differs = " OR ".join(f"{name} <> :{name}" for name in changes if name in _FLAGS)
    rows = await db.fetch(
        sql(f"""
            UPDATE messages SET {_assignments(changes)}, updated_at = :now
            WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND channel = :channel
            AND ({differs})
            RETURNING id
        """),
        environment_id=subscriber.environment_id,
        subscriber_id=subscriber.id,
        channel=Channel.IN_APP,
        now=now,
        **changes,
    )
    return [MessageId(row["id"]) for row in rows]


async def delete_message(db: Connection, environment_id: EnvironmentId, message_id: MessageId) -> list[DeletedMessage]:
    """Delete a message; raises NotFound."""
    row = await db.fetch_one(DELETE_MESSAGE, environment_id=environment_id, id=message_id)
    if row is None:
        raise NotFound("Message", id_text(message_id))
    return [_deleted(row)]


async def delete_messages_of_transaction(
    db: Connection, environment_id: EnvironmentId, transaction_key: TransactionKey, channel: Channel | None
) -> list[DeletedMessage]:
    """Delete the messages of one transaction, of one channel or of all; raises NotFound if there are none."""
    of_channel = {} if channel is None else {"channel": channel}
    removed = await db.fetch(
        sql(f"""
            DELETE FROM messages AS t
            WHERE t.environment_id = :environment_id AND {_OF_TRANSACTION}
            {"AND t.channel = :channel" if of_channel else ""}
            RETURNING {_DELETED}
        """),
        environment_id=environment_id,
        transaction_key=transaction_key,
        **of_channel,
    )
    if not removed:
        raise NotFound("A message of transaction", transaction_key)
    return [_deleted(row) for row in removed]


def message_of(row: Row) -> Message:
    values = dict(row)
    for name in _JSON_COLUMNS:
        values[name] = json_value(values[name])
    for name in _FLAGS:
        values[name] = bool(values[name])
    values["tracking"] = None if row["tracking"] is None else decode_tracking(row["tracking"])
    return Message(**values)


def _deleted(row: Row) -> DeletedMessage:
    return DeletedMessage(row["job_id"], row["subscriber_id"], bool(row["is_unread"]))


def _origin(row: Row) -> MessageOrigin:
    return MessageOrigin(
        transaction_key=row["transaction_key"],
        payload=json_value(row["payload"]),
        overrides=json_value(row["overrides"]),
        workflow_key=row["workflow_key"],
        tags=json_value(row["tags"]),
    )


def _assignments(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = :{name}" for name in changes)
