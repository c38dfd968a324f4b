"""Getting in by links: the first owner, invitations, and new passwords. Tokens are in bodies, which no log has."""

from msgspec import UnsetType

from clarion.bus import Signal
from clarion.db.port import Connection
from clarion.environments.store import find_organization
from clarion.errors import Invalid
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.members import store
from clarion.members.actions import LINK_OVER, NewMember, accept_link, find_valid_link, require_free, reset_password
from clarion.members.links.mailing import ResetRequest, TeamMail
from clarion.members.links.wire import (
    AcceptanceIn,
    InvitationDetailsOut,
    InvitationTokenIn,
    OidcMethodOut,
    ResetIn,
    ResetMeans,
    ResetRequestIn,
    ResetRequestOut,
    SetUpIn,
    SignInMethodsOut,
)
from clarion.members.model import Link, LinkKind, Member, MemberAddress, read_address
from clarion.members.sessions.passwords import Passwords, find_password_problem, require_passwords
from clarion.members.sessions.sign_in import begin_session, describe_member, require_sign_in_page
from clarion.members.sessions.throttle import ResetThrottle
from clarion.members.sessions.wire import MeOut

SECTION = "Signing in"
_BY_MAIL = (
    "If this is the address of a member, a link to set a new password is on its way. "
    "If no mail arrives within a few minutes, ask an admin of your team for a link"
)
_BY_ADMIN = (
    "This installation cannot send mail: ask an admin of your team for a link to set a new password, "
    "or run 'clarion members link' on the server"
)


@operation("GET", "/v1/auth/methods", public=True)
async def list_sign_in_methods(call: Call) -> SignInMethodsOut:
    """Show how members sign in here."""
    settings = call.services.settings
    methods = SignInMethodsOut(passwords=settings.passwords, needs_setup=not await store.has_any_owner(call.db))
    if settings.oidc_issuer is None:
        return methods
    oidc = OidcMethodOut(issuer=settings.oidc_issuer, url="/v1/auth/oidc/start")
    return SignInMethodsOut(passwords=methods.passwords, oidc=oidc, needs_setup=methods.needs_setup)


@operation(
    "POST",
    "/v1/auth/setup",
    public=True,
    status=201,
    body=SetUpIn,
    transaction=Transaction.NONE,
    refusals=(403,),
)
async def set_up(call: DetachedCall, body: SetUpIn) -> MeOut:
    """Become the first owner, with the token of the link that the service prints when it starts; signs in.

    Needs the header `X-Clarion: 1`, and to be sent by a page of this server.
    """
    return await _accept(call, LinkKind.SETUP, body, read_address(body.email))


@operation("POST", "/v1/auth/invitation", public=True, body=InvitationTokenIn, transaction=Transaction.NONE)
async def show_invitation(call: DetachedCall, body: InvitationTokenIn) -> InvitationDetailsOut:
    """Show what an invitation is for: who invites, to which organization, with which role."""

    async def find(db: Connection) -> InvitationDetailsOut:
        link = await find_valid_link(db, LinkKind.INVITATION, body.token, call.now, locks=False)
        organization = await find_organization(db, link.organization_id)
        if organization is None:
            raise Invalid.field("token", LINK_OVER)
        inviter = None if link.invited_by is None else await store.find_member(db, link.invited_by)
        return InvitationDetailsOut.of(link, organization, inviter)

    return await call.database.read(find)


@operation(
    "POST",
    "/v1/auth/invitation/accept",
    public=True,
    status=201,
    body=AcceptanceIn,
    transaction=Transaction.NONE,
    refusals=(403,),
)
async def accept_invitation(call: DetachedCall, body: AcceptanceIn) -> MeOut:
    """Become a member by an invitation; signs in.

    Needs the header `X-Clarion: 1`, and to be sent by a page of this server.
    """
    return await _accept(call, LinkKind.INVITATION, body)


@operation(
    "POST",
    "/v1/auth/reset-request",
    public=True,
    status=202,
    body=ResetRequestIn,
    transaction=Transaction.NONE,
    refusals=(403, 429),
)
async def request_reset(call: DetachedCall, body: ResetRequestIn) -> ResetRequestOut:
    """Ask for a link to set a new password; the answer is the same whether the address is that of a member or not."""
    require_passwords(call.services.settings)
    address = read_address(body.email)
    call.services.shared.get(ResetThrottle).admit(call.request.address, address)
    mail = call.services.shared.get(TeamMail)
    if not mail.is_configured:
        return ResetRequestOut(means=ResetMeans.ADMIN, message=_BY_ADMIN)
    # In the background, so that the time shows no more than the answer.
    mail.post(ResetRequest(address, call.request_id))
    return ResetRequestOut(means=ResetMeans.MAIL, message=_BY_MAIL)


@operation(
    "POST",
    "/v1/auth/reset",
    public=True,
    status=204,
    body=ResetIn,
    transaction=Transaction.NONE,
    refusals=(403, 503),
)
async def reset_by_link(call: DetachedCall, body: ResetIn) -> None:
    """Set a new password with the token of a link, which ends all sessions of the member."""
    require_passwords(call.services.settings)
    await _check_link(call, LinkKind.RESET, body.token)
    password = await _hash(call, body.password)

    async def reset(db: Connection) -> Member:
        link = await find_valid_link(db, LinkKind.RESET, body.token, call.now)
        return await reset_password(db, link, password, call.now, request_id=call.request_id)

    await call.database.transaction(reset)
    call.services.bus.publish(Signal.MEMBERS_CHANGED)


async def _accept(
    call: DetachedCall, kind: LinkKind, body: SetUpIn | AcceptanceIn, email: MemberAddress | None = None
) -> MeOut:
    require_sign_in_page(call)
    address = (await _check_link(call, kind, body.token)).email or email
    if address is None:
        raise Invalid.field("token", LINK_OVER)
    person = NewMember(email=address, name=str(body.name), password=await _hash_new(call, body.password))

    async def accept(db: Connection) -> Member:
        link: Link = await find_valid_link(db, kind, body.token, call.now)
        if kind is LinkKind.INVITATION:
            await require_free(db, address, link.organization_id, call.services.settings)
        return await accept_link(db, link, person, call.now, request_id=call.request_id)

    member = await begin_session(call, accept, means=f"{kind} link")
    return await call.database.read(lambda db: describe_member(db, member))


async def _check_link(call: DetachedCall, kind: LinkKind, token: str) -> Link:
    """Refuse a link that does not work before a password is hashed and the store is written to."""
    return await call.database.read(lambda db: find_valid_link(db, kind, token, call.now, locks=False))


async def _hash_new(call: DetachedCall, password: str | UnsetType) -> str | None:
    """The hash of the password that somebody chooses; None where members have none."""
    if not call.services.settings.passwords:
        if not isinstance(password, UnsetType):
            raise Invalid.field("password", "must be left out: passwords are switched off here")
        return None
    if isinstance(password, UnsetType):
        raise Invalid.field("password", "is required")
    return await _hash(call, password)


async def _hash(call: DetachedCall, password: str) -> str:
    if problem := find_password_problem(password):
        raise Invalid.field("password", problem)
    return await call.services.shared.get(Passwords).hash(password)
