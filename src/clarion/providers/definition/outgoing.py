"""Outgoing: one message that is sent to a provider."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion.vocabulary import Channel


def always() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message to send: recipient, content and credentials, independent of the records in the database."""

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
    webhook_url: str | None = field(default=None, repr=False)
    device_tokens: tuple[str, ...] = field(default=(), repr=False)
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The rest of the subscriber's channel credentials, without webhook and tokens: channel, alertUid, title…"""
    data: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    """The payload of the trigger, for push messages, whose apps get it as data."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the trigger for receivers of plain webhooks: transactionId, workflowIdentifier, payload…"""
    receipts_url: str | None = field(default=None, repr=False)
    """Where the provider sends receipts, for providers that take a callback URL with each message."""
    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    trace_headers: Mapping[str, str] = field(default_factory=dict)
    """The trace context, for receivers of plain webhooks only; vendors do not get it."""
    can_start: Callable[[], bool] = field(default=always, repr=False, compare=False)
    """Whether the message may still be sent, asked after it has waited for a connection."""
