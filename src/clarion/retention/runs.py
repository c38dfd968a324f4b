"""Runs with their jobs and messages: kept until so many days after the last thing that happened to them.

A run that was merged into the digest of another is kept as long as that one, which shows its event and may hand over
to it. In-app messages and those of the outbox have a retention of their own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.environments.options import DataKind
from clarion.ids import NotificationId
from clarion.retention.progress import due_query
from clarion.retention.scope import Deleted, Walk, WalkPage, WalkScope, page_of
from clarion.retention.triggers import delete_unneeded, mark_runs_deleted

UNFINISHED = "('pending', 'queued', 'delayed', 'running')"
_NEEDED = f"(status IN {UNFINISHED} OR updated_at > :horizon)"
_MAX_STEPS = 20
_SENT = frozenset({"email", "sms", "chat", "push"})

LIST_OLD = sql("""
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
DUE = due_query("notifications AS t WHERE TRUE")


async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    oldest = scope.oldest_id(DataKind.RUNS)
    rows = await db.fetch(LIST_OLD, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
    leaders = {row["id"]: row["digested_into"] for row in rows}
    needed = await _list_needed(db, scope, leaders)
    return page_of(rows, [row for row in rows if row["id"] not in needed], limit, end=oldest)


async def _list_needed(
    db: Connection, scope: WalkScope, leaders: Mapping[NotificationId, NotificationId | None]
) -> set[NotificationId]:
    """Those of the runs that are under way or were recently, or that were merged into such a one."""
    environment, found = {"environment_id": scope.environment_id}, dict(leaders)
    looked_at: set[NotificationId] = set()
    needed: set[NotificationId] = set()
    # A workflow has no more digests than steps, so that no chain is longer.
    for _ in range(_MAX_STEPS):
        asked = (found.keys() | {one for one in found.values() if one is not None}) - looked_at
        if not asked:
            break
        horizon = scope.horizon(DataKind.RUNS)
        rows = await db.fetch(LIST_NEEDED, **environment, run_ids=list(asked), horizon=horizon)
        needed |= {row["notification_id"] for row in rows}
        looked_at |= asked
        above = [one for one in asked if one not in found]
        rows = await db.fetch(LIST_DIGESTED_INTO, **environment, run_ids=above) if above else []
        found |= dict.fromkeys(above) | {row["id"]: row["digested_into"] for row in rows}
    return {one for one in leaders if _leads_to(one, found, needed)}


def _leads_to(
    run_id: NotificationId, leaders: Mapping[NotificationId, NotificationId | None], needed: set[NotificationId]
) -> bool:
    current: NotificationId | None = run_id
    for _ in range(_MAX_STEPS + 1):
        if current is None or current in needed:
            break
        current = leaders.get(current)
    return current is not None


async def delete(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
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
    if sent:
        await db.execute(
            DELETE_MESSAGES, **environment, job_ids=sent, oldest_of_outbox=scope.oldest_id(DataKind.OUTBOX)
        )
    if digested:
        await db.execute(DELETE_DIGEST_EVENTS, **environment, job_ids=digested)
    if own:
        await db.execute(DELETE_JOBS, **environment, job_ids=[job["id"] for job in own])
    if run_ids:
        await db.execute(DELETE_RUNS, **environment, run_ids=run_ids)
        await delete_unneeded(db, scope, [triggers[one] for one in run_ids])
        await mark_runs_deleted(db, scope, [triggers[one] for one in run_ids])
    return Deleted(len(run_ids))


WALK = Walk(name="runs", kind=DataKind.RUNS, horizon_of=(DataKind.RUNS,), choose=choose, delete=delete, due=DUE)
