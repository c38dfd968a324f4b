"""An alert for a tool: its text, the address with its keys, and overrides."""

from collections.abc import Mapping
from typing import Any, ClassVar

from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.secret import PartlyPrinted, Secret

KNOWN = frozenset({"content"})
_CUT = "…"


class Alert(PartlyPrinted, frozen=True, kw_only=True):
    """One alert to one channel endpoint."""

    PRINTED: ClassVar = ("message_id", "text", "overrides")
    message_id: str
    text: str
    url: str
    """Empty where the provider has one address for all."""
    entry: Mapping[str, Any] = {}
    """The rest of the endpoint."""
    overrides: Mapping[str, Any] = {}

    @property
    def webhook_url(self) -> str:
        """The address, for providers that require one; raises SendFailure if there is none."""
        return _require(self.url, "URL")

    def read_secret(self, name: str) -> Secret:
        """Return a key of the endpoint; raises SendFailure if it has none."""
        return Secret(_require(self.entry.get(name), name))

    def make_title(self, limit: int) -> str:
        """Return the first line of the text, cut to what the provider takes."""
        first = self.text.strip().partition("\n")[0].strip()
        return first if len(first) <= limit else first[: limit - len(_CUT)] + _CUT


def read_alert(outgoing: Outgoing) -> Alert:
    return Alert(
        message_id=outgoing.message_id,
        text=str(outgoing.overrides.get("content") or outgoing.content),
        url=(outgoing.webhook_url or "").strip(),
        entry=outgoing.entry,
        overrides=outgoing.overrides,
    )


def _require(value: Any, name: str) -> str:
    if not value:
        message = f"The subscriber has no channel endpoint of the integration with a {name}"
        raise SendFailure(FailureKind.RECIPIENT_INVALID, message)
    return str(value)
