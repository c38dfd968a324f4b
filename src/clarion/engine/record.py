"""Recording what became of sends: only while this worker's attempt is still the job's."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.deliver import Parcel
from clarion.engine.records import CANCELED_BY_FAILURE, make_detail
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.notifications.model import APPENDED_DETAIL
from clarion.vocabulary import JobStatus

RECORD_JOB = sql("""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, details = :details, due_at = :due_at, runnable = :runnable,
        attempt = :attempt, outputs = :outputs, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id AND status = 'running' AND attempt = :claimed_attempt
""")
RECORD_MESSAGE = sql("""
    UPDATE messages
    SET status = :status, provider_id = :provider_id, error_text = :error_text, delivered_at = :delivered_at,
        updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
RELEASE_NEXT = sql("""
    UPDATE jobs SET status = 'queued', runnable = 1, due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND notification_id = :notification_id AND status = 'pending'
    AND step = (
        SELECT min(following.step) FROM jobs AS following
        WHERE following.environment_id = :environment_id AND following.notification_id = :notification_id
        AND following.status = 'pending'
    )
""")
CANCEL_REST = sql(f"""
    UPDATE jobs SET
        status = 'canceled', runnable = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id = :notification_id AND status = 'pending'
""")


async def record_sends(
    db: Connection, environment_id: EnvironmentId, parcels: Sequence[tuple[Parcel, int]], now: Millis
) -> None:
    """Write the outcomes of parcels, each with the attempt number that it was claimed under, and let runs go on."""
    for parcel, claimed_attempt in parcels:
        if not await db.execute(RECORD_JOB, **_job_row(environment_id, parcel, now), claimed_attempt=claimed_attempt):
            continue
        await db.execute_many(RECORD_MESSAGE, _message_rows(environment_id, parcel, now))
        if parcel.job.status is JobStatus.QUEUED:
            continue
        scope = {"environment_id": environment_id, "notification_id": parcel.run.id, "now": now}
        stops = parcel.job.status is JobStatus.FAILED and parcel.run.step_of(parcel.job).should_stop_on_fail
        if stops:
            await db.execute(CANCEL_REST, **scope, detail=json_text(make_detail(now, CANCELED_BY_FAILURE)))
        else:
            await db.execute(RELEASE_NEXT, **scope)


def _job_row(environment_id: EnvironmentId, parcel: Parcel, now: Millis) -> dict[str, Any]:
    job = parcel.job
    return {
        "environment_id": environment_id,
        "id": job.id,
        "status": job.status,
        "provider_id": job.provider_id,
        "details": json_text(job.details),
        "due_at": job.due_at,
        "runnable": job.runnable,
        "attempt": job.attempt,
        "outputs": None if job.outputs is None else json_text(job.outputs),
        "now": now,
    }


def _message_rows(environment_id: EnvironmentId, parcel: Parcel, now: Millis) -> list[dict[str, Any]]:
    return [
        {
            "environment_id": environment_id,
            "id": outcome.message_id,
            "status": outcome.status,
            "provider_id": outcome.provider_id,
            "error_text": outcome.error_text,
            "delivered_at": None if outcome.error_text else json_text([now]),
            "now": now,
        }
        for outcome in parcel.outcomes
    ]
