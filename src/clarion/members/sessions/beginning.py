"""Sessions of members begin: after a password, a link or another provider has proved who somebody is."""

from collections.abc import Awaitable, Callable

from clarion.audit.model import Action
from clarion.audit.recording import author_of_member, record_event
from clarion.bus import Signal
from clarion.db.port import Connection
from clarion.environments.store import find_organization, list_environments
from clarion.errors import Forbidden, Unauthenticated
from clarion.http.operation import DetachedCall
from clarion.http.origins import require_own_page
from clarion.members import actions, store
from clarion.members.model import MAX_SESSIONS, Member, hash_token
from clarion.members.sessions.cookies import can_keep_cookie, find_token, make_cookie
from clarion.members.sessions.wire import MeOut

_MAX_USER_AGENT = 300


def require_sign_in_page(call: DetachedCall) -> None:
    """Raise Forbidden unless an own page asks for a session, in a browser that will keep its cookie."""
    headers = call.request.headers
    require_own_page(call.request.method, headers)
    if not can_keep_cookie(headers):
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
    call.response_headers.append(make_cookie(request.headers, session.token))
    return member


async def describe_member(db: Connection, member: Member) -> MeOut:
    """Show a member who is signed in, with the organization and the environments that they can enter."""
    organization = await find_organization(db, member.organization_id)
    if organization is None:
        raise Unauthenticated("The organization does not exist any more")
    return MeOut.of(member, organization, await list_environments(db, member.organization_id))
