"""Static pages: contents that anyone may read, revalidated by a hash."""

import asyncio
import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping

from msgspec import Struct

Headers = Mapping[bytes, bytes]
Header = tuple[bytes, bytes]
HeaderList = list[Header]

PROTECTION: tuple[Header, ...] = (
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
"""What a browser may do with anything that is sent to it: show it, and nothing else. Pages say what they need."""

_ACCEPTS_GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)


class StaticPage(Struct, frozen=True):
    """A page that anyone may read."""

    content_type: bytes
    body: bytes
    status: int = 200
    headers: tuple[Header, ...] = ()
    compressed: bytes | None = None
    """The body in gzip, if it was compressed beforehand."""
    etag: bytes | None = None

    def respond(self, request_headers: Headers) -> tuple[int, HeaderList, bytes]:
        """The status, headers and body for a request; 304 and no body if the client has this version already."""
        headers = protect(self.headers)
        if self.etag is not None:
            headers.append((b"etag", self.etag))
            if self.etag in request_headers.get(b"if-none-match", b""):
                return 304, headers, b""
        headers.append((b"content-type", self.content_type))
        if self.compressed is None:
            return self.status, headers, self.body
        headers.append((b"vary", b"Accept-Encoding"))
        if not accepts_gzip(request_headers):
            return self.status, headers, self.body
        headers.append((b"content-encoding", b"gzip"))
        return self.status, headers, self.compressed


Page = Callable[[], StaticPage | Awaitable[StaticPage]]


class SlowPage:
    """A page that takes long to make: it is made once, in a thread, when it is first asked for."""

    def __init__(self, make: Callable[[], StaticPage]) -> None:
        self._make = make
        self._made: StaticPage | None = None
        self._lock = asyncio.Lock()

    def __call__(self) -> StaticPage | Awaitable[StaticPage]:
        return self._made or self._make_once()

    async def _make_once(self) -> StaticPage:
        async with self._lock:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
            return self._made


def protect(headers: Iterable[Header]) -> HeaderList:
    """Add the headers of the protection, but those that are there already."""
    given = dict(headers)
    return [*given.items(), *(one for one in PROTECTION if one[0] not in given)]


def compressed_page(content_type: bytes, body: bytes, headers: tuple[Header, ...] = ()) -> StaticPage:
    return StaticPage(content_type, body, headers=headers, compressed=gzip.compress(body), etag=make_etag(body))


def accepts_gzip(headers: Headers) -> bool:
    return _ACCEPTS_GZIP.search(headers.get(b"accept-encoding", b"")) is not None


def make_etag(body: bytes) -> bytes:
    """A weak tag: the compressed body has the same one."""
    return b'W/"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
