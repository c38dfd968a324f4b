"""SQL of jobs: every statement that changes one, named by the transition it makes; the events that digests store.

A job stores which triggers the events of its digest are, and the payloads stay in the triggers. Each event is an object
with `id`, `time` and `payload`. The digests of many people can have the same events, and copies of the payloads would
be stored as often as there are people.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, Query, sql
from clarion.ids import EnvironmentId, JobId, NotificationId, find_id
from clarion.jobs.details import APPENDED_DETAIL, DetailCode, ExecutionDetail, decode_details
from clarion.jobs.lanes import IN_LANES, LaneSet
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, JobQueue, Priority
from clarion.jsontext import json_text, json_value
from clarion.vocabulary import JobStatus, StepType

SHARED_OUTPUTS = {"shared": True}
"""What is stored of outputs that all runs of a trigger share."""

JOBS = Insert(
    "jobs",
    *("environment_id", "id", "notification_id", "step", "type", "status", "provider_id", "digest", "details"),
    *("due_at", "attempt", "queue", "outputs", "lane", "priority", "created_at", "updated_at"),
)
UPDATE_JOBS = sql("""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, digest = :digest, details = :details, due_at = :due_at,
        attempt = :attempt, queue = :queue, outputs = :outputs, updated_at = :now
    {each: environment_id uuid, id uuid, status text, provider_id text, digest text, details text, due_at bigint,
        attempt integer, queue smallint, outputs text}
    WHERE environment_id = :environment_id AND id = :id
""")
LIST_JOBS = sql("""
    SELECT id, notification_id, step, status, provider_id, digest, details, due_at, queue, attempt, outputs, lane,
        priority
    FROM jobs WHERE environment_id = :environment_id AND notification_id {any:ids} ORDER BY notification_id, step
""")
LIST_DUE_RUNS = sql(f"""
    SELECT notification_id FROM jobs
    WHERE environment_id = :environment_id AND queue = 1 AND due_at <= :now AND {IN_LANES}
    ORDER BY due_at, id LIMIT :limit {{for_update}}
""")
# The ids are selected before any row changes: SQLite would otherwise see the first job of a run released and take the
# second for the next one. The job before must be finished, which it is not when a redriven job ends while its run is
# further on.
RELEASE_NEXT = sql("""
    UPDATE jobs SET status = 'queued', queue = 1, due_at = :now, updated_at = :now
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
    RETURNING notification_id
""")
CANCEL_PENDING = sql(f"""
    UPDATE jobs SET
        status = 'canceled', queue = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}} AND status = 'pending'
""")
LIST_DIGEST_JOBS = sql("""
    SELECT id, notification_id, lane, status FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:run_ids} AND type = 'digest'
    AND status IN ('delayed', 'merged', 'completed')
""")
# A job whose attempt is under way is canceled too: it is recorded as completed if the provider takes the message, and
# is not tried again if it does not. One that only changes messages that were sent is left alone.
CANCEL = sql(f"""
    UPDATE jobs SET
        status = 'canceled', queue = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}}
    AND status IN ('pending', 'queued', 'delayed', 'running')
    AND (changed_at IS NULL OR attempt < {ATTEMPTS_PER_DRIVE})
""")
CANCEL_MERGED = sql(f"""
    UPDATE jobs SET status = 'canceled', updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id {{any:run_ids}} AND status = 'merged'
""")
FIND_RUN_OF_JOB = sql("""
    SELECT notification_id, step FROM jobs WHERE environment_id = :environment_id AND id = :id
""")
PROMOTE_JOB = sql(f"""
    UPDATE jobs SET status = 'delayed', queue = 1, due_at = :due_at, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND id = :id
""")
PROMOTE_LATER_JOBS = sql("""
    UPDATE jobs SET status = 'pending', updated_at = :now
    WHERE environment_id = :environment_id AND notification_id = :run_id AND step > :step AND status = 'merged'
""")
DELETE_PENDING = sql("""
    DELETE FROM jobs WHERE environment_id = :environment_id AND id {any:ids} AND status = 'pending'
""")
WAKE = sql("""
    UPDATE jobs SET due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND id {any:ids} AND status = 'delayed' AND queue = 1 AND due_at > :now
    RETURNING id
""")
FAIL_RUN = sql("""
    UPDATE jobs SET status = CASE WHEN queue = 1 THEN 'failed' ELSE 'canceled' END,
        queue = NULL, due_at = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND notification_id = :run_id AND (queue = 1 OR status = 'pending')
""")
LOCK_JOBS = sql("""
    SELECT id, length(details) AS size FROM jobs
    WHERE environment_id = :environment_id AND id {any:ids} ORDER BY id {for_update}
""")
APPEND_TO_ALL = sql(f"""
    UPDATE jobs SET details = {APPENDED_DETAIL} WHERE environment_id = :environment_id AND id {{any:ids}}
""")
APPEND_DETAILS = sql(f"""
    UPDATE jobs SET details = {APPENDED_DETAIL} WHERE environment_id = :environment_id AND id = :id
""")


async def insert_jobs(
    db: Connection,
    environment_id: EnvironmentId,
    jobs: Iterable[tuple[NotificationId, StepType, Job]],
    now: Millis,
) -> None:
    """Insert the jobs of new runs, as far as they have come."""
    rows = [
        (
            *(environment_id, job.id, run_id, job.step, kind, job.status, job.provider_id, _digest_json(job)),
            *(json_text(job.details), job.due_at, job.attempt, job.queue, _outputs_json(job)),
            *(job.lane, int(job.priority), now, now),
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
            "digest": _digest_json(job),
            "details": json_text(job.details),
            "due_at": job.due_at,
            "attempt": job.attempt,
            "queue": job.queue,
            "outputs": _outputs_json(job),
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
    jobs: dict[NotificationId, list[Job]] = {}
    for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(run_ids)):
        jobs.setdefault(row["notification_id"], []).append(_job(row))
    return jobs


async def list_due_runs(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int, now: Millis
) -> list[NotificationId]:
    """The runs in the given lanes of which a job is due in DECIDE, in the order in which they came due."""
    rows = await db.fetch(LIST_DUE_RUNS, environment_id=environment_id, now=now, limit=limit, **lanes.parameters)
    return [row["notification_id"] for row in rows]


async def release_next(
    db: Connection, environment_id: EnvironmentId, run_ids: Iterable[NotificationId], now: Millis
) -> set[NotificationId]:
    """Let the next pending job of each run be decided; returns the runs that go on."""
    rows = await db.fetch(RELEASE_NEXT, environment_id=environment_id, run_ids=sorted(run_ids), now=now)
    return {row["notification_id"] for row in rows}


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


class DigestJob(Struct, frozen=True):
    """A digest step that has been reached."""

    id: JobId
    run_id: NotificationId
    lane: int
    is_done: bool
    """Whether its window is closed and its run went on."""


async def list_digest_jobs(
    db: Connection, environment_id: EnvironmentId, run_ids: Sequence[NotificationId]
) -> list[DigestJob]:
    """The digest steps of runs that lead a window, joined one or have closed one."""
    if not run_ids:
        return []
    rows = await db.fetch(LIST_DIGEST_JOBS, environment_id=environment_id, run_ids=list(run_ids))
    return [DigestJob(row["id"], row["notification_id"], row["lane"], row["status"] == "completed") for row in rows]


async def cancel(
    db: Connection,
    environment_id: EnvironmentId,
    run_ids: Sequence[NotificationId],
    detail: ExecutionDetail,
    now: Millis,
) -> int:
    """Cancel every job of the runs that is not in an end state; returns how many there were."""
    return await _cancel(db, CANCEL, environment_id, run_ids, detail, now)


async def cancel_merged(
    db: Connection,
    environment_id: EnvironmentId,
    run_ids: Sequence[NotificationId],
    detail: ExecutionDetail,
    now: Millis,
) -> int:
    """Cancel the merged jobs of runs that have left their window; returns how many there were."""
    return await _cancel(db, CANCEL_MERGED, environment_id, run_ids, detail, now)


async def _cancel(
    db: Connection,
    query: Query,
    environment_id: EnvironmentId,
    run_ids: Sequence[NotificationId],
    detail: ExecutionDetail,
    now: Millis,
) -> int:
    if not run_ids:
        return 0
    return await db.execute(
        query, environment_id=environment_id, run_ids=sorted(run_ids), now=now, detail=json_text(detail)
    )


async def promote(
    db: Connection, environment_id: EnvironmentId, job_id: JobId, *, due_at: Millis | None, now: Millis
) -> NotificationId:
    """Let a merged digest job lead its window: it waits for the end of it, and its run goes on then."""
    scope = {"environment_id": environment_id}
    row = await db.fetch_one(FIND_RUN_OF_JOB, **scope, id=job_id)
    if row is None:
        raise LookupError("an event of a digest has no job")
    detail = ExecutionDetail.of(DetailCode.DIGEST_PROMOTED, now, raw={"until": due_at})
    await db.execute(PROMOTE_JOB, **scope, id=job_id, due_at=due_at, now=now, detail=json_text(detail))
    await db.execute(PROMOTE_LATER_JOBS, **scope, run_id=row["notification_id"], step=row["step"], now=now)
    return NotificationId(row["notification_id"])


async def delete_pending(db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId]) -> None:
    """Delete jobs of steps that their runs do not come to any more; the caller holds the lanes."""
    await db.execute(DELETE_PENDING, environment_id=environment_id, ids=list(job_ids))


async def wake(db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId], now: Millis) -> list[JobId]:
    """Let jobs that wait for a moment in DECIDE be due at once, and return those; the caller holds their lanes."""
    if not job_ids:
        return []
    rows = await db.fetch(WAKE, environment_id=environment_id, ids=list(job_ids), now=now)
    return [JobId(row["id"]) for row in rows]


async def fail_run(db: Connection, environment_id: EnvironmentId, run_id: NotificationId, now: Millis) -> None:
    """End a run that cannot be loaded: without a detail, since those that it has may not be readable."""
    await db.execute(FAIL_RUN, environment_id=environment_id, run_id=run_id, now=now)


async def lock_jobs(db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId]) -> dict[JobId, int]:
    """Lock jobs for the rest of the transaction; returns the length of each one's details.

    Recording a send locks the job as well, so that its messages are read and written by one of both at a time.
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


async def append_to_all(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId], detail: ExecutionDetail
) -> None:
    """Append one detail to many jobs; those that are deleted are skipped."""
    wanted = sorted(set(ids))
    if wanted:
        await db.execute(APPEND_TO_ALL, environment_id=environment_id, ids=wanted, detail=json_text(detail))


def _job(row: Row) -> Job:
    queue = row["queue"]
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
        lane=row["lane"],
        priority=Priority(row["priority"]),
    )


def _digest_json(job: Job) -> str | None:
    if job.digest is None:
        return None
    return json_text(without_payloads(job.digest) if job.has_events else job.digest)


def _outputs_json(job: Job) -> str | None:
    if job.is_shared and job.outputs is not None:
        return json_text(SHARED_OUTPUTS)
    if job.outputs is None or not job.has_events:
        return None if job.outputs is None else json_text(job.outputs)
    # The same events as in its digest, if that has some.
    return json_text({} if job.digest and "events" in job.digest else without_payloads(job.outputs))


LIST_PAYLOADS = sql("SELECT id, payload FROM triggers WHERE environment_id = :environment_id AND id {any:ids}")


def without_payloads(value: Mapping[str, Any]) -> dict[str, Any]:
    """A digest, or the outputs of its step, as it is stored."""
    events = value.get("events")
    if not events:
        return dict(value)
    return {**value, "events": [{"id": one["id"], "time": one["time"]} for one in events]}


async def add_payloads(db: Connection, environment_id: EnvironmentId, events: Iterable[dict[str, Any]]) -> None:
    """Add the payloads of events that lack theirs; that of a trigger which is gone is empty."""
    lacking = [one for one in events if "payload" not in one]
    ids = {found for one in lacking if (found := find_id(one["id"])) is not None}
    if not lacking:
        return
    rows = await db.fetch(LIST_PAYLOADS, environment_id=environment_id, ids=list(ids))
    payloads = {row["id"]: json_value(row["payload"]) for row in rows}
    for one in lacking:
        one["payload"] = payloads.get(find_id(one["id"]) or b"", {})
