"""A chat message: the webhook or the channel that it goes to, its text, and what the provider lays out itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure

KNOWN = frozenset({"content"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One message to one place of a chat."""

    message_id: str
    text: str
    webhook: str = field(repr=False)
    """Empty where the subscriber has none."""
    channel: str = ""
    phone: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the subscriber's channel entry says besides."""
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def webhook_url(self) -> str:
        """The webhook of providers that are nothing without one."""
        if not self.webhook:
            raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no webhook URL for this channel")
        return self.webhook


def read_chat(outgoing: Outgoing) -> Chat:
    return Chat(
        message_id=outgoing.message_id,
        text=str(outgoing.overrides.get("content") or outgoing.content),
        webhook=(outgoing.webhook_url or "").strip(),
        channel=str(outgoing.entry.get("channel") or "").strip(),
        phone=outgoing.phone or "",
        entry=outgoing.entry,
        overrides=outgoing.overrides,
    )
