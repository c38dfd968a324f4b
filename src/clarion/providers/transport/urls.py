"""Parsing URLs of providers and Retry-After headers."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime

from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.result import FailureKind, SendFailure

MAX_ANSWER = 64 * 1024
_MAX_RETRY_AFTER = 24 * 60 * 60

RewriteUrl = Callable[[URL], URL]
"""Replaces the URL of a call, so that tests can send it to a fake provider on the loopback interface."""


def parse_url(text: str) -> URL:
    # Errors never contain the URL: the path of a webhook is its password.
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
    """Return the value of the Host header, which has the port only if it is not the default one."""
    return url.host_subcomponent or "" if url.is_default_port() else f"{url.host_subcomponent}:{url.port}"


def parse_retry_after(header: str, clock: Clock) -> int | None:
    """Parse a Retry-After header, which is in seconds or a date, into seconds."""
    text = header.strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), _MAX_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    seconds = round(date.timestamp() - clock.now() / 1000)
    return min(max(seconds, 0), _MAX_RETRY_AFTER)
