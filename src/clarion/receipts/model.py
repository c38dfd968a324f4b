"""Reports as records, and their effects on a message, which do not depend on the order of arrival."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import DAY, Millis
from clarion.ids import EnvironmentId, IntegrationId, JobId, MessageId, SubscriberId, WorkflowId, find_id
from clarion.integrations.model import Integration
from clarion.jobs.details import DetailCode, DetailSource, ExecutionDetail
from clarion.jsontext import json_text
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.sending.suppressions.model import SuppressionReason, fold_address, is_address
from clarion.tracking.model import Tracking, count_click, count_machine, count_open
from clarion.vocabulary import Channel, MessageStatus

MAX_DELIVERIES = 50
"""How many of the latest moments of delivery a message stores."""
_MAX_TEXT = 400
_MAX_RAW = 4_000

_FAILURES = (ReceiptKind.BOUNCED, ReceiptKind.FAILED)
# An opened message has arrived, even if no delivery was reported.
_ARRIVALS = (ReceiptKind.DELIVERED, ReceiptKind.OPENED, ReceiptKind.CLICKED)

_CODES = {
    ReceiptKind.SENT: DetailCode.REPORTED_SENT,
    ReceiptKind.DELIVERED: DetailCode.DELIVERED,
    ReceiptKind.DEFERRED: DetailCode.REPORTED_DEFERRED,
    ReceiptKind.BOUNCED: DetailCode.BOUNCED_HARD,
    ReceiptKind.FAILED: DetailCode.REPORTED_FAILED,
    ReceiptKind.COMPLAINED: DetailCode.COMPLAINED,
    ReceiptKind.UNSUBSCRIBED: DetailCode.UNSUBSCRIBED,
    ReceiptKind.OPENED: DetailCode.OPENED,
    ReceiptKind.CLICKED: DetailCode.CLICKED,
}


class ReportSource(Protocol):
    """What reports about messages of a channel: an integration, or links and images in messages themselves."""

    @property
    def environment_id(self) -> EnvironmentId: ...

    @property
    def id(self) -> IntegrationId | None:
        """None: it tells of messages of every integration."""
        ...

    @property
    def provider_id(self) -> str | None: ...

    @property
    def channel(self) -> Channel: ...


class DeliveryReport(Struct, frozen=True, kw_only=True):
    """One receipt, ready to be stored: validated, truncated and without secrets."""

    kind: ReceiptKind
    digest: bytes
    """Identifies the event within the integration, so that repeats are recognized."""
    message_id: MessageId | None
    provider_message_id: str | None
    recipient: str | None
    is_hard: bool
    at: Millis
    reason: str | None
    detail: str
    """JSON of an execution detail."""
    is_partial: bool = False
    """Whether it is about one of several devices, and so does not change the state of the message."""
    is_by_machine: bool = False
    """Whether a program opened the message or followed the link: it is noted, and changes no state."""
    link: dict[str, Any] | None = None
    """The link that was followed, as events show it, if it is one of ours."""


class MessageState(Struct, frozen=True, kw_only=True):
    """The status of a message, as far as it is known from the send and from reports."""

    status: MessageStatus
    error_id: str | None = None
    error_text: str | None = None
    delivery: Mapping[str, Millis]
    """The latest moment of each kind of report."""
    delivered_at: tuple[Millis, ...] = ()
    tracking: Tracking | None = None


class ReportedMessage(Struct, frozen=True, kw_only=True):
    """The fields of a message that reports about it need."""

    id: MessageId
    job_id: JobId
    workflow_id: WorkflowId
    subscriber_id: SubscriberId
    integration_id: IntegrationId | None
    """The integration that sent it; None until the send is recorded."""
    channel: Channel
    email: str | None
    phone: str | None
    state: MessageState


def read_report(
    receipt: Receipt, integration: Integration, redact: Callable[[Any], Any], now: Millis
) -> DeliveryReport:
    """Make a report of a receipt; an impossible moment is replaced by now."""
    at = now if receipt.at is None or not 0 < receipt.at <= now + DAY else receipt.at
    raw = _redacted_raw(receipt.raw, redact)
    detail = ExecutionDetail.of(
        _find_code(receipt), at, source=DetailSource.WEBHOOK, provider_id=integration.provider_id, raw=raw
    )
    own_id = find_id(receipt.message_id or "")
    return DeliveryReport(
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


def can_be_early(report: DeliveryReport) -> bool:
    """Return whether the message may be found later: one that is named by our own id exists before it is sent."""
    return report.message_id is None and report.provider_message_id is not None


def apply_report(state: MessageState, report: DeliveryReport) -> MessageState:
    """Return the state after one more report: the later of failure and arrival wins, on a tie the failure.

    Reports come late and in any order; the same reports lead to the same state in every order.
    """
    if report.is_by_machine:
        return replace(state, tracking=count_machine(state.tracking))
    before = _last_failure(state.delivery)
    delivery = {**state.delivery, report.kind: max(report.at, state.delivery.get(report.kind, report.at))}
    failure = _last_failure(delivery)
    arrived_at = max((delivery[kind] for kind in _ARRIVALS if kind in delivery), default=None)
    moments = {*state.delivered_at, report.at} if report.kind is ReceiptKind.DELIVERED else state.delivered_at
    status, error_id, error_text = state.status, state.error_id, state.error_text
    if failure is not None and (arrived_at is None or failure[0] >= arrived_at):
        status, error_id, error_text = MessageStatus.ERROR, failure[1], _failure_text(state, report, before)
    elif arrived_at is not None:
        status, error_id, error_text = MessageStatus.SENT, None, None
    return MessageState(
        status=status,
        error_id=error_id,
        error_text=error_text,
        delivery=delivery,
        delivered_at=tuple(sorted(moments)[-MAX_DELIVERIES:]),
        tracking=_count(state.tracking, report),
    )


def is_about_message(message: ReportedMessage, report: DeliveryReport, source: ReportSource) -> bool:
    """Return whether the report is about the message itself.

    It may be about one of several devices, a copy, or an attempt that another integration has replaced.
    """
    is_of_integration = source.id is None or message.integration_id in (None, source.id)
    return is_of_integration and not report.is_partial and not is_about_copy(message, report)


def is_about_copy(message: ReportedMessage, report: DeliveryReport) -> bool:
    """Return whether the report is about another person, who got a copy of the e-mail."""
    if message.channel is not Channel.EMAIL:
        return False
    recipient = fold_address(Channel.EMAIL, report.recipient or "")
    return is_address(Channel.EMAIL, recipient) and recipient != fold_address(Channel.EMAIL, message.email or "")


def find_suppressed_address(message: ReportedMessage, report: DeliveryReport) -> tuple[str, SuppressionReason] | None:
    """Return the normalized address that the report suppresses and why, or None."""
    reason = _suppression_reason(report)
    if reason is None or message.channel not in (Channel.EMAIL, Channel.SMS):
        return None
    # The message's own address, because providers spell phone numbers in many ways.
    own = message.phone if message.channel is Channel.SMS else message.email
    recipient = report.recipient if is_about_copy(message, report) else own
    address = fold_address(message.channel, recipient or "")
    return (address, reason) if is_address(message.channel, address) else None


def find_dead_token(message: ReportedMessage, report: DeliveryReport) -> str | None:
    """Return the device token that the report declares invalid, or None."""
    is_dead = message.channel is Channel.PUSH and report.kind is ReceiptKind.BOUNCED and report.is_hard
    return report.recipient if is_dead else None


def _count(tracking: Tracking | None, report: DeliveryReport) -> Tracking | None:
    match report.kind:
        case ReceiptKind.OPENED:
            return count_open(tracking, report.at)
        case ReceiptKind.CLICKED:
            return count_click(tracking, report.at)
        case _:
            return tracking


def _suppression_reason(report: DeliveryReport) -> SuppressionReason | None:
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


def _failure_text(state: MessageState, report: DeliveryReport, before: tuple[Millis, str] | None) -> str | None:
    """Return the text of the last failure; of two at the same moment, the greater text in any order of arrival."""
    if report.kind not in _FAILURES:
        return state.error_text
    reason = report.reason or f"The provider reported that the message {report.kind}"
    this = (report.at, str(report.kind))
    if before is None or this > before:
        return reason
    return max(reason, state.error_text or "") if this == before else state.error_text


def _find_code(receipt: Receipt) -> DetailCode:
    if receipt.kind is ReceiptKind.BOUNCED and not receipt.is_hard:
        return DetailCode.BOUNCED_SOFT
    return _CODES[receipt.kind]


def _digest(receipt: Receipt, integration: Integration) -> bytes:
    """Hash the provider's event id, or else the whole event; with the recipient, because recipients may share an id."""
    event = receipt.event_id or receipt.raw
    identity = [event, receipt.kind, receipt.message_id, receipt.provider_message_id, receipt.recipient]
    return hashlib.blake2b(integration.id + json_text(identity).encode(), digest_size=16).digest()


def _redacted_raw(raw: Any, redact: Callable[[Any], Any]) -> Any:
    redacted = redact(raw)
    text = json_text(redacted)
    return redacted if len(text) <= _MAX_RAW else text[:_MAX_RAW] + "…"


def _text(value: Any) -> str | None:
    # PostgreSQL cannot store NUL in a text.
    return None if value is None else str(value).replace("\0", "")[:_MAX_TEXT]
