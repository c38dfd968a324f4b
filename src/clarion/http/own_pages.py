"""Requests of pages with the cookie of a member's session: only own pages may make them.

A browser sends the cookie whoever makes the request. It also says which page does, in headers that no page can set.
"""

from urllib.parse import urlsplit

from clarion.errors import Forbidden
from clarion.http.static import Headers

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
    elif not is_own_origin(headers):
        raise Forbidden(f"{_OTHER_PAGE}; without a browser, send 'Origin' with the address of this server")
    if ENVIRONMENT_HEADER not in headers and PAGE_HEADER not in headers:
        raise Forbidden("Changes by members need the header 'X-Clarion: 1', or 'Clarion-Environment'")


def is_own_origin(headers: Headers) -> bool:
    """Return whether the Origin of a request is the host that it was sent to.

    The scheme is not compared: a proxy may end TLS.
    """
    origin = urlsplit(headers.get(b"origin", b"").decode("latin-1"))
    return origin.scheme in ("http", "https") and origin.netloc.lower() == _host(headers)


def _host(headers: Headers) -> str:
    return headers.get(b"host", b"").decode("latin-1").lower()
