"""What a provider is, what is handed to one, and what comes back: it was sent, or why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from clarion.errors import ClarionError
from clarion.providers.account import Credentials, required_of
from clarion.vocabulary import Channel


class FormatRule(NamedTuple):
    """When a credential is well-formed, and the sentence for one that is not."""

    accepts: Callable[[str], bool]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of the registry, and what is known of it without talking to it."""

    id: str
    name: str
    channel: Channel
    credentials: type[Credentials] = Credentials
    page: str = ""
    """Where its maker describes what is spoken here."""
    attachments: bool = False
    idempotency: str = ""
    """Where our message id goes so that a repeated send is recognised; empty where the provider takes none."""
    note: str = ""
    """What whoever sets up an integration should know."""

    @property
    def required(self) -> tuple[str, ...]:
        return required_of(self.credentials)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The provider took the message; `raw` is its answer as JSON."""

    provider_message_id: str | None
    raw: Any = None
    dead_tokens: tuple[str, ...] = field(default=(), repr=False)
    """Device tokens that will never work again, although others took the message."""
    tickets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By recipient, what the provider is asked for later to learn how it went on; empty where it tells by itself."""


class FailureKind(StrEnum):
    RETRYABLE = "retryable"
    PERMANENT = "permanent"
    RECIPIENT_INVALID = "recipient_invalid"
    RATE_LIMITED = "rate_limited"


class SendFailure(ClarionError):
    """The message was not sent; the message is the provider's own words where it said any."""

    def __init__(self, kind: FailureKind, message: str, *, retry_after: int | None = None, raw: Any = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        """Seconds, where the provider asks for patience."""
        self.raw = raw
        self.is_ambiguous = False
        """The provider may have taken the message all the same: its answer was lost or made no sense."""
        self.dead_tokens: tuple[str, ...] = ()
        """Device tokens that will never work again."""


def ambiguous(failure: SendFailure) -> SendFailure:
    """The same failure, of a message that may have been taken all the same."""
    failure.is_ambiguous = True
    return failure
