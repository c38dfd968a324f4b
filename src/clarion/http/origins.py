"""Which pages may call: those of other origins the inbox, and only own pages with the cookie of a member's session.

A browser sends that cookie whoever makes the request. It also says which page does, in headers that no page can set.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from clarion.errors import Forbidden
from clarion.http.input.unknown import HEADER_NAME as WARNINGS
from clarion.http.static import HeaderList, Headers
from clarion.limits.headers import HEADER_NAMES
from clarion.settings.addresses import ANY_ORIGIN

INBOX_PATHS = (b"/v1/inbox/", b"/socket.io/", b"/ws")
"""How the paths begin that pages of other origins may call."""

_METHODS = b"GET, POST, PATCH, DELETE"
_HEADERS = (
    *(b"authorization", b"content-type", b"idempotency-key"),
    *(b"novu-api-version", b"novu-client-version", b"novu-application-identifier"),
)
_HEADER_NAME = re.compile(rb"[a-z0-9-]{1,64}")
_MAX_ASKED_HEADERS = 20
# A day, although browsers use less: nearly every path of the inbox is different, and each has its own preflight.
_MAX_AGE = b"86400"
_EXPOSED = (
    b"access-control-expose-headers",
    ", ".join(("X-Request-Id", "Retry-After", WARNINGS, *HEADER_NAMES)).encode(),
)
_NOT_STORED = (b"cache-control", b"no-store")
_VARY = (b"vary", b"Origin")
_EVERYONE = (b"access-control-allow-origin", b"*")


class InboxCors:
    """Which origins may call the inbox, as headers of responses."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)
        self._is_open = ANY_ORIGIN.encode() in self._origins

    def preflight_headers(self, headers: Mapping[bytes, bytes]) -> HeaderList:
        """The headers of the response to OPTIONS, which says what a page may send."""
        asked = headers.get(b"access-control-request-headers", b"").lower().split(b",")[:_MAX_ASKED_HEADERS]
        others = [name for name in map(bytes.strip, asked) if name not in _HEADERS and _HEADER_NAME.fullmatch(name)]
        return [
            *self._origin_headers(headers),
            (b"access-control-allow-methods", _METHODS),
            # A star would not include Authorization.
            (b"access-control-allow-headers", b", ".join((*_HEADERS, *others))),
            (b"access-control-max-age", _MAX_AGE),
        ]

    def response_headers(self, headers: Mapping[bytes, bytes]) -> HeaderList:
        """The headers of every other response, also of errors: without them a page sees only that it failed."""
        return [*self._origin_headers(headers), _EXPOSED, _NOT_STORED]

    def _origin_headers(self, headers: Mapping[bytes, bytes]) -> HeaderList:
        if self._is_open:
            return [_EVERYONE]
        origin = headers.get(b"origin", b"")
        return [(b"access-control-allow-origin", origin), _VARY] if origin in self._origins else [_VARY]


SESSION_COOKIE = "__Host-clarion-session"
"""Browsers accept a cookie of such a name only from this very host, over https, and for all paths."""
ENVIRONMENT_HEADER = b"clarion-environment"
PAGE_HEADER = b"x-clarion"
"""Proves, in requests without an environment, that no form of another page sent it: forms cannot set headers."""

_SAFE = ("GET", "HEAD")
_OTHER_PAGE = "This request was made by a page of another origin, which may not use a member's session"


def require_own_page(method: str, headers: Headers) -> None:
    """Raise Forbidden unless an own page makes the request; one that only reads may also be typed by a person."""
    site = headers.get(b"sec-fetch-site")
    if method in _SAFE:
        if site not in (None, b"same-origin", b"none"):
            raise Forbidden(_OTHER_PAGE)
        return
    if site is not None:
        if site != b"same-origin":
            raise Forbidden(_OTHER_PAGE)
    elif not _is_own_origin(headers):
        raise Forbidden(f"{_OTHER_PAGE}; without a browser, send 'Origin' with the address of this server")
    if ENVIRONMENT_HEADER not in headers and PAGE_HEADER not in headers:
        raise Forbidden("Changes by members need the header 'X-Clarion: 1', or 'Clarion-Environment'")


def _is_own_origin(headers: Headers) -> bool:
    """Return whether the Origin of a request is the host that it was sent to.

    The scheme is not compared: a proxy may end TLS.
    """
    origin = urlsplit(headers.get(b"origin", b"").decode("latin-1"))
    return (
        origin.scheme in ("http", "https")
        and origin.netloc.lower() == headers.get(b"host", b"").decode("latin-1").lower()
    )
