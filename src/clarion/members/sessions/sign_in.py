"""Sessions of members begin in a browser, after a password, a link or another provider has proved who somebody is.

The browser keeps the token of the session in a cookie.
"""

from collections.abc import Awaitable, Callable

from clarion.audit.model import Action
from clarion.audit.recording import author_of_member, record_event
from clarion.bus import Signal
from clarion.clock import SECOND
from clarion.db.port import Connection
from clarion.environments.store import find_organization, list_environments
from clarion.errors import Forbidden, Unauthenticated
from clarion.http.operation import DetachedCall
from clarion.http.origins import SESSION_COOKIE, require_own_page
from clarion.http.static import Headers
from clarion.members import actions, store
from clarion.members.model import MAX_AGE, MAX_SESSIONS, Member, hash_token
from clarion.members.sessions.wire import MeOut
from clarion.settings.addresses import is_loopback_host

LOCAL_NAME = "clarion-session"
"""On this machine without TLS, where some browsers refuse the other one."""
_HOST_ONLY = "__Host-"
_MAX_USER_AGENT = 300


def require_sign_in_page(call: DetachedCall) -> None:
    """Raise Forbidden unless an own page asks for a session, in a browser that will keep its cookie."""
    headers = call.request.headers
    require_own_page(call.request.method, headers)
    if not _can_keep_cookie(headers):
        raise Forbidden("Signing in needs https, except on the machine that Clarion runs on: put a TLS proxy before it")


async def begin_session(
    call: DetachedCall, find_member: Callable[[Connection], Awaitable[Member]], *, means: str
) -> Member:
    """Begin a session of the member that is found in the same unit of work, and set its cookie.

    The token is always new, and the session that the browser had before is ended: nobody can prepare a session for
    somebody else. `means` is how the member proved who they are, for the audit log.
    """
    request = call.request
    device = actions.Device(
        user_agent=request.headers.get(b"user-agent", b"").decode("latin-1")[:_MAX_USER_AGENT] or None,
        address=request.address or None,
    )
    previous = find_token(request.headers)

    async def begin(db: Connection) -> tuple[Member, actions.NewSession]:
        member = await find_member(db)
        if previous is not None:
            await store.delete_session(db, hash_token(previous))
        session = await actions.begin_session(db, member, device, call.now)
        await store.delete_surplus_sessions(db, member.id, session.record.hash, others=MAX_SESSIONS - 1)
        author = author_of_member(member, call.request_id)
        await record_event(db, Action.MEMBER_SIGN_IN, member, author, call.now, details={"means": means})
        return member, session

    member, session = await call.database.transaction(begin)
    call.services.bus.publish(Signal.MEMBERS_CHANGED)
    call.response_headers.append(make_session_cookie(request.headers, session.token))
    return member


async def describe_member(db: Connection, member: Member) -> MeOut:
    """Show a member who is signed in, with the organization and the environments that they can enter."""
    organization = await find_organization(db, member.organization_id)
    if organization is None:
        raise Unauthenticated("The organization does not exist any more")
    return MeOut.of(member, organization, await list_environments(db, member.organization_id))


def find_token(headers: Headers) -> str | None:
    """Return the token in the session cookie of a request."""
    cookies = _read_cookies(headers)
    token = cookies.get(SESSION_COOKIE)
    if token is None and _is_local(headers):
        token = cookies.get(LOCAL_NAME)
    return token or None


def make_session_cookie(headers: Headers, token: str) -> tuple[bytes, bytes]:
    """Return the header of a response that begins a session, for the browser that sent the headers."""
    return make_cookie(headers, LOCAL_NAME, token, MAX_AGE // SECOND)


def clear_session_cookie(headers: Headers) -> tuple[bytes, bytes]:
    return make_cookie(headers, LOCAL_NAME, "", 0)


def find_cookie(headers: Headers, name: str) -> str | None:
    """Return a cookie by the name that `make_cookie` was given."""
    return _read_cookies(headers).get(name if _is_local(headers) else _HOST_ONLY + name) or None


def make_cookie(headers: Headers, name: str, value: str, seconds: int) -> tuple[bytes, bytes]:
    """Return the header that sets a cookie for some seconds; for none, it is deleted."""
    name, secure = (name, "") if _is_local(headers) else (_HOST_ONLY + name, "; Secure")
    text = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
    return b"set-cookie", text.encode()


def _can_keep_cookie(headers: Headers) -> bool:
    """Return whether the browser will keep the cookie: not over plain http, except on this machine."""
    return _is_local(headers) or not headers.get(b"origin", b"").startswith(b"http:")


def _is_local(headers: Headers) -> bool:
    """Return whether a browser uses plain http to this machine; a proxy that ends TLS shows in the headers."""
    if headers.get(b"origin", b"").startswith(b"https:") or headers.get(b"x-forwarded-proto", b"") == b"https":
        return False
    return is_loopback_host(headers.get(b"host", b"").decode("latin-1"))


def _read_cookies(headers: Headers) -> dict[str, str]:
    cookies: dict[str, str] = {}
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = part.strip().partition("=")
        # Browsers send the cookie of the longest path first.
        cookies.setdefault(name, value)
    return cookies
