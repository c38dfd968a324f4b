"""Outgoing: one message that is sent to a provider."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from clarion.providers.definition.changes import MessageChange
from clarion.secret import PartlyPrinted
from clarion.vocabulary import Channel


def always() -> bool:
    return True


def unchanged(document: str) -> str:
    return document


class Outgoing(PartlyPrinted, frozen=True, kw_only=True):
    """A message to send: recipient, content and credentials, independent of the records in the database."""

    PRINTED: ClassVar = ("message_id", "channel", "content", "subject", "title", "email", "phone", "overrides")
    message_id: str
    """Our id; sent as idempotency key or Message-ID if the provider supports one."""
    channel: Channel
    content: str
    subject: str | None = None
    title: str | None = None
    email: str | None = None
    phone: str | None = None
    phone_region: str = ""
    """The subscriber's region, such as GB; empty if it is unknown, or not needed because the number is complete."""
    webhook_url: str | None = None
    device_tokens: tuple[str, ...] = ()
    entry: Mapping[str, Any] = {}
    """The rest of the subscriber's channel credentials, without webhook and tokens: channel, alertUid, title…"""
    data: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] = {}
    """The payload of the trigger, for push messages, whose apps get it as data."""
    context: Mapping[str, Any] = {}
    """Facts about the trigger for receivers of plain webhooks: transactionId, workflowIdentifier, payload…"""
    receipts_url: str | None = None
    """Where the provider sends receipts, for providers that take a callback URL with each message."""
    unsubscribe_url: str | None = None
    """Where the person unsubscribes from e-mails of this kind; None: they cannot."""
    credentials: Mapping[str, Any] = {}
    overrides: Mapping[str, Any] = {}
    change: MessageChange | None = None
    """What becomes of the message that the provider has already; None: it has none, and gets it now."""
    trace_headers: Mapping[str, str] = {}
    """The trace context, for receivers of plain webhooks only; vendors do not get it."""
    track: Callable[[str], str] = unchanged
    """Puts tracked links and the image that tells of opens into the HTML of an e-mail."""
    can_start: Callable[[], bool] = always
    """Whether the message may still be sent, asked after it has waited for a connection."""
