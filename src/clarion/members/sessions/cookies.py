"""The cookie that holds the token of a member's session."""

from clarion.http.origins import SESSION_COOKIE
from clarion.http.static import Headers
from clarion.members.model import MAX_AGE
from clarion.settings.addresses import is_loopback_host

LOCAL_NAME = "clarion-session"
"""On this machine without TLS, where some browsers refuse the other one."""

_HOST_ONLY = "__Host-"
_SECOND_MILLIS = 1_000


def find_token(headers: Headers) -> str | None:
    """Return the token in the cookie of a request."""
    cookies = _read_cookies(headers.get(b"cookie", b"").decode("latin-1"))
    token = cookies.get(SESSION_COOKIE)
    if token is None and is_local(headers):
        token = cookies.get(LOCAL_NAME)
    return token or None


def make_cookie(headers: Headers, token: str) -> tuple[bytes, bytes]:
    """Return the header of a response that begins a session, for the browser that sent the headers."""
    return _cookie(headers, token, MAX_AGE // _SECOND_MILLIS)


def clear_cookie(headers: Headers) -> tuple[bytes, bytes]:
    return _cookie(headers, "", 0)


def find_cookie(headers: Headers, name: str) -> str | None:
    """Return another cookie than that of the session, by the name that `make_other_cookie` was given."""
    cookies = _read_cookies(headers.get(b"cookie", b"").decode("latin-1"))
    return cookies.get(name if is_local(headers) else _HOST_ONLY + name) or None


def make_other_cookie(headers: Headers, name: str, value: str, seconds: int) -> tuple[bytes, bytes]:
    """Return the header that sets a cookie for some seconds; for none, it is deleted."""
    local = is_local(headers)
    name, secure = (name, "") if local else (_HOST_ONLY + name, "; Secure")
    text = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", text.encode()


def is_local(headers: Headers) -> bool:
    """Return whether a browser uses plain http to this machine; a proxy that ends TLS shows in the headers."""
    if headers.get(b"origin", b"").startswith(b"https:") or headers.get(b"x-forwarded-proto", b"") == b"https":
        return False
    return is_loopback_host(headers.get(b"host", b"").decode("latin-1"))


def can_keep_cookie(headers: Headers) -> bool:
    """Return whether the browser will keep the cookie: not over plain http, except on this machine."""
    return is_local(headers) or not headers.get(b"origin", b"").startswith(b"http:")


def _cookie(headers: Headers, value: str, seconds: int) -> tuple[bytes, bytes]:
    local = is_local(headers)
    name, secure = (LOCAL_NAME, "") if local else (SESSION_COOKIE, "; Secure")
    text = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", text.encode()


def _read_cookies(header: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        # Browsers send the cookie of the longest path first.
        found.setdefault(name, value)
    return found
