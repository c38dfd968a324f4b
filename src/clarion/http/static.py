"""Static pages: contents that anyone may read, revalidated by a hash."""

import hashlib
import re
from collections.abc import Mapping

from msgspec import Struct

Headers = Mapping[bytes, bytes]
HeaderList = list[tuple[bytes, bytes]]

_ACCEPTS_GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)


class StaticPage(Struct, frozen=True):
    """A page that anyone may read."""

    content_type: bytes
    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    compressed: bytes | None = None
    """The body in gzip, if it was compressed beforehand."""
    etag: bytes | None = None

    def respond(self, request_headers: Headers) -> tuple[int, HeaderList, bytes]:
        """The status, headers and body for a request; 304 and no body if the client has this version already."""
        headers: HeaderList = [*self.headers]
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


def accepts_gzip(headers: Headers) -> bool:
    return _ACCEPTS_GZIP.search(headers.get(b"accept-encoding", b"")) is not None


def make_etag(body: bytes) -> bytes:
    """A weak tag: the compressed body has the same one."""
    return b'W/"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
