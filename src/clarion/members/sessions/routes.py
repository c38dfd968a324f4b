"""Signing in and out, and what members see and change of themselves: their name, password and sessions."""

from msgspec import UnsetType
from msgspec.structs import replace

from clarion.audit.model import Action
from clarion.audit.recording import author_of, author_of_member, record, record_event, record_request
from clarion.bus import Signal
from clarion.db.port import Connection
from clarion.errors import ClarionError, Invalid, NotFound, Unauthenticated
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.origins import require_own_page
from clarion.members import store
from clarion.members.actions import get_member
from clarion.members.model import Member, MemberSession, TokenHash, find_address, hash_token
from clarion.members.sessions.passwords import (
    PasswordAttempt,
    PasswordChecks,
    Passwords,
    find_password_problem,
    require_passwords,
)
from clarion.members.sessions.sign_in import (
    begin_session,
    clear_session_cookie,
    describe_member,
    find_token,
    require_sign_in_page,
)
from clarion.members.sessions.wire import (
    MemberSessionOut,
    MeOut,
    OwnMemberPatch,
    PasswordChangeIn,
    SignInIn,
)

SECTION = "Signing in"
_WRONG = "The e-mail address or the password is not right"


@operation("POST", "/v1/auth/sign-in", public=True, body=SignInIn, transaction=Transaction.NONE, refusals=(403, 429))
async def sign_in(call: DetachedCall, body: SignInIn) -> MeOut:
    """Sign in with an e-mail address and a password; the answer sets the cookie of a new session.

    Needs the header `X-Clarion: 1`, and to be sent by a page of this server.
    """
    require_sign_in_page(call)
    require_passwords(call.services.settings)
    checked = await _find_member(call, body.email)
    # Checked for unknown addresses too, so that neither the answer nor the work shows who is a member.
    await _require_password(call, body.email, body.password, checked, wrong=Unauthenticated(_WRONG))

    async def find_again(db: Connection) -> Member:
        member = None if checked is None else await store.lock_member(db, checked.id)
        if member is None or checked is None or member.password != checked.password:
            raise Unauthenticated(_WRONG)
        return member

    member = await begin_session(call, find_again, means="password")
    return await call.database.read(lambda db: describe_member(db, member))


@operation("POST", "/v1/auth/sign-out", public=True, status=204, transaction=Transaction.NONE, refusals=(403,))
async def sign_out(call: DetachedCall) -> None:
    """End the session of the cookie, if there is one, and delete the cookie."""
    headers = call.request.headers
    require_own_page(call.request.method, headers)
    token = find_token(headers)
    if token is not None:
        session = await call.database.read(lambda db: store.find_session(db, hash_token(token)))
        # Anybody can send a token, so the store is written to only for one that is known.
        if session is not None:
            known = session
            await call.database.transaction(lambda db: _end_session(db, call, known))
            call.services.bus.publish(Signal.MEMBERS_CHANGED)
    call.response_headers.append(clear_session_cookie(headers))


@operation("GET", "/v1/auth/me", member=True)
async def get_me(call: Call) -> MeOut:
    """Show who is signed in: the member, the organization, and the environments with the role in each."""
    return await describe_member(call.db, await _get_own(call))


@operation("PATCH", "/v1/auth/me", member=True, body=OwnMemberPatch)
async def update_me(call: Call, body: OwnMemberPatch) -> MeOut:
    """Change the own name."""
    member = await _get_own(call, locks=True)
    changed = member
    if not isinstance(body.name, UnsetType) and body.name != member.name:
        changed = replace(member, name=str(body.name), updated_at=call.now)
        await store.update_member(call.db, changed)
        await record_request(call, Action.MEMBER_UPDATE, before=member, after=changed)
        _announce(call)
    return await describe_member(call.db, changed)


@operation(
    "POST",
    "/v1/auth/me/password",
    member=True,
    status=204,
    body=PasswordChangeIn,
    transaction=Transaction.NONE,
    refusals=(429,),
)
async def change_password(call: DetachedCall, body: PasswordChangeIn) -> None:
    """Change the own password, which ends all other sessions; needs the current one."""
    caller = call.caller.get_member()
    require_passwords(call.services.settings)
    if problem := find_password_problem(body.new_password):
        raise Invalid.field("newPassword", problem)
    member = await call.database.read(lambda db: get_member(db, call.caller.organization_id, caller.id))
    wrong = Invalid.field("currentPassword", "is not right")
    await _require_password(call, caller.email, body.current_password, member, wrong=wrong)
    password = await call.services.shared.get(Passwords).hash(body.new_password)

    async def change(db: Connection) -> None:
        before = await get_member(db, call.caller.organization_id, caller.id, locks=True)
        if before.password != member.password:
            raise wrong
        after = replace(before, password=password, updated_at=call.now)
        await store.update_member(db, after)
        await store.delete_reset_links(db, before.email)
        await store.delete_other_sessions(db, caller.id, TokenHash(caller.session))
        await record(db, Action.MEMBER_CHANGE_PASSWORD, author_of(call), call.now, before=before, after=after)

    await call.database.transaction(change)
    call.services.bus.publish(Signal.MEMBERS_CHANGED)


@operation("GET", "/v1/auth/sessions", member=True)
async def list_own_sessions(call: Call) -> list[MemberSessionOut]:
    """List the own sessions, oldest first."""
    caller = call.caller.get_member()
    sessions = await store.list_sessions(call.db, caller.id)
    return [MemberSessionOut.of(session, caller.session) for session in sessions if not session.is_over(call.now)]


@operation("DELETE", "/v1/auth/sessions/{sessionId}", member=True, status=204)
async def revoke_own_session(call: Call, session_id: str) -> None:
    """End one of the own sessions at once, by its `id` in the list."""
    member = await _get_own(call)
    for session in await store.list_sessions(call.db, member.id):
        if session.public_id == session_id:
            await store.delete_session(call.db, session.hash)
            await record_event(
                call.db,
                Action.MEMBER_REVOKE_SESSION,
                member,
                author_of(call),
                call.now,
                details={"session": session_id},
            )
            _announce(call)
            return
    raise NotFound("Session", session_id)


@operation("POST", "/v1/auth/sessions/revoke-others", member=True, status=204)
async def revoke_other_sessions(call: Call) -> None:
    """End all own sessions but the one of the request."""
    member = await _get_own(call)
    await store.delete_other_sessions(call.db, member.id, TokenHash(call.caller.get_member().session))
    await record_event(call.db, Action.MEMBER_REVOKE_SESSIONS, member, author_of(call), call.now)
    _announce(call)


async def _require_password(
    call: DetachedCall, email: str, password: str, member: Member | None, *, wrong: ClarionError
) -> None:
    """Raise `wrong` or RateLimited unless the password is that of the member."""
    attempt = PasswordAttempt(
        address=call.request.address,
        email=email,
        password=password,
        stored=None if member is None else member.password,
        request_id=call.request_id,
    )
    await call.services.shared.get(PasswordChecks).require(attempt, wrong=wrong)


async def _find_member(call: DetachedCall, email: str) -> Member | None:
    address = find_address(email)
    if address is None:
        return None
    return await call.database.read(lambda db: store.find_member_by_email(db, address))


def _announce(call: Call) -> None:
    call.after_commit.append(lambda: call.services.bus.publish(Signal.MEMBERS_CHANGED))


async def _get_own(call: Call, *, locks: bool = False) -> Member:
    return await get_member(call.db, call.organization_id, call.caller.get_member().id, locks=locks)


async def _end_session(db: Connection, call: DetachedCall, session: MemberSession) -> None:
    member = await store.find_member(db, session.member_id)
    if await store.delete_session(db, session.hash) and member is not None:
        author = author_of_member(member, call.request_id)
        await record_event(db, Action.MEMBER_SIGN_OUT, member, author, call.now)
