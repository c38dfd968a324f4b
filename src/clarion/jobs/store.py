"""SQL of jobs: every statement that changes one, named by the transition it makes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, NotificationId, TriggerId
from clarion.jobs.details import APPENDED_DETAIL, ExecutionDetail, decode_details
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, JobQueue
from clarion.jsontext import json_text, json_value
from clarion.vocabulary import JobStatus, StepType

JOBS = Insert(
    "jobs",
    *("environment_id", "id", "notification_id", "step", "type", "status", "provider_id", "digest", "details"),
    *("due_at", "attempt", "runnable", "outputs", "created_at", "updated_at"),
)
UPDATE_JOBS = sql("""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, digest = :digest, details = :details, due_at = :due_at,
        attempt = :attempt, runnable = :runnable, outputs = :outputs, updated_at = :now
    {each: environment_id uuid, id uuid, status text, provider_id text, digest text, details text, due_at bigint,
        attempt integer, runnable smallint, outputs text}
    WHERE environment_id = :environment_id AND id = :id
""")
LIST_JOBS = sql("""
    SELECT id, notification_id, step, status, provider_id, digest, details, due_at, runnable, attempt, outputs
    FROM jobs WHERE environment_id = :environment_id AND notification_id {any:ids} ORDER BY notification_id, step
""")
LIST_DUE_RUNS = sql("""
    SELECT notification_id FROM jobs
    WHERE environment_id = :environment_id AND runnable = 1 AND due_at <= :now
    ORDER BY due_at, id LIMIT :limit {for_update}
""")
LIST_DUE_SENDS = sql("""
    SELECT id, notification_id, step, provider_id, attempt, status, put_off_since FROM jobs
    WHERE environment_id = :environment_id AND runnable = 2 AND due_at <= :now
    ORDER BY due_at, id LIMIT :limit {skip_locked}
""")
CLAIM = sql("""
    UPDATE jobs SET status = 'running', attempt = attempt + 1, due_at = :lease_until, updated_at = :now
    WHERE environment_id = :environment_id AND id {any:ids}
""")
WAIT = sql(f"""
    UPDATE jobs SET status = 'delayed', due_at = :due_at, updated_at = :now, details = {APPENDED_DETAIL}
    {{each: environment_id uuid, id uuid, due_at bigint, detail text}}
    WHERE environment_id = :environment_id AND id = :id
""")
# Jobs that are locked are being recorded and need their lease no longer.
RENEW_LEASES = sql("""
    UPDATE jobs SET due_at = :lease_until
    WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND id {any:ids} AND status = 'running' {skip_locked}
    )
""")
LOCK_RUNNING = sql("""
    SELECT id, attempt FROM jobs
    WHERE environment_id = :environment_id AND id {any:ids} AND status = 'running' {for_update}
""")
RECORD_ATTEMPTS = sql(f"""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, details = {APPENDED_DETAIL}, due_at = :due_at,
        runnable = :runnable, attempt = :attempt, outputs = :outputs, put_off_since = :put_off_since,
        dead_at = :dead_at, updated_at = :now
    {{each: environment_id uuid, id uuid, status text, provider_id text, detail text, due_at bigint,
        runnable smallint, attempt integer, outputs text, put_off_since bigint, dead_at bigint}}
    WHERE environment_id = :environment_id AND id = :id
""")
# The ids are selected before any row changes: SQLite would otherwise see the first job of a run released and take the
# second for the next one. The job before must be finished, which it is not when a redriven job ends while its run is
# further on.
RELEASE_NEXT = sql("""
    UPDATE jobs SET status = 'queued', runnable = 1, due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND id IN (
        SELECT j.id FROM jobs AS j
        WHERE j.environment_id = :environment_id AND j.notification_id {any:run_ids} AND j.status = 'pending'
        AND NOT EXISTS (
            SELECT 1 FROM jobs AS earlier
            WHERE earlier.environment_id = :environment_id AND earlier.notification_id = j.notification_id
            AND earlier.status = 'pending' AND earlier.step < j.step
        )
        AND COALESCE((
            SELECT before.status FROM jobs AS before
            WHERE before.environment_id = :environment_id AND before.notification_id = j.notification_id
            AND before.step < j.step ORDER BY before.step DESC LIMIT 1
        ), 'completed') NOT IN ('queued', 'running', 'delayed')
    )
""")
CANCEL_PENDING = sql(f"""
    UPDATE jobs SET
        status = 'canceled', runnable = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}} AND status = 'pending'
""")
_RUNS_OF_TRIGGER = """
    SELECT id FROM notifications WHERE environment_id = :environment_id AND trigger_id = :trigger_id
"""
LIST_DIGESTING = sql(f"""
    SELECT id FROM jobs
    WHERE environment_id = :environment_id AND notification_id IN ({_RUNS_OF_TRIGGER})
    AND type = 'digest' AND status IN ('delayed', 'merged')
    ORDER BY id
""")
CANCEL = sql(f"""
    UPDATE jobs SET
        status = 'canceled', runnable = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id IN ({_RUNS_OF_TRIGGER})
    AND status IN ('pending', 'queued', 'delayed', 'merged')
""")
FIND_RUN_OF_JOB = sql("""
    SELECT notification_id, step FROM jobs WHERE environment_id = :environment_id AND id = :id
""")
PROMOTE_JOB = sql("""
    UPDATE jobs SET status = 'delayed', runnable = 1, due_at = :due_at, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
PROMOTE_LATER_JOBS = sql("""
    UPDATE jobs SET status = 'pending', updated_at = :now
    WHERE environment_id = :environment_id AND notification_id = :run_id AND step > :step AND status = 'merged'
""")
# A job that another request redrives at the same moment has no `dead_at` any more.
REDRIVE = sql(f"""
    UPDATE jobs SET status = 'queued', runnable = 2, due_at = :now, dead_at = NULL, updated_at = :now,
        attempt = (attempt / {ATTEMPTS_PER_DRIVE} + 1) * {ATTEMPTS_PER_DRIVE}, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND dead_at IS NOT NULL AND id {{any:ids}}
    RETURNING id
""")
FAIL = sql("""
    UPDATE jobs SET status = 'failed', runnable = NULL, due_at = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
LOCK_JOBS = sql("""
    SELECT id, length(details) AS size FROM jobs
    WHERE environment_id = :environment_id AND id {any:ids} ORDER BY id {for_update}
""")
APPEND_DETAILS = sql(f"""
    UPDATE jobs SET details = {APPENDED_DETAIL} WHERE environment_id = :environment_id AND id = :id
""")

_REDRIVEN_TOGETHER = 500


async def insert_jobs(
    db: Connection,
    environment_id: EnvironmentId,
    jobs: Iterable[tuple[NotificationId, StepType, Job]],
    now: Millis,
) -> None:
    """Insert the jobs of new runs, as far as they have come."""
    rows = [
        (
            *(environment_id, job.id, run_id, job.step, kind, job.status, job.provider_id, _json(job.digest)),
            *(json_text(job.details), job.due_at, job.attempt, job.queue, _json(job.outputs), now, now),
        )
        for run_id, kind, job in jobs
    ]
    if rows:
        await db.insert_many(JOBS, rows)


async def update_jobs(db: Connection, environment_id: EnvironmentId, jobs: Iterable[Job], now: Millis) -> None:
    """Write what a lane decided; the caller holds the lane."""
    rows = [
        {
            "environment_id": environment_id,
            "id": job.id,
            "status": job.status,
            "provider_id": job.provider_id,
            "digest": _json(job.digest),
            "details": json_text(job.details),
            "due_at": job.due_at,
            "attempt": job.attempt,
            "runnable": job.queue,
            "outputs": _json(job.outputs),
            "now": now,
        }
        for job in jobs
    ]
    if rows:
        await db.execute_many(UPDATE_JOBS, rows)


async def list_jobs_of_runs(
    db: Connection, environment_id: EnvironmentId, run_ids: Sequence[NotificationId]
) -> dict[NotificationId, list[Job]]:
    """The jobs of each run, in step order."""
    found: dict[NotificationId, list[Job]] = {}
    for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(run_ids)):
        found.setdefault(row["notification_id"], []).append(_job(row))
    return found


async def list_due_runs(
    db: Connection, environment_id: EnvironmentId, *, limit: int, now: Millis
) -> list[NotificationId]:
    """The runs of which a job is due in DECIDE, in the order in which they came due."""
    rows = await db.fetch(LIST_DUE_RUNS, environment_id=environment_id, now=now, limit=limit)
    return [row["notification_id"] for row in rows]


async def list_due_sends(db: Connection, environment_id: EnvironmentId, *, limit: int, now: Millis) -> Sequence[Row]:
    """Jobs that are due in SEND and that no other worker is claiming."""
    return await db.fetch(LIST_DUE_SENDS, environment_id=environment_id, now=now, limit=limit)


async def claim(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], *, lease_until: Millis, now: Millis
) -> None:
    """Take jobs for this worker: running until the lease ends, with the next attempt number."""
    if ids:
        await db.execute(CLAIM, environment_id=environment_id, ids=list(ids), lease_until=lease_until, now=now)


async def wait(
    db: Connection,
    environment_id: EnvironmentId,
    waits: Sequence[tuple[JobId, Millis, ExecutionDetail]],
    now: Millis,
) -> None:
    """Put jobs back until the given moments, with the reason."""
    rows = [
        {"environment_id": environment_id, "id": job_id, "due_at": until, "detail": json_text(detail), "now": now}
        for job_id, until, detail in waits
    ]
    if rows:
        await db.execute_many(WAIT, rows)


async def renew_leases(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], *, lease_until: Millis
) -> None:
    await db.execute(RENEW_LEASES, environment_id=environment_id, ids=list(ids), lease_until=lease_until)


async def lock_running(db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId]) -> dict[JobId, int]:
    """Lock those of the jobs that are running; returns the attempt number of each."""
    rows = await db.fetch(LOCK_RUNNING, environment_id=environment_id, ids=sorted(ids))
    return {row["id"]: row["attempt"] for row in rows}


async def record_attempts(
    db: Connection, environment_id: EnvironmentId, attempts: Iterable[Mapping[str, Any]], now: Millis
) -> None:
    """Complete, fail or retry jobs whose attempt is over; the caller has locked them."""
    rows = [{"environment_id": environment_id, "now": now, **one} for one in attempts]
    await db.execute_many(RECORD_ATTEMPTS, rows)


def attempt_row(job: Job, *, put_off_since: Millis | None, dead_at: Millis | None) -> dict[str, Any]:
    """A finished attempt as `record_attempts` takes it; `job.details` are those of this attempt alone."""
    return {
        "id": job.id,
        "status": job.status,
        "provider_id": job.provider_id,
        "detail": json_text(job.details)[1:-1],
        "due_at": job.due_at,
        "runnable": job.queue,
        "attempt": job.attempt,
        "outputs": _json(job.outputs),
        "put_off_since": put_off_since,
        "dead_at": dead_at,
    }


async def release_next(
    db: Connection, environment_id: EnvironmentId, run_ids: Iterable[NotificationId], now: Millis
) -> int:
    """Let the next pending job of each run be decided; returns how many runs go on."""
    return await db.execute(RELEASE_NEXT, environment_id=environment_id, run_ids=sorted(run_ids), now=now)


async def cancel_pending(
    db: Connection,
    environment_id: EnvironmentId,
    run_ids: Iterable[NotificationId],
    detail: ExecutionDetail,
    now: Millis,
) -> None:
    """End the rest of runs whose failed step stops them."""
    ids = sorted(run_ids)
    if ids:
        await db.execute(CANCEL_PENDING, environment_id=environment_id, run_ids=ids, now=now, detail=json_text(detail))


async def list_digesting(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId) -> list[JobId]:
    """The digest jobs of a trigger's runs that may be part of an open window."""
    rows = await db.fetch(LIST_DIGESTING, environment_id=environment_id, trigger_id=trigger_id)
    return [row["id"] for row in rows]


async def cancel(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, detail: ExecutionDetail, now: Millis
) -> int:
    """Cancel every job of a trigger's runs that has not begun; returns how many there were."""
    return await db.execute(
        CANCEL, environment_id=environment_id, trigger_id=trigger_id, now=now, detail=json_text(detail)
    )


async def promote(
    db: Connection, environment_id: EnvironmentId, job_id: JobId, *, due_at: Millis | None, now: Millis
) -> NotificationId:
    """Let a merged digest job lead its window: it waits for the end of it, and its run goes on then."""
    scope = {"environment_id": environment_id}
    row = await db.fetch_one(FIND_RUN_OF_JOB, **scope, id=job_id)
    if row is None:
        raise LookupError("an event of a digest has no job")
    await db.execute(PROMOTE_JOB, **scope, id=job_id, due_at=due_at, now=now)
    await db.execute(PROMOTE_LATER_JOBS, **scope, run_id=row["notification_id"], step=row["step"], now=now)
    return NotificationId(row["notification_id"])


async def redrive(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], detail: ExecutionDetail, now: Millis
) -> list[JobId]:
    """Put dead letters back into the queue with fresh attempts; returns those that were still dead."""
    redriven: list[JobId] = []
    for start in range(0, len(ids), _REDRIVEN_TOGETHER):
        portion = list(ids[start : start + _REDRIVEN_TOGETHER])
        rows = await db.fetch(REDRIVE, environment_id=environment_id, ids=portion, now=now, detail=json_text(detail))
        redriven += [row["id"] for row in rows]
    return redriven


async def fail(db: Connection, environment_id: EnvironmentId, job_id: JobId, now: Millis) -> None:
    await db.execute(FAIL, environment_id=environment_id, id=job_id, now=now)


async def lock_jobs(db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId]) -> dict[JobId, int]:
    """Lock jobs for the rest of the transaction; returns the length of each one's details.

    Whoever records sends locks the job as well, so that its messages are read and written by one of them at a time.
    """
    rows = await db.fetch(LOCK_JOBS, environment_id=environment_id, ids=sorted(ids))
    return {row["id"]: row["size"] for row in rows}


async def append_details(db: Connection, environment_id: EnvironmentId, details: Mapping[JobId, Sequence[str]]) -> None:
    """Append to the details of locked jobs, each detail given as JSON."""
    rows = [
        {"environment_id": environment_id, "id": job_id, "detail": ",".join(texts)}
        for job_id, texts in details.items()
        if texts
    ]
    if rows:
        await db.execute_many(APPEND_DETAILS, rows)


def _job(row: Row) -> Job:
    queue = row["runnable"]
    return Job(
        id=row["id"],
        step=row["step"],
        status=JobStatus(row["status"]),
        provider_id=row["provider_id"],
        digest=json_value(row["digest"]),
        details=decode_details(row["details"]),
        due_at=row["due_at"],
        queue=None if queue is None else JobQueue(queue),
        attempt=row["attempt"],
        outputs=json_value(row["outputs"]),
    )


def _json(value: Any) -> str | None:
    return None if value is None else json_text(value)
