"""The result of a send: the provider accepted the message, or why it did not."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from clarion.errors import ClarionError
from clarion.secret import PartlyPrinted


class Sent(PartlyPrinted, frozen=True, kw_only=True):
    """The provider accepted the message; `raw` is its answer as JSON."""

    PRINTED: ClassVar = ("provider_message_id", "raw")
    provider_message_id: str | None
    raw: Any = None
    dead_tokens: tuple[str, ...] = ()
    """Device tokens that are no longer valid, although the message was sent to others."""
    tickets: Mapping[str, str] = {}
    """Tickets by recipient, with which receipts are fetched later; empty if the provider pushes receipts."""
    refused: Mapping[str, str] = {}
    """The reasons by recipient, if the provider accepted the message for some recipients and not for these."""


class FailureKind(StrEnum):
    RETRYABLE = "retryable"
    PERMANENT = "permanent"
    RECIPIENT_INVALID = "recipient_invalid"
    RATE_LIMITED = "rate_limited"
    NO_CONNECTION = "no_connection"
    """All connections that this process may have were in use. The provider was not called."""


class SendFailure(ClarionError):
    """The message was not sent; `message` is the provider's own error text if it gave one."""

    def __init__(self, kind: FailureKind, message: str, *, retry_after: int | None = None, raw: Any = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        """Seconds to wait, if the provider asks for a delay."""
        self.raw = raw
        self.is_ambiguous = False
        """Whether the provider may have accepted the message: its answer was lost or could not be understood."""
        self.is_account_refused = False
        """Whether the provider refuses the account, and would refuse every other message too."""
        self.dead_tokens: tuple[str, ...] = ()
        """Device tokens that are no longer valid."""


def refuse_account(message: str, *, raw: Any = None) -> SendFailure:
    """Return the permanent failure of an account that nothing can be sent with."""
    failure = SendFailure(FailureKind.PERMANENT, message, raw=raw)
    failure.is_account_refused = True
    return failure


def mark_ambiguous(failure: SendFailure) -> SendFailure:
    """Mark the failure as one of a message that the provider may have accepted, and return it."""
    failure.is_ambiguous = True
    return failure
