"""Recording and counting what became of sends: only while this worker's attempt is still the job's."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.ids import EnvironmentId, MessageId, NotificationId, id_millis, id_text
from clarion.jobs import sends as sends_store
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.jsontext import json_text
from clarion.monitoring.metrics import BatchKind, Measures, MessageOutcome
from clarion.receipts.store import insert_tickets, make_tickets
from clarion.runs.status import settle_run_statuses
from clarion.sending.calls import record_calls
from clarion.sending.changing import queue_pending, record_changes
from clarion.sending.health import record_health_reports
from clarion.sending.model import ClaimedSend
from clarion.subscribers.channels import remove_device_tokens
from clarion.vocabulary import JobStatus, MessageStatus
from clarion.waits.message_events import get_awaited
from clarion.webhooks.events import append_message_events, get_listeners
from clarion.webhooks.model import EventType
from clarion.workflows.store import list_versions_by_id

# A provider may report what became of a message before its answer is recorded: what it reported stays.
RECORD_MESSAGE = sql("""
    UPDATE messages
    SET provider_id = :provider_id, integration_id = :integration_id, provider_message_id = :provider_message_id,
        status = CASE WHEN delivery IS NULL THEN :status ELSE status END,
        error_id = CASE WHEN delivery IS NULL THEN :error_id ELSE error_id END,
        error_text = CASE WHEN delivery IS NULL THEN :error_text ELSE error_text END,
        delivered_at = CASE WHEN delivery IS NULL THEN :delivered_at ELSE delivered_at END,
        retry_at = :retry_at, given_up_at = :given_up_at, refused_by = :refused_by, place = :place, updated_at = :now
    {each: environment_id uuid, id uuid, provider_id text, integration_id uuid, provider_message_id text,
        status text, error_id text, error_text text, delivered_at text, retry_at bigint, given_up_at bigint,
        refused_by text, place text}
    WHERE environment_id = :environment_id AND id = :id
""")
LIST_VERSIONS = sql("""
    SELECT id, version_id FROM notifications WHERE environment_id = :environment_id AND id {any:notification_ids}
""")


class RecordedSends(Struct, frozen=True):
    """What came of recording sends."""

    ours: Sequence[ClaimedSend] = ()
    """Those that were recorded; the others are another worker's by now."""
    ended_runs: frozenset[NotificationId] = frozenset()
    """Runs of which nothing is left to do."""
    has_released: bool = False
    """Whether a lane has work now."""


async def record_sends(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> RecordedSends:
    """Write the results of sends and let their runs go on."""
    await prefer_index_scans(db)
    ours, version, changed = await _list_ours(db, environment_id, sends)
    if not ours:
        return RecordedSends()
    await _record_messages(db, environment_id, ours, now)
    await record_changes(db, environment_id, ours, now)
    ended = {send.notification_id for send in ours if send.job.status is not JobStatus.QUEUED}
    pending = await queue_pending(db, environment_id, changed, now)
    attempts = [_attempt_row(send, now if send.job.id in pending else None) for send in ours]
    await sends_store.record_attempts(db, environment_id, attempts, now)
    await _await_receipts(db, environment_id, ours, now)
    await emit_send_events(db, environment_id, ours, version, now)
    stopped = await _list_stopped(db, environment_id, [one for one in ours if one.job.status is JobStatus.FAILED])
    detail = ExecutionDetail.of(DetailCode.CANCELED_BY_FAILURE, now)
    await jobs.cancel_pending(db, environment_id, stopped, detail, now)
    ended -= stopped
    released = await jobs.release_next(db, environment_id, ended, now)
    await settle_run_statuses(db, environment_id, (one.notification_id for one in ours), now)
    await _forget_tokens(db, environment_id, ours, now)
    await record_health_reports(db, environment_id, [report for one in ours for report in one.health_reports], now)
    await record_calls(db, environment_id, ours, now)
    return RecordedSends(ours, frozenset((ended | stopped) - released), bool(released))


def _attempt_row(send: ClaimedSend, changed_at: Millis | None) -> dict[str, Any]:
    since, dead_at = send.put_off_since, send.dead_at
    return sends_store.attempt_row(send.job, put_off_since=since, dead_at=dead_at, changed_at=changed_at)


async def _list_ours(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]
) -> tuple[list[ClaimedSend], int, list[ClaimedSend]]:
    """Return the sends whose job no other worker has claimed since, and the version of the configuration.

    The last are those among them whose messages were changed.
    """
    attempts = await sends_store.lock_attempts(db, environment_id, [send.job.id for send in sends])
    ours, version, changed = list[ClaimedSend](), 0, list[ClaimedSend]()
    for send in sends:
        attempt = attempts.get(send.job.id)
        if attempt is None or attempt.number != send.claimed_attempt:
            continue
        version = attempt.configuration_version
        if attempt.is_canceled and send.job.status is not JobStatus.COMPLETED:
            send.end_as_canceled()
        ours.append(send)
        changed += [send] if attempt.has_changes else []
    return ours, version, changed


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
            "retry_at": send.retry_at.get(message_id),
            "given_up_at": now if send.is_given_up(message_id) else None,
            "refused_by": _refused_by(send, message_id),
            "place": None if outcome.place is None else json_text(outcome.place),
            "now": now,
        }
        for send in sends
        for message_id, outcome in send.outcomes.items()
    ]
    if rows:
        await db.execute_many(RECORD_MESSAGE, rows)


def _refused_by(send: ClaimedSend, message_id: MessageId) -> str | None:
    earlier = next((one.refused_by for one in send.messages if one.id == message_id), ())
    refused = (*earlier, *send.refusals.get(message_id, ()))
    return json_text([id_text(one) for one in refused]) if refused else None


async def _await_receipts(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    """Have providers asked for receipts that they do not report, where they gave tickets for them."""
    tickets = [
        ticket
        for send in sends
        for message_id, outcome in send.outcomes.items()
        if outcome.tickets and outcome.integration_id is not None
        for ticket in make_tickets((environment_id, outcome.integration_id), message_id, outcome.tickets, now)
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
    return {notification_id for notification_id, step in steps.items() if step.stops_on_failure}


async def emit_send_events(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], version: int, now: Millis
) -> None:
    """Write events about messages that a provider accepted, and about those that are not tried again.

    `version` is that of the environment's configuration.
    """
    listeners = await get_listeners(db, environment_id, version)
    if not listeners and not await get_awaited(db, environment_id, version):
        return
    events = [
        (EventType.MESSAGE_SENT if outcome.status is MessageStatus.SENT else EventType.MESSAGE_FAILED, message_id)
        for send in sends
        for message_id, outcome in send.outcomes.items()
        if outcome.status is MessageStatus.SENT
        or send.is_given_up(message_id)
        or send.job.status is not JobStatus.QUEUED
    ]
    await append_message_events(db, environment_id, events, now, listeners=listeners)


def measure_sends(measures: Measures, recorded: RecordedSends, now: Millis) -> None:
    """Count what became of sends, and the runs that ended with them."""
    if recorded.ours:
        measures.batches[BatchKind.SENDS].observe(len(recorded.ours))
    for send in recorded.ours:
        for message_id, outcome in send.outcomes.items():
            measures.messages[send.channel.value, _name_outcome(send, message_id, outcome.status)] += 1
        # A run that goes on without a failed step has ended before that step is redriven.
        if send.notification_id in recorded.ended_runs and send.job.attempt < ATTEMPTS_PER_DRIVE:
            measures.completed_runs += 1
            began_at = send.waited_until or _find_trigger_moment(send)
            if began_at is not None:
                measures.run_seconds.observe((now - began_at) / SECOND)


def _find_trigger_moment(send: ClaimedSend) -> Millis | None:
    """When the trigger of a send was accepted."""
    messages = (*send.messages, *send.waiting, *send.given_up)
    return id_millis(messages[0].trigger_id) if messages else None


def _name_outcome(send: ClaimedSend, message_id: object, status: MessageStatus) -> MessageOutcome:
    if status is MessageStatus.SENT:
        return MessageOutcome.SENT
    if status is MessageStatus.WARNING:
        return MessageOutcome.SKIPPED
    return MessageOutcome.RETRIED if message_id in send.retry_at else MessageOutcome.FAILED
