"""Changes of messages that a provider has already: new content, or taking the message back."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

Place = Mapping[str, str]
"""Where a provider put a message, beside its id: what a change has to name besides."""


class ChangeKind(StrEnum):
    UPDATE = "update"
    WITHDRAW = "withdraw"

    @property
    def verb(self) -> str:
        return "change" if self is ChangeKind.UPDATE else "take back"


class SentMessage(Struct, frozen=True, kw_only=True):
    """A message as its provider knows it."""

    provider_message_id: str
    place: Place


class MessageChange(Struct, frozen=True, kw_only=True):
    """What a provider is asked to do with a message that it has."""

    kind: ChangeKind
    sent: SentMessage
    number: int
    """How often the message was changed, this time included."""
