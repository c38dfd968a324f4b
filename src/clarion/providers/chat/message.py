"""A chat message: its webhook or channel, its text and overrides."""

from collections.abc import Mapping
from typing import Any, ClassVar

from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.secret import PartlyPrinted, Secret

KNOWN = frozenset({"content"})


class Chat(PartlyPrinted, frozen=True, kw_only=True):
    """One message to one chat channel."""

    PRINTED: ClassVar = ("message_id", "text", "channel", "phone", "overrides")
    message_id: str
    text: str
    webhook: str
    """Empty if the subscriber has none."""
    channel: str = ""
    token: Secret | None = None
    """That of the connection of a channel endpoint."""
    phone: str = ""
    phone_region: str = ""
    """The subscriber's region, if the number has no country code and the region is known."""
    entry: Mapping[str, Any] = {}
    """The rest of the subscriber's channel credentials."""
    overrides: Mapping[str, Any] = {}

    @property
    def webhook_url(self) -> str:
        """The webhook, for providers that require one; raises SendFailure if there is none."""
        if not self.webhook:
            raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no webhook URL for this channel")
        return self.webhook


def read_chat(outgoing: Outgoing) -> Chat:
    return Chat(
        message_id=outgoing.message_id,
        text=str(outgoing.overrides.get("content") or outgoing.content),
        webhook=(outgoing.webhook_url or "").strip(),
        channel=str(outgoing.entry.get("channel") or "").strip(),
        token=Secret(outgoing.entry["accessToken"]) if outgoing.entry.get("accessToken") else None,
        phone=outgoing.phone or "",
        phone_region=outgoing.phone_region,
        entry=outgoing.entry,
        overrides=outgoing.overrides,
    )
