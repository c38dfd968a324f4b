"""The messages between the server process and the sandbox process that runs Apprise."""

from typing import Literal

from msgspec import Struct


class AppriseRequest(Struct, frozen=True, kw_only=True):
    """One notification for one service."""

    url: str
    title: str
    body: str
    seconds: float
    allow: list[str]
    """Non-public networks that the operator allowed."""


class AppriseResult(Struct, frozen=True, kw_only=True):
    """The result of a notification; `details` may contain the URL."""

    status: Literal["sent", "unknown service", "forbidden", "timed out", "failed"]
    service: str = ""
    details: str = ""
