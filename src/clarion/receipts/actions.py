"""What happens when a provider reports: each event counts once, for the message that it is about."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Database
from clarion.environments.lanes import prefer_index_scans
from clarion.ids import JobId, MessageId, SubscriberId, id_text
from clarion.integrations.model import Integration
from clarion.jsontext import json_text
from clarion.notifications.model import DetailSource, DetailStatus, ExecutionDetail
from clarion.providers.definition.receipts import ReceiptKind
from clarion.receipts import store
from clarion.receipts.model import (
    Addressee,
    Report,
    Standing,
    dead_token,
    is_of_message,
    may_be_early,
    settle,
    suppressed_address,
)
from clarion.subscribers.tokens import remove_device_tokens
from clarion.suppressions.model import Suppression
from clarion.suppressions.store import insert_suppressions
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType

RETENTION = Millis(7 * DAY)
"""For how long an event is known again; providers give up on repeating themselves much earlier."""
_RECORDED_TOGETHER = 1_000
_DELETED_TOGETHER = 500
_MAX_DETAILS_LENGTH = 100_000
_TOLD: Mapping[ReceiptKind, EventType] = {
    ReceiptKind.DELIVERED: EventType.MESSAGE_DELIVERED,
    ReceiptKind.BOUNCED: EventType.MESSAGE_BOUNCED,
    ReceiptKind.FAILED: EventType.MESSAGE_BOUNCED,
    ReceiptKind.COMPLAINED: EventType.MESSAGE_COMPLAINED,
    ReceiptKind.OPENED: EventType.MESSAGE_OPENED,
    ReceiptKind.CLICKED: EventType.MESSAGE_CLICKED,
}
"""Who listens to webhooks is told of these."""

log = logging.getLogger(__name__)


async def record_reports(database: Database, integration: Integration, reports: Sequence[Report], now: Millis) -> None:
    """Write down what is new, in few units of work; when one fails, the provider repeats all, and the rest is known."""
    once = list({report.digest: report for report in reports}.values())
    new = unknown = 0
    for start in range(0, len(once), _RECORDED_TOGETHER):
        batch = once[start : start + _RECORDED_TOGETHER]
        work = partial(record_batch, integration=integration, batch=batch, now=now, keeps_early=True)
        written, strange = await database.transaction(work)
        new, unknown = new + written, unknown + len(strange)
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


async def delete_old_receipts(database: Database, now: Millis) -> None:
    """Forget events that nobody repeats any more, in batches that never hold up writers."""
    before = Millis(now - RETENTION)
    while True:
        removed = await database.transaction(
            lambda db: store.delete_old_receipts(db, before=before, limit=_DELETED_TOGETHER)
        )
        if removed < _DELETED_TOGETHER:
            return


@dataclass(slots=True)
class _Effects:
    """What the reports of one unit of work come to."""

    digests: list[bytes] = field(default_factory=list)
    standings: dict[MessageId, Standing] = field(default_factory=dict)
    details: dict[JobId, list[str]] = field(default_factory=dict)
    suppressions: list[Suppression] = field(default_factory=list)
    dead_tokens: dict[SubscriberId, set[str]] = field(default_factory=dict)
    events: dict[tuple[EventType, MessageId], None] = field(default_factory=dict)


async def record_batch(
    db: Connection, integration: Integration, batch: Sequence[Report], now: Millis, *, keeps_early: bool = False
) -> tuple[int, list[Report]]:
    """Tells how many reports were new, and which are about messages that are not there."""
    await prefer_index_scans(db)
    about = await _find_messages(db, integration, batch)
    strange = [one for one in batch if one.digest not in about]
    early = [one for one in strange if may_be_early(one)] if keeps_early else []
    if early:
        # Before jobs are held, as where kept reports are looked at again.
        await store.insert_early_reports(db, integration, early, now)
    if not about:
        return 0, strange
    environment_id = integration.environment_id
    sizes = await store.lock_jobs(db, environment_id, {job_id for _, job_id in about.values()})
    messages = await store.list_addressees(db, environment_id, {message_id for message_id, _ in about.values()})
    found = {digest: messages[message_id] for digest, (message_id, _) in about.items() if message_id in messages}
    ours = [(one, found[one.digest]) for one in batch if one.digest in found]
    known = await store.list_known(db, environment_id, [one.digest for one, _ in ours])
    effects = _Effects()
    for report, message in ours:
        if report.digest not in known:
            _add(effects, integration, report, message, now)
    await _write(db, integration, effects, sizes, now)
    return len(effects.digests), strange


async def _find_messages(
    db: Connection, integration: Integration, batch: Sequence[Report]
) -> dict[bytes, tuple[MessageId, JobId]]:
    """The message and the job of each report, by its digest; our own id goes before the provider's."""
    own_ids = {one.message_id for one in batch if one.message_id is not None}
    provider_ids = {one.provider_message_id for one in batch if one.provider_message_id}
    by_own_id = await store.list_by_own_id(db, integration, sorted(own_ids)) if own_ids else {}
    by_provider_id = await store.list_by_provider_id(db, integration, sorted(provider_ids)) if provider_ids else {}
    found: dict[bytes, tuple[MessageId, JobId]] = {}
    for one in batch:
        place = by_own_id.get(one.message_id) if one.message_id else None
        place = place or (by_provider_id.get(one.provider_message_id) if one.provider_message_id else None)
        if place is not None:
            found[one.digest] = place
    return found


def _add(effects: _Effects, integration: Integration, report: Report, message: Addressee, now: Millis) -> None:
    effects.digests.append(report.digest)
    effects.details.setdefault(message.job_id, []).append(report.detail)
    if is_of_message(message, report, integration):
        effects.standings[message.id] = settle(effects.standings.get(message.id, message.standing), report)
        if report.kind in _TOLD:
            effects.events[_TOLD[report.kind], message.id] = None
    token = dead_token(message, report)
    if token is not None:
        effects.dead_tokens.setdefault(message.subscriber_id, set()).add(token)
        effects.details[message.job_id].append(_removal(integration, now))
    suppressed = suppressed_address(message, report)
    if suppressed is not None:
        address, reason = suppressed
        effects.suppressions.append(
            Suppression(
                environment_id=integration.environment_id,
                channel=message.channel,
                address=address,
                reason=reason,
                provider_id=integration.provider_id,
                message_id=message.id,
                detail=report.reason,
                created_at=now,
            )
        )


def _removal(integration: Integration, now: Millis) -> str:
    return json_text(
        ExecutionDetail(
            at=now,
            status=DetailStatus.WARNING,
            detail="Invalid push device token was removed from subscriber",
            source=DetailSource.WEBHOOK,
            provider_id=integration.provider_id,
        )
    )


async def _write(
    db: Connection, integration: Integration, effects: _Effects, sizes: dict[JobId, int], now: Millis
) -> None:
    environment_id = integration.environment_id
    if not effects.digests:
        return
    await store.insert_receipts(db, environment_id, effects.digests, now)
    if effects.standings:
        await store.update_standings(db, environment_id, effects.standings, now)
    # A message that is opened for ever does not make its job grow for ever.
    short = {job_id: texts for job_id, texts in effects.details.items() if sizes.get(job_id, 0) < _MAX_DETAILS_LENGTH}
    if short:
        await store.append_details(db, environment_id, short)
    await insert_suppressions(db, effects.suppressions)
    for subscriber_id in sorted(effects.dead_tokens):
        tokens = {integration.provider_id: effects.dead_tokens[subscriber_id]}
        await remove_device_tokens(db, environment_id, subscriber_id, tokens, now)
    await append_message_events(db, environment_id, list(effects.events), now)
