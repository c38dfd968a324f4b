"""Recording what became of sends: only while this worker's attempt is still the job's."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.records import CANCELED_BY_FAILURE, make_detail
from clarion.engine.sending.health import record_health_reports
from clarion.engine.sending.model import ClaimedSend
from clarion.engine.webhook_events import emit_send_events
from clarion.environments.lanes import prefer_index_scans
from clarion.ids import EnvironmentId, NotificationId
from clarion.jsontext import json_text
from clarion.notifications.model import APPENDED_DETAIL
from clarion.receipts.tickets import insert_tickets, make_tickets
from clarion.subscribers.tokens import remove_device_tokens
from clarion.vocabulary import JobStatus
from clarion.workflows.store import list_versions_by_id

LIST_ATTEMPTS = sql("""
    SELECT id, attempt FROM jobs
    WHERE environment_id = :environment_id AND id {any:job_ids} AND status = 'running' {for_update}
""")
RECORD_JOB = sql(f"""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, details = {APPENDED_DETAIL}, due_at = :due_at,
        runnable = :runnable, attempt = :attempt, outputs = :outputs, put_off_since = :put_off_since,
        dead_at = :dead_at, updated_at = :now
    {{each: environment_id uuid, id uuid, status text, provider_id text, detail text, due_at bigint,
        runnable smallint, attempt integer, outputs text, put_off_since bigint, dead_at bigint}}
    WHERE environment_id = :environment_id AND id = :id
""")
# A provider may report what became of a message before its answer is recorded: what it reported stays.
RECORD_MESSAGE = sql("""
    UPDATE messages
    SET provider_id = :provider_id, integration_id = :integration_id, provider_message_id = :provider_message_id,
        status = CASE WHEN delivery IS NULL THEN :status ELSE status END,
        error_id = CASE WHEN delivery IS NULL THEN :error_id ELSE error_id END,
        error_text = CASE WHEN delivery IS NULL THEN :error_text ELSE error_text END,
        delivered_at = CASE WHEN delivery IS NULL THEN :delivered_at ELSE delivered_at END,
        updated_at = :now
    {each: environment_id uuid, id uuid, provider_id text, integration_id uuid, provider_message_id text,
        status text, error_id text, error_text text, delivered_at text}
    WHERE environment_id = :environment_id AND id = :id
""")
# The jobs are found before any is changed: SQLite would see the first of a run released, and take the second for it.
# The one before must be done, which it is not where a job that was redriven ends while its run is further on.
RELEASE_NEXT = sql("""
    UPDATE jobs SET status = 'queued', runnable = 1, due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND id IN (
        SELECT j.id FROM jobs AS j
        WHERE j.environment_id = :environment_id AND j.notification_id {any:notification_ids} AND j.status = 'pending'
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
CANCEL_REST = sql(f"""
    UPDATE jobs SET
        status = 'canceled', runnable = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id {{any:notification_ids}} AND status = 'pending'
""")
LIST_VERSIONS = sql("""
    SELECT id, version_id FROM notifications WHERE environment_id = :environment_id AND id {any:notification_ids}
""")


async def record_sends(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> bool:
    """Write the outcomes of parcels and let their runs go on; tells whether a lane has any to go on with."""
    await prefer_index_scans(db)
    ours = await _list_ours(db, environment_id, sends)
    if not ours:
        return False
    await db.execute_many(RECORD_JOB, [_job_row(send, now) for send in ours])
    await _record_messages(db, environment_id, ours, now)
    await _await_receipts(db, environment_id, ours, now)
    await emit_send_events(db, environment_id, ours, now)
    stopped = await _list_stopped(db, environment_id, [one for one in ours if one.job.status is JobStatus.FAILED])
    if stopped:
        detail = json_text(make_detail(now, CANCELED_BY_FAILURE))
        await db.execute(
            CANCEL_REST, environment_id=environment_id, notification_ids=list(stopped), now=now, detail=detail
        )
    ended = {one.notification_id for one in ours if one.job.status is not JobStatus.QUEUED} - stopped
    released = await db.execute(RELEASE_NEXT, environment_id=environment_id, notification_ids=sorted(ended), now=now)
    await _forget_tokens(db, environment_id, ours, now)
    await record_health_reports(db, environment_id, [report for one in ours for report in one.health_reports], now)
    return released > 0


async def _list_ours(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> list[ClaimedSend]:
    """Those whose job nobody has taken over since it was claimed."""
    ids = sorted(send.job.id for send in sends)
    rows = await db.fetch(LIST_ATTEMPTS, environment_id=environment_id, job_ids=ids)
    attempts = {row["id"]: row["attempt"] for row in rows}
    return [send for send in sends if attempts.get(send.job.id) == send.claimed_attempt]


async def _record_messages(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    delivered_at = json_text([now])
    rows = [
        {
            "environment_id": environment_id,
            "id": message_id,
            "status": outcome.status,
            "provider_id": outcome.provider_id,
            "integration_id": outcome.integration_id,
            "provider_message_id": outcome.provider_message_id,
            "error_id": outcome.error_id,
            "error_text": outcome.error_text,
            "delivered_at": None if outcome.error_text else delivered_at,
            "now": now,
        }
        for send in sends
        for message_id, outcome in send.outcomes.items()
    ]
    if rows:
        await db.execute_many(RECORD_MESSAGE, rows)


async def _await_receipts(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    """Have providers asked for receipts that they do not report, where they gave tickets for them."""
    tickets = [
        one
        for send in sends
        for message_id, outcome in send.outcomes.items()
        if outcome.tickets and outcome.integration_id is not None
        for one in make_tickets((environment_id, outcome.integration_id), message_id, outcome.tickets, now)
    ]
    if tickets:
        await insert_tickets(db, tickets)


async def _forget_tokens(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    """Take device tokens that will never work again from those who have them."""
    for send in sends:
        for subscriber_id, tokens in send.dead_tokens.items():
            await remove_device_tokens(db, environment_id, subscriber_id, tokens, now)


async def _list_stopped(
    db: Connection, environment_id: EnvironmentId, failed: Sequence[ClaimedSend]
) -> set[NotificationId]:
    """The runs that end here, because the step that failed wants it so."""
    if not failed:
        return set()
    ids = [send.notification_id for send in failed]
    rows = await db.fetch(LIST_VERSIONS, environment_id=environment_id, notification_ids=ids)
    version_ids = {row["id"]: row["version_id"] for row in rows}
    versions = await list_versions_by_id(db, environment_id, list(version_ids.values()))
    steps = {one.notification_id: versions[version_ids[one.notification_id]].steps[one.job.step] for one in failed}
    return {notification_id for notification_id, step in steps.items() if step.should_stop_on_fail}


def _job_row(send: ClaimedSend, now: Millis) -> dict[str, Any]:
    job = send.job
    return {
        "environment_id": send.environment_id,
        "id": job.id,
        "status": job.status,
        "provider_id": job.provider_id,
        "detail": json_text(job.details)[1:-1],
        "due_at": job.due_at,
        "runnable": job.runnable,
        "attempt": job.attempt,
        "outputs": None if job.outputs is None else json_text(job.outputs),
        "put_off_since": send.put_off_since,
        "dead_at": send.dead_at,
        "now": now,
    }
