"""What becomes of changes of messages that providers have: noted in their jobs, and stored with the messages."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, JobId, id_text
from clarion.integrations.model import Integration
from clarion.jobs.details import DetailCode
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, JobQueue
from clarion.jsontext import json_text, json_value
from clarion.messages.changes import CODES, DONE, REFUSED, ChangeState
from clarion.providers.definition.changes import ChangeKind
from clarion.providers.definition.result import SendFailure, Sent
from clarion.sending.model import ChangeOutcome, ClaimedSend, OutgoingMessage
from clarion.vocabulary import JobStatus, MessageStatus

# One that was changed again since it was claimed stays pending: its job asks the provider once more.
RECORD_CHANGE = sql("""
    UPDATE messages SET
        change = :change, change_reason = :reason, former = NULL, updated_at = :now,
        content = COALESCE(:content, content),
        title = CASE WHEN :content IS NULL THEN title ELSE :title END,
        data = CASE WHEN :content IS NULL THEN data ELSE :data END
    {each: environment_id uuid, id uuid, change text, reason text, content text, title text, data text,
        revision integer}
    WHERE environment_id = :environment_id AND id = :id AND revision = :revision
""")
# What did not go out is as it should be: it goes out as it is now, or not at all.
SETTLE_UNSENT = sql("""
    UPDATE messages SET change = CASE WHEN change = 'withdrawing' THEN 'withdrawn' ELSE 'updated' END, former = NULL
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
    AND change IN ('updating', 'withdrawing') AND provider_message_id IS NULL
""")
LIST_PENDING = sql("""
    SELECT DISTINCT job_id FROM messages
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
    AND change IN ('updating', 'withdrawing')
""")


def note_change(
    send: ClaimedSend, message: OutgoingMessage, integration: Integration, sent: Sent, milliseconds: int, now: Millis
) -> None:
    change = message.wanted_change
    state = DONE[ChangeKind.UPDATE if change is None else change.kind]
    send.changes[message.id] = ChangeOutcome(state)
    raw = _describe(message, integration) | {"answer": sent.raw, "milliseconds": milliseconds}
    send.job.note(now, CODES[state], raw=raw)


def note_failed_change(
    send: ClaimedSend, message: OutgoingMessage, integration: Integration, failure: SendFailure, now: Millis
) -> None:
    raw = _describe(message, integration) | {"kind": failure.kind, "message": str(failure), "answer": failure.raw}
    raw["attempt"] = send.job.attempt % ATTEMPTS_PER_DRIVE
    send.job.note(now, DetailCode.CHANGE_FAILED, raw=raw)


def _describe(message: OutgoingMessage, integration: Integration) -> dict[str, Any]:
    return {"messageId": id_text(message.id), "channel": message.channel, "identifier": integration.identifier}


async def record_changes(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> None:
    """Store what became of changes: those that were made at providers, and those that went out with a first send."""
    rows = [
        _change_row(environment_id, message, outcome) | {"now": now}
        for send in sends
        for message in send.messages
        if (outcome := _find_outcome(send, message)) is not None
    ]
    if rows:
        await db.execute_many(RECORD_CHANGE, rows)


async def queue_pending(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis
) -> set[JobId]:
    """Queue those jobs again whose messages were changed during their attempts; returns those that have changes left.

    The messages that the attempts sent are stored already.
    """
    job_ids = [send.job.id for send in sends]
    if not job_ids:
        return set()
    await db.execute(SETTLE_UNSENT, environment_id=environment_id, job_ids=job_ids)
    rows = await db.fetch(LIST_PENDING, environment_id=environment_id, job_ids=job_ids)
    pending = {JobId(row["job_id"]) for row in rows}
    for send in sends:
        if send.job.id in pending and send.job.queue is None and send.job.status is not JobStatus.CANCELED:
            send.job.enqueue(now, JobQueue.SEND)
            send.job.attempt = (send.job.attempt // ATTEMPTS_PER_DRIVE + 1) * ATTEMPTS_PER_DRIVE
    return pending


def _find_outcome(send: ClaimedSend, message: OutgoingMessage) -> ChangeOutcome | None:
    if message.change is ChangeState.UPDATING and not message.is_sent:
        sent = send.outcomes.get(message.id)
        return ChangeOutcome(ChangeState.UPDATED) if sent and sent.status is MessageStatus.SENT else None
    return send.changes.get(message.id)


def _change_row(environment_id: EnvironmentId, message: OutgoingMessage, outcome: ChangeOutcome) -> dict[str, Any]:
    former = json_value(message.former) if outcome.state is REFUSED[ChangeKind.UPDATE] else None
    kept = former or {"content": None, "title": None, "data": None}
    return {
        "environment_id": environment_id,
        "id": message.id,
        "change": outcome.state,
        "reason": outcome.reason,
        "content": kept["content"],
        "title": kept["title"],
        "data": None if kept["data"] is None else json_text(kept["data"]),
        "revision": message.revision,
    }
