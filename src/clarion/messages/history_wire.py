"""Shapes of one message with its attempts and receipts."""

from typing import Any, Self

from msgspec import UNSET, UnsetType, field

from clarion.clock import iso_text
from clarion.http.wire import DateTimeText, Wire, given
from clarion.ids import id_text
from clarion.jobs.details import DetailStatus, ExecutionDetail
from clarion.messages.history import Mail, SendAttempt, SendingHistory
from clarion.messages.wire import MessageOut


class SendAttemptOut(Wire):
    """An attempt to send; a job with several messages has the attempts of all of them."""

    at: DateTimeText
    """When it was tried."""
    integration: str | UnsetType = UNSET
    """The identifier of the integration."""
    success: bool
    """Whether the provider accepted the message."""
    detail: str
    error: str | UnsetType = UNSET
    """The provider's own words, if it gave any."""
    answer: Any = UNSET
    """The provider's response, without secrets."""
    milliseconds: int | UnsetType = UNSET
    """How long the provider took to answer."""

    @classmethod
    def of(cls, attempt: SendAttempt) -> Self:
        return cls(
            at=iso_text(attempt.at),
            integration=given(attempt.integration),
            success=attempt.is_success,
            detail=attempt.detail,
            error=given(attempt.error),
            answer=given(attempt.answer),
            milliseconds=given(attempt.milliseconds),
        )


class ReceiptOut(Wire):
    """What the provider reported afterwards."""

    at: DateTimeText
    """When the report arrived."""
    detail: str
    status: DetailStatus
    """Whether the report is good news."""
    report: Any = UNSET
    """The report as the provider sent it, without secrets."""

    @classmethod
    def of(cls, one: ExecutionDetail) -> Self:
        return cls(at=iso_text(one.at), detail=one.detail, status=one.status, report=given(one.raw))


class MailOut(Wire):
    """An e-mail as its provider was given it; without `from`, the sender is the one of the integration."""

    sender: str | UnsetType = field(name="from", default=UNSET)
    """The address that the mail comes from; absent if it is the one of the integration."""
    sender_name: str | UnsetType = UNSET
    """The name beside the address; absent if it is the one of the integration."""
    subject: str
    """The subject line."""
    reply_to: list[str]
    """Where replies go."""
    to_others: list[str]
    """Who is addressed beside the person (`overrides.email.to`)."""
    cc: list[str]
    """Who gets a copy."""
    bcc: list[str]
    """Who gets a copy that the others do not see."""
    headers: dict[str, str]
    """Additional headers."""
    attachments: list[str]
    """The names of the files."""
    html: str | UnsetType = UNSET
    """The HTML; absent if the mail is plain text."""
    text: str
    """The text alternative, or the whole message if there is no HTML."""

    @classmethod
    def of(cls, mail: Mail) -> Self:
        return cls(**{name: given(getattr(mail, name)) for name in mail.__struct_fields__})


class MessageDetailOut(MessageOut):
    """A message with its way to the provider, as far as its run is still stored."""

    integration_id: str | UnsetType = field(name="_integrationId", default=UNSET)
    integration: str | UnsetType = UNSET
    """The identifier of the integration that sent it, or was tried last."""
    provider_message_id: str | UnsetType = UNSET
    """The id that the provider gave the message."""
    retry_at: DateTimeText | UnsetType = UNSET
    """When the next attempt is due; absent if none is."""
    given_up_at: DateTimeText | UnsetType = UNSET
    """When the last attempt failed for good."""
    attempts: list[SendAttemptOut]
    """The attempts to send it, the oldest first."""
    receipts: list[ReceiptOut]
    """What the provider reported afterwards, the oldest first."""
    mail: MailOut | UnsetType = UNSET
    """The e-mail as its provider was given it; absent for other channels."""

    @classmethod
    def of_sending(cls, message: MessageOut, sending: SendingHistory, mail: Mail | None) -> Self:
        return cls(
            **{name: getattr(message, name) for name in message.__struct_fields__},
            integration_id=UNSET if sending.integration_id is None else id_text(sending.integration_id),
            integration=given(sending.integration),
            provider_message_id=given(sending.provider_message_id),
            retry_at=UNSET if sending.retry_at is None else iso_text(sending.retry_at),
            given_up_at=UNSET if sending.given_up_at is None else iso_text(sending.given_up_at),
            attempts=[SendAttemptOut.of(one) for one in sending.attempts],
            receipts=[ReceiptOut.of(one) for one in sending.receipts],
            mail=UNSET if mail is None else MailOut.of(mail),
        )
