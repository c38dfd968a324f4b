"""What the clients share: checking URLs and headers, making answers, and noticing that no socket can be opened."""

import errno
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure

MAX_ANSWER = 64 * 1024
_MAX_RETRY_AFTER = 24 * 60 * 60
# These say where the request ends, or whether the connection is kept.
_OURS = frozenset(
    {"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Only errors of opening a socket: nothing has been sent then.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE})
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


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise SendFailure for a header that would end the request early, start another one, or is no header."""
    for name, value in headers.items():
        if name.lower() in _OURS:
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' is set by Clarion and cannot be overridden")
        if not _NAME.fullmatch(name):
            raise SendFailure(FailureKind.PERMANENT, f"'{name}' cannot be the name of a header")
        if _CONTROL.search(value):
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' has control characters")


def make_answer(
    call: ProviderCall, status: int, headers: Mapping[str, str], content: bytes, clock: Clock
) -> ProviderAnswer:
    """The answer to a call, without the secrets of the call; `headers` are by lower-case names."""
    return ProviderAnswer(
        status=status,
        text=call.without_secrets(content),
        headers=headers,
        retry_after=parse_retry_after(headers.get("retry-after", ""), clock),
        received_at=clock.now(),
    )


def find_shortage(error: BaseException) -> SendFailure | None:
    """Return the failure if no socket could be opened, or None if the error has another cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _SHORTAGES:
            return SendFailure(FailureKind.NO_CONNECTION, f"No connection can be opened here: {cause.strerror}")
        cause = cause.__cause__ or cause.__context__
    return None
