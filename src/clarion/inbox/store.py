"""SQL of changes that people make in their inbox."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.contexts.model import stored_keys
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import JobId, MessageId, id_text
from clarion.inbox.conditions import IS_SHOWN, describe_filter, load_parameters
from clarion.inbox.filters import InboxFilter
from clarion.inbox.listing import COLUMNS, inbox_message_of
from clarion.messages.model import InboxMessage, InboxOwner
from clarion.subscribers.model import Subscriber

FIND_FOR_UPDATE = sql(f"""
    SELECT {COLUMNS} FROM messages AS t
    WHERE t.environment_id = :environment_id AND t.id = :id
    AND t.subscriber_id = :subscriber_id AND t.channel = 'in_app' AND {IS_SHOWN}
    AND (CAST(:is_any_context AS BOOLEAN) OR t.context_keys IS NOT DISTINCT FROM CAST(:context_keys AS TEXT))
    {{for_update}}
""")
UPDATE_STATE = sql("""
    UPDATE messages SET
        seen = :seen, seen_at = :seen_at, read = :read, read_at = :read_at, archived = :archived,
        archived_at = :archived_at, snoozed_until = :snoozed_until, cta = :cta, updated_at = :updated_at
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_ONE = sql("""
    DELETE FROM messages WHERE environment_id = :environment_id AND id = :id
    AND subscriber_id = :subscriber_id AND channel = 'in_app'
    RETURNING job_id
""")


async def get_for_update(
    db: Connection, subscriber: Subscriber, message_id: MessageId, context_keys: Sequence[str] | None
) -> InboxMessage:
    """Return a message of the person's inbox and lock it; raises NotFound if it is somebody else's.

    The same for one that is not of exactly the given contexts; None stands for any.
    """
    row = await db.fetch_one(
        FIND_FOR_UPDATE,
        environment_id=subscriber.environment_id,
        id=message_id,
        subscriber_id=subscriber.id,
        is_any_context=context_keys is None,
        context_keys=stored_keys(context_keys) if context_keys else None,
    )
    if row is None:
        raise NotFound("Notification", id_text(message_id))
    return inbox_message_of(tuple(row.values()), InboxOwner(subscriber.environment_id, subscriber.id))


async def update_state(db: Connection, message: InboxMessage, now: Millis) -> None:
    """Write everything of a message that its owner can change."""
    await db.execute(
        UPDATE_STATE,
        environment_id=message.environment_id,
        id=message.id,
        seen=message.seen,
        seen_at=message.seen_at,
        read=message.read,
        read_at=message.read_at,
        archived=message.archived,
        archived_at=message.archived_at,
        snoozed_until=message.snoozed_until,
        cta=message.cta,
        updated_at=now,
    )


async def delete_one(db: Connection, subscriber: Subscriber, message_id: MessageId) -> list[JobId]:
    """Delete a message; returns its job."""
    scope = {"environment_id": subscriber.environment_id, "subscriber_id": subscriber.id}
    return [JobId(row["job_id"]) for row in await db.fetch(DELETE_ONE, **scope, id=message_id)]


async def list_ids(db: Connection, subscriber: Subscriber, wanted: InboxFilter) -> list[MessageId]:
    """Return the ids of all messages that fit, and lock the messages."""
    return await _run_for_all(db, subscriber, wanted, "SELECT t.id FROM messages AS t WHERE {where} {{for_update}}")


async def mark_all_seen(
    db: Connection, subscriber: Subscriber, wanted: InboxFilter, ids: Sequence[MessageId] | None, now: Millis
) -> list[MessageId]:
    """Mark the messages that fit as seen, only those of the given ids if there are any; returns which changed."""
    statement = """
        UPDATE messages AS t SET seen = TRUE, seen_at = :now, updated_at = :now WHERE {where} AND NOT t.seen
    """
    more: dict[str, Any] = {"now": now}
    if ids is not None:
        statement += " AND t.id {{any:ids}}"
        more["ids"] = list(ids)
    return await _run_for_all(db, subscriber, wanted, f"{statement} RETURNING id", **more)


async def mark_all_read(db: Connection, subscriber: Subscriber, wanted: InboxFilter, now: Millis) -> list[MessageId]:
    """Mark the messages that fit as read and seen; returns which changed."""
    statement = """
        UPDATE messages AS t SET
            seen = TRUE, seen_at = COALESCE(seen_at, :now), read = TRUE, read_at = :now, updated_at = :now
        WHERE {where} AND NOT t.read RETURNING id
    """
    return await _run_for_all(db, subscriber, wanted, statement, now=now)


async def archive_all(db: Connection, subscriber: Subscriber, wanted: InboxFilter, now: Millis) -> list[MessageId]:
    """Archive the messages that fit, which makes them read and seen; returns which changed."""
    statement = """
        UPDATE messages AS t SET
            seen = TRUE, seen_at = COALESCE(seen_at, :now), read = TRUE, read_at = COALESCE(read_at, :now),
            archived = TRUE, archived_at = :now, updated_at = :now
        WHERE {where} AND NOT t.archived RETURNING id
    """
    return await _run_for_all(db, subscriber, wanted, statement, now=now)


async def delete_all(db: Connection, subscriber: Subscriber, wanted: InboxFilter) -> list[JobId]:
    """Delete the messages that fit; returns their jobs."""
    statement = "DELETE FROM messages AS t WHERE {where} RETURNING job_id"
    return [JobId(row["job_id"]) for row in await _fetch_all(db, subscriber, wanted, statement)]


async def _run_for_all(
    db: Connection, subscriber: Subscriber, wanted: InboxFilter, statement: str, **parameters: Any
) -> list[MessageId]:
    """Run a statement on all messages that fit, and return the ids that it returns."""
    return [MessageId(row["id"]) for row in await _fetch_all(db, subscriber, wanted, statement, **parameters)]


async def _fetch_all(
    db: Connection, subscriber: Subscriber, wanted: InboxFilter, statement: str, **parameters: Any
) -> Sequence[Row]:
    conditions = describe_filter(wanted)
    where = f"{conditions.of_person()} AND {conditions.where} AND ({' OR '.join(conditions.parts)})"
    return await db.fetch(
        sql(statement.format(where=where)),
        environment_id=subscriber.environment_id,
        subscriber_id=subscriber.id,
        **await load_parameters(db, subscriber.environment_id, wanted),
        **parameters,
    )
