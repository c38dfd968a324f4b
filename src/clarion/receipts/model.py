"""Reports as records, and what they make of a message in whatever order they come."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion.clock import DAY, Millis
from clarion.ids import IntegrationId, JobId, MessageId, SubscriberId, find_id
from clarion.integrations.model import Integration
from clarion.jsontext import json_text
from clarion.notifications.model import DetailSource, DetailStatus, ExecutionDetail
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.suppressions.model import SuppressionReason, fold_address, is_address
from clarion.vocabulary import Channel, MessageStatus

MAX_DELIVERIES = 50
"""How many moments of delivery a message keeps, the latest ones."""
_MAX_TEXT = 400
_MAX_RAW = 4_000

_FAILURES = (ReceiptKind.BOUNCED, ReceiptKind.FAILED)
# Who opens a message has it, whether its delivery was told of or not.
_ARRIVALS = (ReceiptKind.DELIVERED, ReceiptKind.OPENED, ReceiptKind.CLICKED)

_WORDS: Mapping[ReceiptKind, tuple[DetailStatus, str]] = {
    ReceiptKind.SENT: (DetailStatus.PENDING, "Message sent by the provider"),
    ReceiptKind.DELIVERED: (DetailStatus.SUCCESS, "Message delivered"),
    ReceiptKind.DEFERRED: (DetailStatus.WARNING, "Message deferred"),
    ReceiptKind.BOUNCED: (DetailStatus.FAILED, "Message bounced"),
    ReceiptKind.FAILED: (DetailStatus.FAILED, "Message failed"),
    ReceiptKind.COMPLAINED: (DetailStatus.WARNING, "Message complaint"),
    ReceiptKind.UNSUBSCRIBED: (DetailStatus.WARNING, "Message unsubscribed"),
    ReceiptKind.OPENED: (DetailStatus.READ_CONFIRMATION, "Message opened"),
    ReceiptKind.CLICKED: (DetailStatus.READ_CONFIRMATION, "Message clicked"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One receipt, ready to be written: checked, cut to size and without a secret."""

    kind: ReceiptKind
    digest: bytes
    """The same for the same event of the same integration, however often it is told."""
    message_id: MessageId | None
    provider_message_id: str | None
    recipient: str | None
    is_hard: bool
    at: Millis
    reason: str | None
    detail: str
    """JSON of an execution detail."""
    is_partial: bool = False
    """Whether it tells of one of several devices, so that nothing follows for the message as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a message got, as far as anybody told."""

    status: MessageStatus
    error_id: str | None = None
    error_text: str | None = None
    delivery: Mapping[str, Millis]
    """The latest moment of each kind of report."""
    delivered_at: tuple[Millis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressee:
    """A message that is reported on: whose it is, where it went, how it stands."""

    id: MessageId
    job_id: JobId
    subscriber_id: SubscriberId
    integration_id: IntegrationId | None
    """Which it was handed to; none before that is recorded."""
    channel: Channel
    email: str | None
    phone: str | None
    standing: Standing


def read_report(receipt: Receipt, integration: Integration, redact: Callable[[Any], Any], now: Millis) -> Report:
    """A receipt as it is written down; moments that cannot be are now."""
    at = now if receipt.at is None or not 0 < receipt.at <= now + DAY else receipt.at
    status, words = _WORDS[receipt.kind]
    detail = ExecutionDetail(
        at=at,
        status=status,
        detail=words,
        source=DetailSource.WEBHOOK,
        provider_id=integration.provider_id,
        raw=_shown(receipt.raw, redact),
    )
    own_id = find_id(receipt.message_id or "")
    return Report(
        kind=receipt.kind,
        digest=_digest(receipt, integration),
        message_id=None if own_id is None else MessageId(own_id),
        provider_message_id=_text(receipt.provider_message_id),
        recipient=_text(receipt.recipient),
        is_hard=receipt.is_hard,
        at=at,
        reason=_text(redact(receipt.reason)),
        detail=json_text(detail),
    )


def may_be_early(report: Report) -> bool:
    """Whether its message may be found in a moment: ours have their own id before they are sent."""
    return report.message_id is None and report.provider_message_id is not None


def settle(standing: Standing, report: Report) -> Standing:
    """A message after one more report: the later of a failure and an arrival counts, and of one moment the failure.

    Reports come late and in any order; the same ones make the same of a message in each.
    """
    before = _last_failure(standing.delivery)
    delivery = {**standing.delivery, report.kind: max(report.at, standing.delivery.get(report.kind, report.at))}
    failure = _last_failure(delivery)
    arrived_at = max((delivery[kind] for kind in _ARRIVALS if kind in delivery), default=None)
    moments = {*standing.delivered_at, report.at} if report.kind is ReceiptKind.DELIVERED else standing.delivered_at
    status, error_id, error_text = standing.status, standing.error_id, standing.error_text
    if failure is not None and (arrived_at is None or failure[0] >= arrived_at):
        status, error_id, error_text = MessageStatus.ERROR, failure[1], _failure_text(standing, report, before)
    elif arrived_at is not None:
        status, error_id, error_text = MessageStatus.SENT, None, None
    return Standing(
        status=status,
        error_id=error_id,
        error_text=error_text,
        delivery=delivery,
        delivered_at=tuple(sorted(moments)[-MAX_DELIVERIES:]),
    )


def is_of_message(message: Addressee, report: Report, integration: Integration) -> bool:
    """Does the report tell of the message itself, not of a part or a copy, nor of a try given up for another's?"""
    is_its_own = message.integration_id is None or message.integration_id == integration.id
    return is_its_own and not report.is_partial and not is_about_copy(message, report)


def is_about_copy(message: Addressee, report: Report) -> bool:
    """Is it somebody else that the report is about, who was sent a copy of the e-mail?"""
    if message.channel is not Channel.EMAIL:
        return False
    whom = fold_address(Channel.EMAIL, report.recipient or "")
    return is_address(Channel.EMAIL, whom) and whom != fold_address(Channel.EMAIL, message.email or "")


def suppressed_address(message: Addressee, report: Report) -> tuple[str, SuppressionReason] | None:
    """The address that nobody should write to after this, folded, and why."""
    reason = _suppression_reason(report)
    if reason is None or message.channel not in (Channel.EMAIL, Channel.SMS):
        return None
    # Providers spell phone numbers as they like; the one of the message is what it will be compared with.
    given = message.phone if message.channel is Channel.SMS else message.email
    whom = report.recipient if is_about_copy(message, report) else given
    address = fold_address(message.channel, whom or "")
    return (address, reason) if is_address(message.channel, address) else None


def dead_token(message: Addressee, report: Report) -> str | None:
    """The device token that the report says will never work again."""
    is_dead = message.channel is Channel.PUSH and report.kind is ReceiptKind.BOUNCED and report.is_hard
    return report.recipient if is_dead else None


def _suppression_reason(report: Report) -> SuppressionReason | None:
    match report.kind:
        case ReceiptKind.BOUNCED:
            return SuppressionReason.BOUNCED if report.is_hard else None
        case ReceiptKind.COMPLAINED:
            return SuppressionReason.COMPLAINED
        case ReceiptKind.UNSUBSCRIBED:
            return SuppressionReason.UNSUBSCRIBED
        case _:
            return None


def _last_failure(delivery: Mapping[str, Millis]) -> tuple[Millis, str] | None:
    return max(((delivery[kind], str(kind)) for kind in _FAILURES if kind in delivery), default=None)


def _failure_text(standing: Standing, report: Report, before: tuple[Millis, str] | None) -> str | None:
    """The words of the last failure; of two at the same moment, always the same one's."""
    if report.kind not in _FAILURES:
        return standing.error_text
    shown = report.reason or f"The provider reported that the message {report.kind}"
    this = (report.at, str(report.kind))
    if before is None or this > before:
        return shown
    return max(shown, standing.error_text or "") if this == before else standing.error_text


def _digest(receipt: Receipt, integration: Integration) -> bytes:
    """Of the event's own id where it has one, else of all that it says; the people of one e-mail may share an id."""
    event = receipt.event_id or receipt.raw
    whole = [event, receipt.kind, receipt.message_id, receipt.provider_message_id, receipt.recipient]
    return hashlib.blake2b(integration.id + json_text(whole).encode(), digest_size=16).digest()


def _shown(raw: Any, redact: Callable[[Any], Any]) -> Any:
    shown = redact(raw)
    text = json_text(shown)
    return shown if len(text) <= _MAX_RAW else text[:_MAX_RAW] + "…"


def _text(value: Any) -> str | None:
    # No text of PostgreSQL holds this character.
    return None if value is None else str(value).replace("\0", "")[:_MAX_TEXT]
