"""Records reports of providers: each one once, with its effects on the message."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from clarion.clock import Millis, wall_nanoseconds
from clarion.db.port import Connection, Database
from clarion.db.queue_plans import prefer_index_scans
from clarion.errors import StoreUnavailable
from clarion.ids import JobId, MessageId, SubscriberId, WorkflowId, id_text
from clarion.integrations.model import Integration
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode, DetailSource, ExecutionDetail
from clarion.jsontext import json_text
from clarion.monitoring.traces.model import Span, SpanKind
from clarion.monitoring.traces.store import list_message_traces
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.providers.definition.receipts import ReceiptKind
from clarion.receipts import store
from clarion.receipts.model import (
    DeliveryReport,
    MessageState,
    ReportedMessage,
    ReportSource,
    apply_report,
    can_be_early,
    find_dead_token,
    find_suppressed_address,
    is_about_message,
)
from clarion.sending.suppressions.model import Suppression
from clarion.sending.suppressions.store import insert_suppressions
from clarion.subscribers.channels import remove_device_tokens
from clarion.tracking.reactions import ReactionCount, add_reactions, count_first
from clarion.vocabulary import Channel
from clarion.webhooks.events import append_detailed_events, append_message_events
from clarion.webhooks.model import EventType

_RECORD_BATCH = 1_000
MAX_DETAILS_LENGTH = 100_000
_EVENTS: Mapping[ReceiptKind, EventType] = {
    ReceiptKind.DELIVERED: EventType.MESSAGE_DELIVERED,
    ReceiptKind.BOUNCED: EventType.MESSAGE_BOUNCED,
    ReceiptKind.FAILED: EventType.MESSAGE_BOUNCED,
    ReceiptKind.COMPLAINED: EventType.MESSAGE_COMPLAINED,
    ReceiptKind.OPENED: EventType.MESSAGE_OPENED,
    ReceiptKind.CLICKED: EventType.MESSAGE_CLICKED,
}
"""The webhook events of reports; other kinds have none."""

log = logging.getLogger(__name__)


class RecordedBatch(NamedTuple):
    """The result of recording a batch of reports."""

    recorded: list[tuple[DeliveryReport, MessageId]]
    """The reports that were new, with their messages."""
    unmatched: list[DeliveryReport]
    """Those whose message is not found."""


async def record_reports(
    database: Database,
    integration: Integration,
    reports: Sequence[DeliveryReport],
    now: Millis,
    *,
    tracer: Tracer | None = None,
) -> None:
    """Record new reports in batches; if a batch fails, the provider repeats all, and the stored ones are skipped."""
    once = list({report.digest: report for report in reports}.values())
    new = unknown = 0
    started_at = 0 if tracer is None else wall_nanoseconds()
    for start in range(0, len(once), _RECORD_BATCH):
        batch = once[start : start + _RECORD_BATCH]
        work = partial(record_batch, source=integration, batch=batch, now=now, should_keep_early=True)
        written, unmatched = await database.transaction(work)
        new, unknown = new + len(written), unknown + len(unmatched)
        if tracer is not None:
            await trace_reports(database, tracer, integration, written, started_at)
    log.info(
        "Receipts",
        extra={
            "environment_id": id_text(integration.environment_id),
            "integration_id": id_text(integration.id),
            "provider": integration.provider_id,
            "recorded": new,
            "repeated": len(reports) - new - unknown,
            "unknown": unknown,
        },
    )


class _Effects(Struct):
    """The changes that the reports of one batch make."""

    digests: list[bytes] = []
    states: dict[MessageId, MessageState] = {}
    reactions: dict[WorkflowId, ReactionCount] = {}
    details: dict[JobId, list[str]] = {}
    suppressions: list[Suppression] = []
    dead_tokens: dict[SubscriberId, dict[str, set[str]]] = {}
    events: dict[tuple[EventType, MessageId], None] = {}
    clicks: list[tuple[MessageId, dict[str, Any]]] = []


async def record_batch(
    db: Connection,
    source: ReportSource,
    batch: Sequence[DeliveryReport],
    now: Millis,
    *,
    should_keep_early: bool = False,
) -> RecordedBatch:
    """Record a batch of reports."""
    await prefer_index_scans(db)
    targets = await _find_messages(db, source, batch)
    unmatched = [one for one in batch if one.digest not in targets]
    early = [one for one in unmatched if can_be_early(one)] if should_keep_early else []
    if early:
        # Before jobs are locked, in the same order as the retry of early reports, so that they cannot deadlock.
        await store.insert_early_reports(db, source, early, now)
    if not targets:
        return RecordedBatch([], unmatched)
    environment_id = source.environment_id
    sizes = await jobs.lock_jobs(db, environment_id, {job_id for _, job_id in targets.values()})
    messages = await store.list_reported_messages(
        db, environment_id, {message_id for message_id, _ in targets.values()}
    )
    found = {digest: messages[message_id] for digest, (message_id, _) in targets.items() if message_id in messages}
    matched = [(one, found[one.digest]) for one in batch if one.digest in found]
    stored = await store.list_stored_digests(db, environment_id, [one.digest for one, _ in matched])
    effects = _Effects()
    for report, message in matched:
        if report.digest not in stored:
            _add_effects(effects, source, report, message, now)
    await _write_effects(db, source, effects, sizes, now)
    new = set(effects.digests)
    return RecordedBatch([(one, message.id) for one, message in matched if one.digest in new], unmatched)


async def _find_messages(
    db: Connection, source: ReportSource, batch: Sequence[DeliveryReport]
) -> dict[bytes, tuple[MessageId, JobId]]:
    """Find the message and the job of each report, by digest; our own message id takes precedence."""
    own_ids = {report.message_id for report in batch if report.message_id is not None}
    provider_ids = {report.provider_message_id for report in batch if report.provider_message_id}
    by_own_id = await store.list_by_own_id(db, source, sorted(own_ids)) if own_ids else {}
    by_provider_id = await store.list_by_provider_id(db, source, sorted(provider_ids)) if provider_ids else {}
    targets: dict[bytes, tuple[MessageId, JobId]] = {}
    for report in batch:
        target = by_own_id.get(report.message_id) if report.message_id else None
        target = target or (by_provider_id.get(report.provider_message_id) if report.provider_message_id else None)
        if target is not None:
            targets[report.digest] = target
    return targets


def _add_effects(
    effects: _Effects, source: ReportSource, report: DeliveryReport, message: ReportedMessage, now: Millis
) -> None:
    effects.digests.append(report.digest)
    effects.details.setdefault(message.job_id, []).append(report.detail)
    if is_about_message(message, report, source):
        before = effects.states.get(message.id, message.state)
        after = effects.states[message.id] = apply_report(before, report)
        if message.channel is Channel.EMAIL:
            reactions = effects.reactions.setdefault(message.workflow_id, ReactionCount())
            reactions.add(count_first(before.tracking, after.tracking))
        if report.link is not None and not report.is_by_machine:
            effects.clicks.append((message.id, {"link": report.link}))
        elif report.kind in _EVENTS and not report.is_by_machine:
            effects.events[_EVENTS[report.kind], message.id] = None
    token = find_dead_token(message, report)
    if token is not None and source.provider_id is not None:
        of_person = effects.dead_tokens.setdefault(message.subscriber_id, {})
        of_person.setdefault(source.provider_id, set()).add(token)
        removal = _follow_up(source, DetailCode.TOKEN_REMOVED, now)
        effects.details[message.job_id].append(removal)
    suppressed = find_suppressed_address(message, report)
    if suppressed is not None:
        address, reason = suppressed
        effects.suppressions.append(
            Suppression(
                environment_id=source.environment_id,
                channel=message.channel,
                address=address,
                reason=reason,
                provider_id=source.provider_id,
                message_id=message.id,
                detail=report.reason,
                created_at=now,
            )
        )
        raw = {"channel": message.channel, "address": address, "reason": reason}
        effects.details[message.job_id].append(_follow_up(source, DetailCode.ADDRESS_SUPPRESSED, now, raw=raw))


def _follow_up(source: ReportSource, code: DetailCode, now: Millis, *, raw: dict[str, Any] | None = None) -> str:
    """JSON of an execution detail about what a report led to."""
    return json_text(
        ExecutionDetail.of(code, now, source=DetailSource.WEBHOOK, provider_id=source.provider_id, raw=raw)
    )


async def _write_effects(
    db: Connection, source: ReportSource, effects: _Effects, sizes: dict[JobId, int], now: Millis
) -> None:
    environment_id = source.environment_id
    if not effects.digests:
        return
    await store.insert_receipts(db, environment_id, effects.digests, now)
    if effects.states:
        await store.update_message_states(db, environment_id, effects.states, now)
    # A limit, because a message can be opened any number of times.
    short = {job_id: texts for job_id, texts in effects.details.items() if sizes.get(job_id, 0) < MAX_DETAILS_LENGTH}
    if short:
        await jobs.append_details(db, environment_id, short)
    await insert_suppressions(db, effects.suppressions)
    for subscriber_id in sorted(effects.dead_tokens):
        await remove_device_tokens(db, environment_id, subscriber_id, effects.dead_tokens[subscriber_id], now)
    await append_message_events(db, environment_id, list(effects.events), now)
    await append_detailed_events(db, environment_id, EventType.MESSAGE_CLICKED, effects.clicks, now)
    await add_reactions(db, environment_id, effects.reactions, now)


async def trace_reports(
    database: Database,
    tracer: Tracer,
    integration: Integration,
    recorded: Sequence[tuple[DeliveryReport, MessageId]],
    started_at: int,
) -> None:
    """Export a span for each recorded report about a message of a traced trigger."""
    if not recorded:
        return
    ids = {message_id for _, message_id in recorded}
    find = partial(list_message_traces, environment_id=integration.environment_id, message_ids=ids)
    try:
        traces = await database.read(find)
    except StoreUnavailable:
        return
    ended_at = wall_nanoseconds()
    for report, message_id in recorded:
        trace = traces.get(message_id)
        if trace is not None:
            tracer.export(
                Span(
                    name=f"receipt {report.kind}",
                    kind=SpanKind.CONSUMER,
                    context=trace.run.at(new_span_id()),
                    parent=trace.run,
                    started_at=started_at,
                    ended_at=ended_at,
                    attributes=trace.attributes
                    | {"clarion.provider": integration.provider_id, "clarion.status": str(report.kind)},
                )
            )
