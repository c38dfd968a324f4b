"""What a provider is, what is handed to one, and what comes back: it was sent, or why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from clarion.errors import ClarionError
from clarion.vocabulary import Channel


class Rule(NamedTuple):
    """When a credential is well-formed, and the sentence for one that is not."""

    accepts: Callable[[str], bool]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of the registry; credential names are those of the wire."""

    id: str
    name: str
    channel: Channel
    required: tuple[str, ...] = ()
    rules: dict[str, Rule] = field(default_factory=dict)
    """Where this provider differs from the rules that hold for a credential by its name."""


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
    data: Mapping[str, Any] | None = None
    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The provider took the message; `raw` is its answer as JSON."""

    provider_message_id: str | None
    raw: Any = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A JSON document for a provider that is called over HTTP."""

    url: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back over HTTP; `text` is cut at the limit for answers."""

    status: int
    text: str
    headers: Mapping[str, str]
    retry_after: int | None
    """Seconds, where the answer asks for patience."""


class WebSender(NamedTuple):
    """A provider over HTTP: the request that it needs, and what its answer means."""

    request: Callable[[Outgoing], Request]
    read: Callable[[Answer], Sent]
