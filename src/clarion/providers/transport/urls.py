"""Addresses of providers, and what their servers say about calling again."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime

from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.result import FailureKind, SendFailure

MAX_ANSWER = 64 * 1024
_MAX_PATIENCE = 24 * 60 * 60

Reroute = Callable[[URL], URL]
"""Where a call really goes, so that a server on the loopback interface can play a provider."""


def parse_url(text: str) -> URL:
    # The text is never repeated in a refusal: the path of a webhook is its password.
    try:
        url = URL(text)
    except ValueError as error:
        raise SendFailure(FailureKind.PERMANENT, "The URL is not well-formed") from error
    if url.scheme not in ("http", "https") or not url.host or not text.isprintable() or " " in text:
        raise SendFailure(FailureKind.PERMANENT, "The URL must begin with http:// or https:// and name a host")
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise SendFailure(FailureKind.PERMANENT, "The URL must not hold a user name or a password")
    return url


def host_and_port(url: URL) -> str:
    """What the Host header says: the port only where it is not the usual one."""
    return url.host_subcomponent or "" if url.is_default_port() else f"{url.host_subcomponent}:{url.port}"


def read_patience(header: str, clock: Clock) -> int | None:
    """Retry-After in seconds; it comes as seconds or as a date."""
    text = header.strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), _MAX_PATIENCE)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    seconds = round(moment.timestamp() - clock.now() / 1000)
    return min(max(seconds, 0), _MAX_PATIENCE)
