"""Runs with their jobs and messages, and the triggers that they leave behind.

Runs are kept until so many days after the last thing that happened to them. A run that was merged into the digest of
another is kept as long as that one, which shows its event and may hand over to it. In-app messages and those of the
outbox have a retention of their own.

A trigger is kept for as long as a run, a message or a recipient without a run belongs to it. Messages show its payload,
and a transaction id is refused as a duplicate while its trigger exists.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion.answers.store import delete_answers
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.engine.requests import delete_requests
from clarion.environments.options import DataKind
from clarion.ids import NotificationId, TriggerId
from clarion.retention.walks import Deleted, Walk, WalkPage, WalkScope, due_query, page_of

KEPT_FOR = (DataKind.RUNS, DataKind.IN_APP_MESSAGES, DataKind.OUTBOX)
"""A trigger that is older than all of these are kept has only runs that are under way."""

# Each look-up finds the first row of an index: asked for any row, or whether there is one, PostgreSQL may join whole
# tables.
_UNNEEDED = """
    t.state NOT IN ('scheduled', 'queued', 'splitting', 'canceling')
    AND (
        SELECT 1 FROM notifications AS n WHERE n.environment_id = t.environment_id AND n.trigger_id = t.id
        ORDER BY n.id LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM messages AS m WHERE m.environment_id = t.environment_id AND m.trigger_id = t.id
        ORDER BY m.id LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM trigger_parts AS p WHERE p.environment_id = t.environment_id AND p.trigger_id = t.id LIMIT 1
    ) IS NULL
"""
LIST_OLD_TRIGGERS = sql(f"""
    SELECT t.id, CASE WHEN {_UNNEEDED} THEN 1 ELSE 0 END AS is_unneeded FROM triggers AS t
    WHERE t.environment_id = :environment_id AND t.id > :after AND t.id <= :oldest ORDER BY t.id LIMIT :limit
""")
DELETE_UNNEEDED = sql(f"""
    DELETE FROM triggers AS t
    WHERE t.environment_id = :environment_id AND t.id {{any:ids}} AND t.id <= :oldest AND {_UNNEEDED}
""")
DELETE_ANSWERS = sql("""
    DELETE FROM http_answers AS a
    WHERE a.environment_id = :environment_id AND a.trigger_id {any:ids} AND NOT EXISTS (
        SELECT 1 FROM triggers AS t WHERE t.environment_id = a.environment_id AND t.id = a.trigger_id
    )
""")
MARK_RUNS_DELETED = sql("""
    UPDATE triggers SET runs_deleted_at = :now
    WHERE environment_id = :environment_id AND id {any:ids} AND runs_deleted_at IS NULL
""")


async def choose_triggers(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    """Old triggers that have nothing any more; those that lose their last run or message are deleted with that."""
    oldest = scope.oldest_id(*KEPT_FOR)
    rows = await db.fetch(
        LIST_OLD_TRIGGERS, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit
    )
    return page_of(rows, [row for row in rows if row["is_unneeded"]], limit, end=oldest)


async def delete_triggers(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    return Deleted(await delete_unneeded(db, scope, [row["id"] for row in rows]))


async def delete_unneeded(db: Connection, scope: WalkScope, trigger_ids: Iterable[TriggerId]) -> int:
    """Delete those of the triggers that are older than runs are kept and have nothing any more."""
    ids, environment_id = sorted(set(trigger_ids)), scope.environment_id
    oldest = scope.oldest_id(DataKind.RUNS)
    deleted = await db.execute(DELETE_UNNEEDED, environment_id=environment_id, ids=ids, oldest=oldest)
    if deleted:
        await db.execute(DELETE_ANSWERS, environment_id=environment_id, ids=ids)
    return deleted


async def mark_runs_deleted(db: Connection, scope: WalkScope, trigger_ids: Iterable[TriggerId]) -> None:
    """Note with those that stay that they had runs which are deleted."""
    ids = sorted(set(trigger_ids))
    await db.execute(MARK_RUNS_DELETED, environment_id=scope.environment_id, ids=ids, now=scope.now)


TRIGGERS = Walk(
    name="triggers",
    kind=DataKind.RUNS,
    horizon_of=KEPT_FOR,
    choose=choose_triggers,
    delete=delete_triggers,
    due=due_query("triggers AS t WHERE TRUE"),
)

UNFINISHED = "('pending', 'queued', 'delayed', 'running')"
_NEEDED = f"(status IN {UNFINISHED} OR updated_at > :horizon)"
_MAX_STEPS = 20
_SENT = frozenset({"email", "sms", "chat", "push", "tool"})

LIST_OLD_RUNS = sql("""
    SELECT id, trigger_id, digested_into FROM notifications
    WHERE environment_id = :environment_id AND id > :after AND id <= :oldest ORDER BY id LIMIT :limit
""")
LIST_NEEDED = sql(f"""
    SELECT DISTINCT notification_id FROM jobs
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}} AND {_NEEDED}
""")
LIST_DIGESTED_INTO = sql("""
    SELECT id, digested_into FROM notifications WHERE environment_id = :environment_id AND id {any:run_ids}
""")
# In the order of an index, which is nearly that in which others lock jobs.
LOCK_JOBS = sql(f"""
    SELECT id, notification_id, type, CASE WHEN {_NEEDED} THEN 1 ELSE 0 END AS is_needed FROM jobs
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}}
    ORDER BY notification_id, step {{for_update}}
""")
DELETE_MESSAGES = sql("""
    DELETE FROM messages
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
    AND (id <= :oldest_of_outbox OR provider_id IS NULL OR provider_id NOT IN ('svc-email', 'svc-sms'))
""")
# The keys are selected first: SQLite would read all events of the environment.
DELETE_DIGEST_EVENTS = sql("""
    DELETE FROM digest_events WHERE (environment_id, window_id, generation, job_id) IN (
        SELECT environment_id, window_id, generation, job_id FROM digest_events
        WHERE environment_id = :environment_id AND job_id {any:job_ids}
    )
""")
DELETE_JOBS = sql("DELETE FROM jobs WHERE environment_id = :environment_id AND id {any:job_ids}")
DELETE_RUNS = sql("DELETE FROM notifications WHERE environment_id = :environment_id AND id {any:run_ids}")


async def choose_runs(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    oldest = scope.oldest_id(DataKind.RUNS)
    rows = await db.fetch(LIST_OLD_RUNS, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
    leaders = {row["id"]: row["digested_into"] for row in rows}
    needed = await _list_needed(db, scope, leaders)
    return page_of(rows, [row for row in rows if row["id"] not in needed], limit, end=oldest)


async def _list_needed(
    db: Connection, scope: WalkScope, leaders: Mapping[NotificationId, NotificationId | None]
) -> set[NotificationId]:
    """Those of the runs that are under way or were recently, or that were merged into such a one."""
    environment, into = {"environment_id": scope.environment_id}, dict(leaders)
    looked_at: set[NotificationId] = set()
    needed: set[NotificationId] = set()
    # A workflow has no more digests than steps, so that no chain is longer.
    for _ in range(_MAX_STEPS):
        asked = (into.keys() | {one for one in into.values() if one is not None}) - looked_at
        if not asked:
            break
        horizon = scope.horizon(DataKind.RUNS)
        rows = await db.fetch(LIST_NEEDED, **environment, run_ids=list(asked), horizon=horizon)
        needed |= {row["notification_id"] for row in rows}
        looked_at |= asked
        above = [one for one in asked if one not in into]
        rows = await db.fetch(LIST_DIGESTED_INTO, **environment, run_ids=above) if above else []
        into |= dict.fromkeys(above) | {row["id"]: row["digested_into"] for row in rows}
    return {one for one in leaders if _leads_to(one, into, needed)}


def _leads_to(
    run_id: NotificationId, leaders: Mapping[NotificationId, NotificationId | None], needed: set[NotificationId]
) -> bool:
    current: NotificationId | None = run_id
    for _ in range(_MAX_STEPS + 1):
        if current is None or current in needed:
            break
        current = leaders.get(current)
    return current is not None


async def delete_runs(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    """Delete runs, unless one of them was redriven in the meantime."""
    await prefer_index_scans(db)
    environment: dict[str, Any] = {"environment_id": scope.environment_id}
    triggers = {row["id"]: row["trigger_id"] for row in rows}
    jobs = await db.fetch(LOCK_JOBS, **environment, run_ids=list(triggers), horizon=scope.horizon(DataKind.RUNS))
    needed = {job["notification_id"] for job in jobs if job["is_needed"]}
    run_ids = [one for one in triggers if one not in needed]
    own = [job for job in jobs if job["notification_id"] not in needed]
    sent = [job["id"] for job in own if job["type"] in _SENT]
    digested = [job["id"] for job in own if job["type"] == "digest"]
    requesting = [job["id"] for job in own if job["type"] == "http_request"]
    if sent:
        await db.execute(
            DELETE_MESSAGES, **environment, job_ids=sent, oldest_of_outbox=scope.oldest_id(DataKind.OUTBOX)
        )
    if requesting:
        await delete_requests(db, scope.environment_id, requesting)
    if digested:
        await db.execute(DELETE_DIGEST_EVENTS, **environment, job_ids=digested)
    if own:
        await db.execute(DELETE_JOBS, **environment, job_ids=[job["id"] for job in own])
    if run_ids:
        await delete_answers(db, scope.environment_id, run_ids)
        await db.execute(DELETE_RUNS, **environment, run_ids=run_ids)
        await delete_unneeded(db, scope, [triggers[one] for one in run_ids])
        await mark_runs_deleted(db, scope, [triggers[one] for one in run_ids])
    return Deleted(len(run_ids))


RUNS = Walk(
    name="runs",
    kind=DataKind.RUNS,
    horizon_of=(DataKind.RUNS,),
    choose=choose_runs,
    delete=delete_runs,
    due=due_query("notifications AS t WHERE TRUE"),
)
