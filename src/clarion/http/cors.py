"""Cross-origin access to the inbox: browsers call it from the pages of other servers."""

import re
from collections.abc import Iterable, Mapping

from clarion.http.input.unknown import HEADER_NAME as WARNINGS
from clarion.limits.headers import HEADER_NAMES
from clarion.settings.addresses import ANY_ORIGIN

INBOX_PATHS = (b"/v1/inbox/", b"/socket.io/", b"/ws")
"""How the paths begin that pages of other origins may call."""

Header = tuple[bytes, bytes]

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

    def preflight_headers(self, headers: Mapping[bytes, bytes]) -> list[Header]:
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

    def response_headers(self, headers: Mapping[bytes, bytes]) -> list[Header]:
        """The headers of every other response, also of errors: without them a page sees only that it failed."""
        return [*self._origin_headers(headers), _EXPOSED, _NOT_STORED]

    def _origin_headers(self, headers: Mapping[bytes, bytes]) -> list[Header]:
        if self._is_open:
            return [_EVERYONE]
        origin = headers.get(b"origin", b"")
        return [(b"access-control-allow-origin", origin), _VARY] if origin in self._origins else [_VARY]
