"""Recording what became of requests of HTTP steps: only while this worker's attempt is still the job's."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.db.port import Connection
from clarion.db.queue_plans import prefer_index_scans
from clarion.engine.requests import delete_requests
from clarion.engine.shared_requests import abandon_shared, settle_shared
from clarion.ids import EnvironmentId, NotificationId, id_millis
from clarion.jobs import sends as sends_store
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.store import SHARED_OUTPUTS
from clarion.jsontext import json_text
from clarion.monitoring.metrics import Measures, RequestOutcome
from clarion.runs.status import settle_run_statuses
from clarion.sending.requests.hosts import record_host_reports
from clarion.sending.requests.model import ClaimedRequest
from clarion.vocabulary import JobStatus


class RecordedRequests(Struct, frozen=True):
    """What came of recording requests."""

    ours: Sequence[ClaimedRequest] = ()
    """Those that were recorded; the others are another worker's by now."""
    ended_runs: frozenset[NotificationId] = frozenset()
    """Runs of which nothing is left to do."""
    has_released: bool = False
    """Whether a lane has work now."""


async def record_requests(
    db: Connection, environment_id: EnvironmentId, requests: Sequence[ClaimedRequest], now: Millis
) -> RecordedRequests:
    """Write the results of requests and let their runs go on."""
    await prefer_index_scans(db)
    ours = await _list_ours(db, environment_id, requests)
    if not ours:
        return RecordedRequests()
    has_woken = [await _settle_shared(db, one, now) for one in ours if one.is_shared]
    await sends_store.record_attempts(db, environment_id, map(_attempt_row, ours), now)
    over = [one for one in ours if one.job.status is not JobStatus.QUEUED]
    await delete_requests(db, environment_id, [one.job.id for one in over])
    stopped = {one.notification_id for one in over if one.job.status is JobStatus.FAILED and one.step.stops_on_failure}
    detail = ExecutionDetail.of(DetailCode.CANCELED_BY_FAILURE, now)
    await jobs.cancel_pending(db, environment_id, stopped, detail, now)
    ended = {one.notification_id for one in over} - stopped
    released = await jobs.release_next(db, environment_id, ended, now)
    await settle_run_statuses(db, environment_id, (one.notification_id for one in ours), now)
    reports = [one.report for one in ours if one.report is not None]
    await record_host_reports(db, environment_id, reports, now)
    return RecordedRequests(ours, frozenset((ended | stopped) - released), bool(released) or any(has_woken))


async def _settle_shared(db: Connection, request: ClaimedRequest, now: Millis) -> bool:
    """Keep the outcome for all runs of the trigger; returns whether any of them goes on."""
    job, key = request.job, {"trigger_id": request.trigger_id, "step_id": request.step.id_bytes}
    if job.status is JobStatus.QUEUED:
        return False
    if job.outputs is None or job.status is JobStatus.CANCELED:
        return await abandon_shared(db, request.environment_id, key, job.id, now)
    result = (job.status, job.outputs)
    return await settle_shared(db, request.environment_id, key, job.id, result, now)


def _attempt_row(request: ClaimedRequest) -> dict[str, Any]:
    row = sends_store.attempt_row(request.job, put_off_since=request.put_off_since, dead_at=None)
    is_short = request.is_shared and request.job.outputs is not None
    return row | ({"outputs": json_text(SHARED_OUTPUTS)} if is_short else {})


async def _list_ours(
    db: Connection, environment_id: EnvironmentId, requests: Sequence[ClaimedRequest]
) -> list[ClaimedRequest]:
    """Return the requests whose job no other worker has claimed since."""
    attempts = await sends_store.lock_attempts(db, environment_id, [one.job.id for one in requests])
    ours = []
    for request in requests:
        attempt = attempts.get(request.job.id)
        if attempt is None or attempt.number != request.claimed_attempt:
            continue
        if attempt.is_canceled and request.job.status is not JobStatus.COMPLETED:
            request.end_as_canceled()
        ours.append(request)
    return ours


def measure_requests(measures: Measures, recorded: RecordedRequests, now: Millis) -> None:
    """Count what became of requests, and the runs that ended with them."""
    for request in recorded.ours:
        measures.step_requests[_OUTCOMES.get(request.job.status, RequestOutcome.FAILED)] += 1
        if request.seconds is not None:
            measures.step_request_seconds.observe(request.seconds)
        if request.notification_id in recorded.ended_runs:
            measures.completed_runs += 1
            began_at = request.waited_until or id_millis(request.trigger_id)
            measures.run_seconds.observe((now - began_at) / SECOND)


_OUTCOMES = {
    JobStatus.COMPLETED: RequestOutcome.ANSWERED,
    JobStatus.QUEUED: RequestOutcome.RETRIED,
    JobStatus.FAILED: RequestOutcome.FAILED,
    JobStatus.CANCELED: RequestOutcome.FAILED,
}
