"""What is tracked of a message, by whose decision, and what was counted; and how machines are told from people."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import SECOND, Millis

REFUSAL: Final = "tracking"
"""The member of a person's data that switches tracking off for them if it is false."""
SCANNER_MILLIS: Final = 3 * SECOND
"""Nobody reads and follows a link so soon after its message was made; scanners at the door of a mailbox do."""

_REFUSALS: Final = frozenset({"false", "off", "no"})
_MACHINES: Final = re.compile(
    r"(?<!cu)bot\b|crawl|spider|preview|scan|proofpoint|mimecast|barracuda|safelinks|urldefense|ironport|trendmicro|fireeye"
    r"|symantec|headlesschrome|phantomjs|facebookexternalhit|whatsapp|skypeuripreview|\bcurl/|\bwget/|python|\bjava/"
    r"|go-http-client|okhttp|libwww|apache-httpclient|node-fetch|axios|\bruby\b|\bphp\b",
    re.IGNORECASE,
)
_PREFETCH: Final = re.compile("prefetch|preview|prerender", re.IGNORECASE)
_PURPOSES: Final = (b"purpose", b"sec-purpose", b"x-purpose", b"x-moz")
_APPLE_PREFETCH: Final = "Mozilla/5.0"
"""All that the proxy says of Apple Mail that loads images when a mail arrives, whether anybody reads it or not."""
_PROXY: Final = "GoogleImageProxy"
"""Loads images of Gmail when a person opens a mail."""


class TrackingOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an environment tracks."""

    opens: bool = False
    clicks: bool = False
    domain: str | None = None
    """The host of links, instead of that of the public address."""


class TrackingOverride(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a workflow decides instead of its environment; None: as the environment does."""

    opens: bool | None = None
    clicks: bool | None = None


class Tracking(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is tracked of a message, and what was counted."""

    opens: bool = False
    clicks: bool = False
    open_count: int = 0
    first_opened_at: Millis | None = None
    click_count: int = 0
    first_clicked_at: Millis | None = None
    machine_count: int = 0
    """Opens and clicks of machines, which are not among the others."""

    @property
    def is_wanted(self) -> bool:
        return self.opens or self.clicks


class MachineReason(StrEnum):
    """Why an open or a click counts as that of a machine."""

    PROBE = "probe"
    """It asked for the headers alone."""
    PREFETCH = "prefetch"
    """It said so, or is the proxy that loads images when a mail arrives."""
    USER_AGENT = "userAgent"
    """It is a known program, or says nothing about itself."""
    SCANNER = "scanner"
    """It came too soon after the message was made."""


decode_tracking = msgspec.json.Decoder(Tracking).decode
decode_override = msgspec.json.Decoder(TrackingOverride).decode

_NO_OVERRIDE: Final = TrackingOverride()
_NO_OPTIONS: Final = TrackingOptions()


def decide_tracking(
    options: TrackingOptions, override: TrackingOverride | None, data: Mapping[str, Any] | None, *, is_critical: bool
) -> Tracking | None:
    """Return what is tracked of a message; None: nothing.

    A critical workflow, which people cannot switch off, is tracked only if it says so itself.
    """
    if override is None and (is_critical or options == _NO_OPTIONS):
        return None
    own, inherited = override or _NO_OVERRIDE, _NO_OPTIONS if is_critical else options
    opens = inherited.opens if own.opens is None else own.opens
    clicks = inherited.clicks if own.clicks is None else own.clicks
    return Tracking(opens=opens, clicks=clicks) if (opens or clicks) and not refuses_tracking(data) else None


def refuses_tracking(data: Mapping[str, Any] | None) -> bool:
    """Return whether a person does not want to be tracked, by their data."""
    value = None if data is None else data.get(REFUSAL)
    return value is False or (isinstance(value, str) and value.strip().lower() in _REFUSALS)


def count_open(tracking: Tracking | None, at: Millis) -> Tracking:
    tracking = tracking or Tracking()
    first = at if tracking.first_opened_at is None else min(at, tracking.first_opened_at)
    return replace(tracking, open_count=tracking.open_count + 1, first_opened_at=first)


def count_click(tracking: Tracking | None, at: Millis) -> Tracking:
    tracking = tracking or Tracking()
    first = at if tracking.first_clicked_at is None else min(at, tracking.first_clicked_at)
    return replace(tracking, click_count=tracking.click_count + 1, first_clicked_at=first)


def count_machine(tracking: Tracking | None) -> Tracking:
    tracking = tracking or Tracking()
    return replace(tracking, machine_count=tracking.machine_count + 1)


def find_machine(method: str, headers: Mapping[bytes, bytes], *, age: int) -> MachineReason | None:
    """Return why a request is that of a machine, None if it may be that of a person.

    `headers` have names in lower case; `age` is how many milliseconds ago the message was made.
    """
    if method == "HEAD":
        return MachineReason.PROBE
    if any(_PREFETCH.search(headers.get(name, b"").decode("latin-1")) for name in _PURPOSES):
        return MachineReason.PREFETCH
    agent = headers.get(b"user-agent", b"").decode("latin-1").strip()
    if _PROXY in agent:
        return None
    if agent == _APPLE_PREFETCH:
        return MachineReason.PREFETCH
    if not agent or _MACHINES.search(agent):
        return MachineReason.USER_AGENT
    return MachineReason.SCANNER if age < SCANNER_MILLIS else None


def refuses_records(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the browser says that its owner does not want to be tracked."""
    return b"1" in (headers.get(b"dnt"), headers.get(b"sec-gpc"))
