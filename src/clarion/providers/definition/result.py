"""The result of a send: the provider accepted the message, or why it did not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clarion.errors import ClarionError


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
