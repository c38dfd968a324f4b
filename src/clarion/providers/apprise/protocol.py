"""What passes between the process that serves and the confined one that speaks for Apprise."""

from typing import Literal

from msgspec import Struct


class AppriseOrder(Struct, frozen=True, kw_only=True):
    """One notification for one service."""

    url: str
    title: str
    body: str
    seconds: float
    allow: list[str]
    """Networks that are open although they are not public."""


class AppriseOutcome(Struct, frozen=True, kw_only=True):
    """What became of it; `words` may quote the URL."""

    result: Literal["sent", "unknown service", "forbidden", "timed out", "failed"]
    service: str = ""
    words: str = ""
