"""SQL of the SEND queue: jobs that are claimed under a lease, tried, recorded and redriven."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.environments.configuration import CONFIGURATION_VERSION
from clarion.ids import EnvironmentId, JobId
from clarion.jobs.details import APPENDED_DETAIL, ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, Priority
from clarion.jsontext import json_text
from clarion.vocabulary import Channel, StepType

# When the last delay or digest before the job ended.
_WAITED_UNTIL = """
    CASE WHEN step > 0 THEN (
        SELECT MAX(earlier.updated_at) FROM jobs AS earlier
        WHERE earlier.environment_id = :environment_id AND earlier.notification_id = jobs.notification_id
        AND earlier.step < jobs.step AND earlier.type IN ('delay', 'digest') AND earlier.status = 'completed'
    ) END
"""
LIST_DUE_SENDS = sql(f"""
    SELECT id, notification_id, step, provider_id, attempt, status, put_off_since, priority, dead_at,
        {CONFIGURATION_VERSION} AS configuration_version, {_WAITED_UNTIL} AS waited_until
    FROM jobs
    WHERE environment_id = :environment_id AND queue = 2 AND type = :channel AND priority = :priority
    AND due_at <= :now
    ORDER BY due_at, id LIMIT :limit {{skip_locked}}
""")
CLAIM = sql("""
    UPDATE jobs SET status = 'running', attempt = attempt + 1, due_at = :lease_until, updated_at = :now
    WHERE environment_id = :environment_id AND id {any:ids}
""")
DEFER = sql("UPDATE jobs SET due_at = :due_at WHERE environment_id = :environment_id AND id {any:ids}")
WAIT = sql(f"""
    UPDATE jobs
    SET status = 'delayed', due_at = :due_at, put_off_since = :put_off_since, updated_at = :now,
        details = {APPENDED_DETAIL}
    {{each: environment_id uuid, id uuid, due_at bigint, put_off_since bigint, detail text}}
    WHERE environment_id = :environment_id AND id = :id
""")
# Jobs that are locked are being recorded and need their lease no longer.
RENEW_LEASES = sql("""
    UPDATE jobs SET due_at = :lease_until
    WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND id {any:ids} AND status = 'running' {skip_locked}
    )
    RETURNING id
""")
FIND_ATTEMPT = sql("SELECT attempt, status FROM jobs WHERE environment_id = :environment_id AND id = :id")
LOCK_ATTEMPTS = sql(f"""
    SELECT id, attempt, status, changed_at, {CONFIGURATION_VERSION} AS configuration_version FROM jobs
    WHERE environment_id = :environment_id AND id {{any:ids}} AND status IN ('running', 'canceled') {{for_update}}
""")
RECORD_ATTEMPTS = sql(f"""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, details = {APPENDED_DETAIL}, due_at = :due_at,
        queue = :queue, attempt = :attempt, outputs = :outputs, put_off_since = :put_off_since,
        dead_at = :dead_at, changed_at = :changed_at, updated_at = :now
    {{each: environment_id uuid, id uuid, status text, provider_id text, detail text, due_at bigint,
        queue smallint, attempt integer, outputs text, put_off_since bigint, dead_at bigint, changed_at bigint}}
    WHERE environment_id = :environment_id AND id = :id
""")
MAX_DETAILS_BYTES = 64 * 1024
"""A job with more execution details is redriven without them: it may be redriven any number of times."""

# A job that another request redrives at the same moment has no `dead_at` any more.
REDRIVE = sql(f"""
    UPDATE jobs SET status = 'queued', queue = 2, due_at = :now, dead_at = NULL, updated_at = :now,
        attempt = (attempt / {ATTEMPTS_PER_DRIVE} + 1) * {ATTEMPTS_PER_DRIVE},
        details = CASE WHEN octet_length(details) > {MAX_DETAILS_BYTES} THEN :first ELSE {APPENDED_DETAIL} END
    WHERE environment_id = :environment_id AND dead_at IS NOT NULL AND id {{any:ids}}
    RETURNING id
""")

# A job that is running looks for changes when its attempt is recorded; one that has ended gets attempts of its own.
QUEUE_CHANGES = sql(f"""
    UPDATE jobs SET
        changed_at = :now, queue = 2, updated_at = :now,
        due_at = CASE WHEN status = 'running' THEN due_at ELSE :now END,
        attempt = CASE WHEN status IN ('queued', 'delayed', 'running') THEN attempt
            ELSE (attempt / {ATTEMPTS_PER_DRIVE} + 1) * {ATTEMPTS_PER_DRIVE} END,
        status = CASE WHEN status = 'running' THEN status ELSE 'queued' END
    WHERE environment_id = :environment_id AND id {{any:ids}}
""")

DISCARD = sql(f"""
    UPDATE jobs SET dead_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND dead_at IS NOT NULL AND id {{any:ids}}
    RETURNING id
""")

_REDRIVEN_TOGETHER = 500


class JobAttempt(Struct, frozen=True):
    """The attempt that a job is in."""

    number: int
    is_canceled: bool
    """Whether the job was canceled since it was claimed."""
    configuration_version: int
    """Of the environment, at this moment."""
    has_changes: bool = False
    """Whether messages that a provider has were changed, or may have been during the attempt."""


class PostponedSend(Struct, frozen=True, kw_only=True):
    """A job that cannot be sent yet."""

    job_id: JobId
    until: Millis
    put_off_since: Millis | None
    """When it first had to wait for its provider; None if it waits for a rate limit alone."""
    reason: ExecutionDetail


async def list_due_sends(
    db: Connection,
    environment_id: EnvironmentId,
    channel: Channel | StepType,
    priorities: Sequence[Priority],
    *,
    limit: int,
    now: Millis,
) -> list[Row]:
    """Jobs of a channel, or HTTP steps, that are due and that no other worker is claiming, most urgent first."""
    rows: list[Row] = []
    for priority in priorities:
        if len(rows) < limit:
            rows += await db.fetch(
                LIST_DUE_SENDS,
                environment_id=environment_id,
                channel=channel,
                priority=int(priority),
                now=now,
                limit=limit - len(rows),
            )
    return rows


async def claim(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], *, lease_until: Millis, now: Millis
) -> None:
    """Take jobs for this worker: running until the lease ends, with the next attempt number."""
    if ids:
        await db.execute(CLAIM, environment_id=environment_id, ids=list(ids), lease_until=lease_until, now=now)


async def defer(db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], *, until: Millis) -> None:
    """Leave jobs in the queue for a moment, as they are."""
    if ids:
        await db.execute(DEFER, environment_id=environment_id, ids=list(ids), due_at=until)


async def wait(
    db: Connection,
    environment_id: EnvironmentId,
    waits: Sequence[PostponedSend],
    now: Millis,
) -> None:
    """Put jobs back until the given moments, with the reason."""
    rows = [
        {
            "environment_id": environment_id,
            "id": wait.job_id,
            "due_at": wait.until,
            "put_off_since": wait.put_off_since,
            "detail": json_text(wait.reason),
            "now": now,
        }
        for wait in waits
    ]
    if rows:
        await db.execute_many(WAIT, rows)


async def renew_leases(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], *, lease_until: Millis
) -> set[JobId]:
    rows = await db.fetch(RENEW_LEASES, environment_id=environment_id, ids=list(ids), lease_until=lease_until)
    return {row["id"] for row in rows}


async def is_in_attempt(db: Connection, environment_id: EnvironmentId, job_id: JobId, attempt: int) -> bool:
    """Whether the job is still running with this attempt: neither canceled nor taken over by another worker."""
    row = await db.fetch_one(FIND_ATTEMPT, environment_id=environment_id, id=job_id)
    return row is not None and row["status"] == "running" and row["attempt"] == attempt


async def lock_attempts(db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId]) -> dict[JobId, JobAttempt]:
    """Lock those of the jobs that are running, or were when they were canceled."""
    rows = await db.fetch(LOCK_ATTEMPTS, environment_id=environment_id, ids=sorted(ids))
    return {
        row["id"]: JobAttempt(
            number=row["attempt"],
            is_canceled=row["status"] == "canceled",
            configuration_version=row["configuration_version"],
            has_changes=row["changed_at"] is not None,
        )
        for row in rows
    }


async def record_attempts(
    db: Connection, environment_id: EnvironmentId, attempts: Iterable[Mapping[str, Any]], now: Millis
) -> None:
    """Complete, fail or retry jobs whose attempt is over; the caller has locked them."""
    rows = [{"environment_id": environment_id, "now": now, **one} for one in attempts]
    await db.execute_many(RECORD_ATTEMPTS, rows)


def attempt_row(
    job: Job, *, put_off_since: Millis | None, dead_at: Millis | None, changed_at: Millis | None = None
) -> dict[str, Any]:
    """A finished attempt as `record_attempts` takes it; `job.details` are those of this attempt alone."""
    return {
        "id": job.id,
        "status": job.status,
        "provider_id": job.provider_id,
        "detail": json_text(job.details)[1:-1],
        "due_at": job.due_at,
        "queue": job.queue,
        "attempt": job.attempt,
        "outputs": None if job.outputs is None else json_text(job.outputs),
        "put_off_since": put_off_since,
        "dead_at": dead_at,
        "changed_at": changed_at,
    }


async def redrive(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], detail: ExecutionDetail, now: Millis
) -> list[JobId]:
    """Put dead letters back into the queue with fresh attempts; returns those that were still dead."""
    dropped = {"dropped": f"The details of earlier attempts had more than {MAX_DETAILS_BYTES} bytes"}
    first = f"[{json_text(replace(detail, raw=dropped))}]"
    return await _change_dead(db, REDRIVE, environment_id, ids, now, detail=json_text(detail), first=first)


async def queue_changes(db: Connection, environment_id: EnvironmentId, ids: Iterable[JobId], now: Millis) -> None:
    """Have jobs change messages that providers have already."""
    wanted = sorted(set(ids))
    if wanted:
        await db.execute(QUEUE_CHANGES, environment_id=environment_id, ids=wanted, now=now)


async def discard(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[JobId], detail: ExecutionDetail, now: Millis
) -> list[JobId]:
    """Let dead letters stay as they ended; returns those that were still dead."""
    return await _change_dead(db, DISCARD, environment_id, ids, now, detail=json_text(detail))


async def _change_dead(
    db: Connection, query: Query, environment_id: EnvironmentId, ids: Sequence[JobId], now: Millis, **details: str
) -> list[JobId]:
    changed: list[JobId] = []
    for start in range(0, len(ids), _REDRIVEN_TOGETHER):
        batch = list(ids[start : start + _REDRIVEN_TOGETHER])
        rows = await db.fetch(query, environment_id=environment_id, ids=batch, now=now, **details)
        changed += [row["id"] for row in rows]
    return changed
