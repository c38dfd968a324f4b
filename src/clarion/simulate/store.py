"""SQL of simulations: the rows of the store that take part in one, and what it came to."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

from clarion.clock import Millis
from clarion.db.port import Connection, Row, Sandbox
from clarion.db.query import sql
from clarion.ids import (
    EnvironmentId,
    NotificationId,
    SubscriberId,
    SubscriberKey,
    TopicId,
    WorkflowId,
    WorkflowVersionId,
)
from clarion.jobs.model import JobQueue
from clarion.simulate.model import MAX_COUNTED, MAX_OPEN_RUNS

RECENT_RUNS = 500
"""How many of a person's last runs are looked at for some that are under way."""
MAX_EVENTS = 10_000
"""Of digests under way."""

_HERE = "t.environment_id = :environment_id"
_IDS_BY_KEY = "SELECT id, key FROM stored.subscribers WHERE environment_id = :environment_id AND key {any:keys}"
_MEMBERS = """
    SELECT m.subscriber_id FROM stored.topic_subscriptions AS m
    WHERE m.environment_id = :environment_id AND m.topic_id = :topic_id AND NOT m.subscriber_id {any:excluded}
    AND (m.context_keys IS NULL OR m.context_keys = :context_keys)
"""
_LEADERS = """
    SELECT n.id FROM stored.notifications AS n
    WHERE n.environment_id = :environment_id AND n.workflow_id = :workflow_id AND n.id IN (
        SELECT w.leader_run_id FROM digest_windows AS w
        WHERE w.environment_id = :environment_id AND w.leader_run_id IS NOT NULL
    )
    ORDER BY n.id DESC LIMIT :limit
"""
_OPEN_RUNS = """
    SELECT r.id FROM (
        SELECT n.id, n.workflow_id FROM stored.notifications AS n
        WHERE n.environment_id = :environment_id AND n.subscriber_id = :subscriber_id ORDER BY n.id DESC LIMIT :recent
    ) AS r
    WHERE r.workflow_id = :workflow_id AND EXISTS (
        SELECT 1 FROM stored.jobs AS j
        WHERE j.environment_id = :environment_id AND j.notification_id = r.id AND j.queue IS NOT NULL
    )
"""
_EVENTS = """
    t.environment_id = :environment_id AND (t.window_id, t.generation) IN (
        SELECT w.id, w.generation FROM digest_windows AS w
        WHERE w.environment_id = :environment_id AND w.leader_run_id {any:run_ids}
    )
"""
_OF_EVENTS = "SELECT e.trigger_id FROM digest_events AS e WHERE e.environment_id = :environment_id"
_OF_RUNS = "SELECT n.trigger_id FROM notifications AS n WHERE n.environment_id = :environment_id"

FIND_VERSION = sql("""
    SELECT id FROM workflow_versions
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND number = :number
""")
LIST_PEOPLE = sql("SELECT id, key FROM subscribers WHERE environment_id = :environment_id")
LIST_DIGESTS = sql("SELECT digest FROM jobs WHERE environment_id = :environment_id AND digest IS NOT NULL")
# Their people have runs already, as far as they take part here.
SETTLE_TRIGGERS = sql("""
    UPDATE triggers SET state = 'done' WHERE environment_id = :environment_id AND state IN ('queued', 'splitting')
""")
LIST_DUE = sql("""
    SELECT queue, MIN(due_at) AS due_at FROM jobs
    WHERE environment_id = :environment_id AND queue IS NOT NULL GROUP BY queue
""")
LIST_RUNS = sql("""
    SELECT id, subscriber_id, trigger_id, version_id, digested_into FROM notifications
    WHERE environment_id = :environment_id
    ORDER BY id
""")
LIST_MESSAGES = sql("""
    SELECT notification_id, channel, step_id, email, phone, webhook_url, device_tokens, provider_id, integration_id,
        subject, title, content, created_at, delivered_at, (
            SELECT identifier FROM channel_endpoints AS e
            WHERE e.environment_id = :environment_id AND e.id = messages.endpoint_id
        ) AS endpoint_identifier
    FROM messages WHERE environment_id = :environment_id AND status = 'sent' AND created_at >= :since
    ORDER BY created_at, id
""")


class TopicScope(NamedTuple):
    """Where topics are, and which of their subscriptions a trigger reaches."""

    environment_id: EnvironmentId
    context_keys: str | None
    """The contexts of the trigger, as they are stored."""


ReachedMembers: TypeAlias = tuple[TopicId, Collection[SubscriberId]]
"""A topic, and those of its members whom a trigger does not reach through it."""


async def copy_workflow(
    db: Sandbox, environment_id: EnvironmentId, reference: str, workflow_id: WorkflowId | None
) -> None:
    """Copy the workflow of a reference, which may be an id that was `found` in it."""
    where = f"{_HERE} AND (t.key = :key OR t.id = :id) AND t.deleted_at IS NULL"
    await db.copy("workflows", where, environment_id=environment_id, key=reference, id=workflow_id)


async def copy_versions(db: Sandbox, environment_id: EnvironmentId, workflow_id: WorkflowId, number: int) -> None:
    """Copy the current version of a workflow that is copied, and the one of a number."""
    where = f"""{_HERE} AND t.workflow_id = :workflow_id AND (t.number = :number OR t.id IN (
        SELECT w.version_id FROM workflows AS w WHERE w.environment_id = :environment_id AND w.id = :workflow_id
    ))"""
    await db.copy("workflow_versions", where, environment_id=environment_id, workflow_id=workflow_id, number=number)


async def find_version_id(
    db: Connection, environment_id: EnvironmentId, workflow_id: WorkflowId, number: int
) -> WorkflowVersionId | None:
    row = await db.fetch_one(FIND_VERSION, environment_id=environment_id, workflow_id=workflow_id, number=number)
    return None if row is None else WorkflowVersionId(row["id"])


async def copy_people(db: Sandbox, environment_id: EnvironmentId, keys: Collection[SubscriberKey]) -> None:
    await db.copy("subscribers", f"{_HERE} AND t.key {{any:keys}}", environment_id=environment_id, keys=list(keys))


async def copy_people_by_id(db: Sandbox, environment_id: EnvironmentId, ids: Sequence[SubscriberId]) -> None:
    if ids:
        await db.copy("subscribers", f"{_HERE} AND t.id {{any:ids}}", environment_id=environment_id, ids=list(ids))


async def list_ids(
    db: Sandbox, environment_id: EnvironmentId, keys: Collection[SubscriberKey]
) -> dict[SubscriberKey, SubscriberId]:
    """The ids of those who exist."""
    rows = await db.fetch_stored(_IDS_BY_KEY, environment_id=environment_id, keys=list(keys)) if keys else []
    return {row["key"]: row["id"] for row in rows}


async def copy_members(
    db: Sandbox, of: TopicScope, topic_id: TopicId, *, excluded: Collection[SubscriberId], limit: int
) -> int:
    """Copy the first members of a topic who are not here yet; returns how many."""
    where = f"{_HERE} AND t.id IN (SELECT DISTINCT subscriber_id FROM ({_MEMBERS}) AS m ORDER BY 1 LIMIT :limit)"
    scope = {"environment_id": of.environment_id, "topic_id": topic_id, "context_keys": of.context_keys}
    return await db.copy("subscribers", where, **scope, excluded=_some(excluded), limit=limit)


async def count_members(db: Sandbox, of: TopicScope, topics: Sequence[ReachedMembers]) -> int:
    """How many people are members of the topics, but those excluded from each; counted up to a limit."""
    if not topics:
        return 0
    parameters: dict[str, Any] = {
        "environment_id": of.environment_id,
        "context_keys": of.context_keys,
        "limit": MAX_COUNTED + 1,
    }
    parts = []
    for place, (topic_id, excluded) in enumerate(topics):
        parts.append(_MEMBERS.replace(":topic_id", f":topic_{place}").replace("any:excluded", f"any:excluded_{place}"))
        parameters |= {f"topic_{place}": topic_id, f"excluded_{place}": _some(excluded)}
    distinct = f"SELECT DISTINCT subscriber_id FROM ({' UNION ALL '.join(parts)}) AS m LIMIT :limit"
    (row,) = await db.fetch_stored(f"SELECT COUNT(*) AS total FROM ({distinct}) AS counted", **parameters)
    return int(row["total"])


async def list_unreached(
    db: Sandbox, of: TopicScope, topics: Sequence[ReachedMembers], ids: Sequence[SubscriberId]
) -> list[SubscriberId]:
    """Those of the people whom none of the topics reaches."""
    reached: set[SubscriberId] = set()
    for topic_id, excluded in topics if ids else ():
        scope = {"environment_id": of.environment_id, "topic_id": topic_id, "context_keys": of.context_keys}
        text = f"{_MEMBERS} AND m.subscriber_id {{any:ids}}"
        rows = await db.fetch_stored(text, **scope, excluded=_some(excluded), ids=list(ids))
        reached |= {row["subscriber_id"] for row in rows}
    return [one for one in ids if one not in reached]


async def list_people(db: Connection, environment_id: EnvironmentId) -> dict[SubscriberKey, SubscriberId]:
    """Everyone who is copied."""
    return {row["key"]: row["id"] for row in await db.fetch(LIST_PEOPLE, environment_id=environment_id)}


async def copy_settings(
    db: Sandbox, environment_id: EnvironmentId, people: Sequence[SubscriberId], topics: Sequence[TopicId] | None
) -> None:
    """Copy the preferences of people, their subscriptions to these topics or to all, and the health of integrations."""
    scope = {"environment_id": environment_id, "people": list(people)}
    for table in ("preferences", "context_preferences"):
        await db.copy(table, f"{_HERE} AND t.subscriber_id {{any:people}}", **scope)
    if topics is None:
        await db.copy("topic_subscriptions", f"{_HERE} AND t.subscriber_id {{any:people}}", **scope)
    elif topics:
        where = f"{_HERE} AND t.topic_id {{any:topics}} AND t.subscriber_id {{any:people}}"
        await db.copy("topic_subscriptions", where, **scope, topics=list(topics))
    await db.copy("integration_health", _HERE, environment_id=environment_id)


async def copy_windows(db: Sandbox, environment_id: EnvironmentId, people: Sequence[SubscriberId]) -> None:
    """Copy the digest windows and throttle passes of people."""
    for table in ("digest_windows", "throttle_passes"):
        where = f"{_HERE} AND t.subscriber_id {{any:people}}"
        await db.copy(table, where, environment_id=environment_id, people=list(people))


async def list_open_runs(
    db: Sandbox, environment_id: EnvironmentId, workflow_id: WorkflowId, people: Sequence[SubscriberId]
) -> list[NotificationId]:
    """The runs of a workflow for people that are under way: those that digest windows wait for, and recent ones."""
    scope = {"environment_id": environment_id, "workflow_id": workflow_id}
    rows = [*await db.fetch_stored(_LEADERS, **scope, limit=MAX_OPEN_RUNS)]
    for person_id in people:
        rows += await db.fetch_stored(_OPEN_RUNS, **scope, subscriber_id=person_id, recent=RECENT_RUNS)
    ids = dict.fromkeys(NotificationId(row["id"]) for row in rows)
    return list(ids)[:MAX_OPEN_RUNS]


async def copy_runs(db: Sandbox, environment_id: EnvironmentId, run_ids: Sequence[NotificationId]) -> None:
    """Copy runs with their jobs, messages and versions, the events of their digests, and the triggers of all."""
    scope = {"environment_id": environment_id}
    runs = scope | {"run_ids": list(run_ids)}
    await db.copy("notifications", f"{_HERE} AND t.id {{any:run_ids}}", **runs)
    await db.copy("jobs", f"{_HERE} AND t.notification_id {{any:run_ids}}", **runs)
    await db.copy("messages", f"{_HERE} AND t.trigger_id IN ({_OF_RUNS}) AND t.notification_id {{any:run_ids}}", **runs)
    await db.copy("digest_events", f"{_EVENTS} ORDER BY t.trigger_id LIMIT {MAX_EVENTS}", **runs)
    await db.copy("triggers", f"{_HERE} AND t.id IN ({_OF_RUNS} UNION {_OF_EVENTS})", **scope)
    of_runs = _OF_RUNS.replace("trigger_id", "version_id")
    await db.copy("workflow_versions", f"{_HERE} AND t.id IN ({of_runs})", **scope)


async def list_digests(db: Connection, environment_id: EnvironmentId) -> Sequence[Row]:
    return await db.fetch(LIST_DIGESTS, environment_id=environment_id)


async def copy_triggers(db: Sandbox, environment_id: EnvironmentId, ids: Collection[bytes]) -> None:
    if ids:
        await db.copy("triggers", f"{_HERE} AND t.id {{any:ids}}", environment_id=environment_id, ids=list(ids))


async def settle_triggers(db: Connection, environment_id: EnvironmentId) -> None:
    """Take the triggers that are copied for finished."""
    await db.execute(SETTLE_TRIGGERS, environment_id=environment_id)


async def has_transaction(db: Sandbox, environment_id: EnvironmentId, transaction: str) -> bool:
    text = "SELECT 1 AS one FROM stored.triggers WHERE environment_id = :environment_id AND transaction_key = :key"
    return bool(await db.fetch_stored(text, environment_id=environment_id, key=transaction))


async def list_due(db: Connection, environment_id: EnvironmentId) -> dict[JobQueue, Millis]:
    """When the next job of each queue is due."""
    rows = await db.fetch(LIST_DUE, environment_id=environment_id)
    return {JobQueue(row["queue"]): row["due_at"] for row in rows if row["due_at"] is not None}


async def list_runs(db: Connection, environment_id: EnvironmentId) -> dict[NotificationId, Row]:
    """All runs that took part, in the order in which they began."""
    return {row["id"]: row for row in await db.fetch(LIST_RUNS, environment_id=environment_id)}


async def list_messages(
    db: Connection, environment_id: EnvironmentId, *, since: Millis
) -> dict[NotificationId, list[Row]]:
    """The messages that were sent, by run, in the order in which they were made."""
    by_run: dict[NotificationId, list[Row]] = {}
    for row in await db.fetch(LIST_MESSAGES, environment_id=environment_id, since=since):
        by_run.setdefault(row["notification_id"], []).append(row)
    return by_run


def _some(ids: Collection[SubscriberId]) -> list[SubscriberId]:
    """At least one, because nothing is outside of an empty list in SQL."""
    return list(ids) or [SubscriberId(bytes(16))]
