"""Outgoing: one message that is sent to a provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion.vocabulary import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message on its way: where to, what, and on whose account; nothing of the product's records."""

    message_id: str
    """Ours; goes along as idempotency key or Message-ID where the provider takes one."""
    channel: Channel
    content: str
    subject: str | None = None
    title: str | None = None
    email: str | None = None
    phone: str | None = None
    webhook_url: str | None = field(default=None, repr=False)
    device_tokens: tuple[str, ...] = field(default=(), repr=False)
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the subscriber's channel entry says besides webhook and tokens: channel, alertUid, title…"""
    data: Mapping[str, Any] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    """What receivers of plain webhooks are told of the trigger: transactionId, workflowIdentifier, payload…"""
    receipts_url: str | None = field(default=None, repr=False)
    """Where the provider reports what became of the message, for those that are told with each one."""
    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=dict)
