"""SQL of changes of messages; whoever changes one locks its job first, as recording a send does."""

from collections.abc import Mapping, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, JobId, MessageId, TransactionKey, WorkflowKey
from clarion.jobs.model import JobQueue
from clarion.jsontext import json_value
from clarion.messages.changes import ChangedMessage, ChangeState, JobState
from clarion.vocabulary import Channel, JobStatus

_COLUMNS = """
    t.id, t.job_id, t.subscriber_id, t.channel, t.provider_id, t.provider_message_id, t.content, t.title, t.data,
    t.cta, t.change, t.former, t.place, t.revision
"""
LIST_MESSAGES = sql(f"""
    SELECT {_COLUMNS} FROM messages AS t WHERE t.environment_id = :environment_id AND t.id {{any:ids}}
    ORDER BY t.id {{for_update}}
""")
LIST_JOB_IDS = sql("""
    SELECT DISTINCT job_id FROM messages
    WHERE environment_id = :environment_id AND id {any:ids} AND channel <> 'in_app'
""")
LOCK_JOBS = sql("""
    SELECT id, notification_id, status, queue FROM jobs
    WHERE environment_id = :environment_id AND id {any:ids} ORDER BY id {for_update}
""")
LIST_OF_TRANSACTION = sql("""
    SELECT m.id, w.key AS workflow_key FROM messages AS m
    JOIN workflows AS w ON w.environment_id = m.environment_id AND w.id = m.workflow_id
    WHERE m.environment_id = :environment_id AND m.id > :after AND m.trigger_id = (
        SELECT id FROM triggers WHERE environment_id = :environment_id AND transaction_key = :transaction_key
    )
    ORDER BY m.id LIMIT :limit
""")
LIST_OF_ENVIRONMENT = sql("""
    SELECT m.id, w.key AS workflow_key FROM messages AS m
    JOIN workflows AS w ON w.environment_id = m.environment_id AND w.id = m.workflow_id
    WHERE m.environment_id = :environment_id AND m.id > :after
    ORDER BY m.id LIMIT :limit
""")
NOTE_CHANGES = sql("""
    UPDATE messages SET
        change = :change, change_reason = :reason, former = :former, revision = :revision, changed_at = :now,
        updated_at = :now
    {each: environment_id uuid, id uuid, change text, reason text, former text, revision integer}
    WHERE environment_id = :environment_id AND id = :id
""")
HIDE = sql("""
    UPDATE messages SET archived = TRUE, archived_at = COALESCE(archived_at, :now), snoozed_until = NULL
    WHERE environment_id = :environment_id AND id {any:ids} AND channel = 'in_app'
""")


async def list_of_transaction(
    db: Connection, environment_id: EnvironmentId, key: TransactionKey, *, after: bytes, limit: int
) -> list[tuple[MessageId, WorkflowKey]]:
    """The messages of one trigger behind an id, with their workflow."""
    scope = {"environment_id": environment_id, "transaction_key": key, "after": after, "limit": limit}
    return [(MessageId(row["id"]), row["workflow_key"]) for row in await db.fetch(LIST_OF_TRANSACTION, **scope)]


async def list_of_environment(
    db: Connection, environment_id: EnvironmentId, *, after: bytes, limit: int
) -> list[tuple[MessageId, WorkflowKey]]:
    """The messages behind an id, with their workflows: no index has those of one workflow."""
    rows = await db.fetch(LIST_OF_ENVIRONMENT, environment_id=environment_id, after=after, limit=limit)
    return [(MessageId(row["id"]), row["workflow_key"]) for row in rows]


async def lock_messages(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId]
) -> tuple[list[ChangedMessage], dict[JobId, JobState]]:
    """Lock messages, and the jobs of those that providers get; returns both, without those that do not exist."""
    scope: dict[str, Any] = {"environment_id": environment_id}
    job_ids = [row["job_id"] for row in await db.fetch(LIST_JOB_IDS, **scope, ids=list(ids))]
    jobs = await db.fetch(LOCK_JOBS, **scope, ids=job_ids) if job_ids else []
    rows = await db.fetch(LIST_MESSAGES, **scope, ids=list(ids))
    return [_message(row) for row in rows], {JobId(row["id"]): _job(row) for row in jobs}


async def note_changes(
    db: Connection, environment_id: EnvironmentId, changes: Sequence[Mapping[str, Any]], now: Millis
) -> None:
    """Store what became of changes: `id`, `change`, `reason`, `former` and `revision` of each message."""
    if changes:
        await db.execute_many(NOTE_CHANGES, [{"environment_id": environment_id, "now": now, **one} for one in changes])


async def set_content(
    db: Connection, environment_id: EnvironmentId, message_id: MessageId, columns: Mapping[str, Any]
) -> None:
    """Set new values of columns."""
    if not columns:
        return
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    statement = f"UPDATE messages SET {assignments} WHERE environment_id = :environment_id AND id = :id"
    await db.execute(sql(statement), environment_id=environment_id, id=message_id, **columns)


async def hide(db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId], now: Millis) -> None:
    """Take messages out of the inboxes that they are in."""
    if ids:
        await db.execute(HIDE, environment_id=environment_id, ids=list(ids), now=now)


def _message(row: Row) -> ChangedMessage:
    return ChangedMessage(
        id=row["id"],
        job_id=row["job_id"],
        subscriber_id=row["subscriber_id"],
        channel=Channel(row["channel"]),
        provider_id=row["provider_id"],
        is_sent=row["provider_message_id"] is not None,
        content=row["content"],
        title=row["title"],
        data=json_value(row["data"]),
        cta=json_value(row["cta"]),
        change=None if row["change"] is None else ChangeState(row["change"]),
        former=row["former"],
        place=json_value(row["place"]),
        revision=row["revision"] or 0,
    )


def _job(row: Row) -> JobState:
    queue = row["queue"]
    return JobState(
        id=row["id"],
        notification_id=row["notification_id"],
        status=JobStatus(row["status"]),
        queue=None if queue is None else JobQueue(queue),
    )
