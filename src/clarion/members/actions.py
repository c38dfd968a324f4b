"""How people get in: by a link, or as a member who is known; for the API and the command line."""

import logging

from msgspec import Struct
from msgspec.structs import replace

from clarion.audit.model import Action
from clarion.audit.recording import author_of_member, record
from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.environments.store import list_environments, lock_organization
from clarion.errors import Invalid, NotFound, StoreUnavailable
from clarion.ids import MemberId, OrganizationId, id_text, new_id
from clarion.members import store
from clarion.members.model import (
    LIFETIMES,
    MAX_RESET_LINKS,
    Access,
    Link,
    LinkKind,
    Member,
    MemberAddress,
    MemberSession,
    TokenHash,
    domain_of,
    hash_token,
    make_token,
)
from clarion.settings.addresses import local_address
from clarion.settings.model import Settings
from clarion.vocabulary import Role

LINK_OVER = "This link is not valid any more: it was used, or is too old; ask for a new one"
_MEMBER_ALREADY = "is for somebody who is a member already: sign in"
_MEMBER_ELSEWHERE = (
    "is for somebody who is a member of another organization here, and nobody can be one of two: ask its admins to "
    "remove you, then open this link again"
)
_HOME_ELSEWHERE = (
    "is for an address of a domain whose people belong to another organization here: sign in with the provider instead"
)
_PAGES = {
    LinkKind.SETUP: "/dashboard/setup",
    LinkKind.INVITATION: "/dashboard/invitation",
    LinkKind.RESET: "/dashboard/reset",
}

log = logging.getLogger(__name__)


class NewLink(Struct, frozen=True):
    """A link and its token, which is shown once."""

    record: Link
    token: str


class NewSession(Struct, frozen=True):
    """A session and its token, which only the cookie has."""

    record: MemberSession
    token: str


class Device(Struct, frozen=True, kw_only=True):
    """What a session is recognized by in lists."""

    user_agent: str | None = None
    address: str | None = None


class NewMember(Struct, frozen=True, kw_only=True):
    """What a person says of themselves when they become a member."""

    email: MemberAddress
    name: str
    password: str | None
    """As the PHC string of its hash."""


async def create_setup_link(db: Connection, organization_id: OrganizationId, now: Millis) -> NewLink | None:
    """Make the link for the first owner, which replaces an earlier one; None if the organization has an owner."""
    # Of several processes that start at the same time, the last one's link is the one that works.
    await lock_organization(db, organization_id)
    # The deletion waits for a request that uses the earlier link, so the owner is looked for after it.
    await store.delete_setup_links(db, organization_id)
    if await store.has_owner(db, organization_id):
        return None
    return await insert_link(db, LinkKind.SETUP, organization_id, now, access=Access(role=Role.OWNER))


async def create_reset_link(db: Connection, member: Member, now: Millis) -> NewLink:
    """Make a link that sets a member's password. Earlier ones work on, the oldest of too many excepted."""
    open_links = await store.list_reset_links(db, member.email, now)
    for link in open_links[: max(0, len(open_links) + 1 - MAX_RESET_LINKS)]:
        await store.delete_link(db, link.hash)
    return await insert_link(db, LinkKind.RESET, member.organization_id, now, email=member.email)


async def find_valid_link(db: Connection, kind: LinkKind, token: str, now: Millis, *, locks: bool = True) -> Link:
    """Return what a link is for; raises Invalid if it cannot be used, for whatever reason."""
    link = await store.find_link(db, hash_token(token), locks=locks)
    if link is None or link.kind is not kind or link.is_over(now):
        raise Invalid.field("token", LINK_OVER)
    return link


async def accept_link(
    db: Connection, link: Link, person: NewMember, now: Millis, *, request_id: str | None = None
) -> Member:
    """Make the member that a set-up link or an invitation is for; the link is used up."""
    await store.delete_link(db, link.hash)
    if link.kind is LinkKind.SETUP and await store.has_owner(db, link.organization_id):
        raise Invalid.field("token", LINK_OVER)
    # An invitation is for its address: the link proves it, whatever the body says.
    email = link.email or person.email
    member = await create_member(db, link.organization_id, replace(person, email=email), link.access, now)
    await record(db, Action.MEMBER_CREATE, author_of_member(member, request_id), now, after=member)
    return member


async def create_member(
    db: Connection, organization_id: OrganizationId, person: NewMember, access: Access, now: Millis
) -> Member:
    """Insert a member, and delete the invitation of the same address; the caller records it."""
    member = Member(
        id=MemberId(new_id(now)),
        organization_id=organization_id,
        email=person.email,
        name=person.name,
        role=access.role,
        environment_roles=access.environment_roles,
        password=person.password,
        created_at=now,
        updated_at=now,
    )
    if not await store.insert_member(db, member):
        raise Invalid.field("email", "belongs to a member already", person.email)
    await store.delete_invitations(db, organization_id, member.email)
    return member


async def reset_password(
    db: Connection, link: Link, password: str, now: Millis, *, request_id: str | None = None
) -> Member:
    """Set the password of the member that the link is for, and end all their sessions and all such links."""
    found = None if link.email is None else await store.find_member_by_email(db, link.email)
    member = None if found is None else await store.lock_member(db, found.id)
    if member is None or member.organization_id != link.organization_id:
        raise Invalid.field("token", LINK_OVER)
    changed = replace(member, password=password, updated_at=now)
    await store.update_member(db, changed)
    await store.delete_reset_links(db, member.email)
    await store.delete_other_sessions(db, member.id, TokenHash(b""))
    author = author_of_member(member, request_id)
    await record(db, Action.MEMBER_RESET_PASSWORD, author, now, before=member, after=changed)
    return changed


async def begin_session(db: Connection, member: Member, device: Device, now: Millis) -> NewSession:
    token = make_token()
    session = MemberSession(
        hash=hash_token(token),
        member_id=member.id,
        created_at=now,
        seen_at=now,
        user_agent=device.user_agent,
        address=device.address,
    )
    await store.insert_session(db, session)
    return NewSession(session, token)


async def get_member(
    db: Connection, organization_id: OrganizationId, member_id: MemberId, *, locks: bool = False
) -> Member:
    """Return a member of an organization; `locks` it to change it."""
    member = await (store.lock_member if locks else store.find_member)(db, member_id)
    if member is None or member.organization_id != organization_id:
        raise NotFound("Member", id_text(member_id))
    return member


async def insert_link(  # noqa: PLR0913 - what a link is made of
    db: Connection,
    kind: LinkKind,
    organization_id: OrganizationId,
    now: Millis,
    *,
    email: MemberAddress | None = None,
    access: Access | None = None,
    invited_by: MemberId | None = None,
) -> NewLink:
    """Make a link with a new token, and store it without the token."""
    token = make_token()
    link = Link(
        hash=hash_token(token),
        kind=kind,
        organization_id=organization_id,
        email=email,
        role=None if access is None else access.role,
        environment_roles={} if access is None else access.environment_roles,
        invited_by=invited_by,
        created_at=now,
        expires_at=Millis(now + LIFETIMES[kind]),
    )
    await store.insert_link(db, link)
    return NewLink(link, token)


async def find_home(db: Connection, address: MemberAddress, settings: Settings) -> OrganizationId | None:
    """Return the organization that people of the address's domain belong to; None if the domain has no role.

    A member belongs to one organization at a time, and people of a domain with a role (`CLARION_OIDC_DOMAINS`) belong
    to the first one. Others may invite them all the same, and learn nothing: only the person who opens the link does.
    """
    if domain_of(address) not in dict(settings.oidc_domains):
        return None
    environments = await list_environments(db)
    return environments[0].organization_id if environments else None


async def require_free(
    db: Connection, address: MemberAddress, organization_id: OrganizationId, settings: Settings
) -> None:
    """Raise Invalid, with the reason for the person, if they cannot accept the invitation of an organization."""
    member = await store.find_member_by_email(db, address)
    if member is not None:
        is_own = member.organization_id == organization_id
        raise Invalid.field("token", _MEMBER_ALREADY if is_own else _MEMBER_ELSEWHERE)
    if await find_home(db, address, settings) not in (None, organization_id):
        raise Invalid.field("token", _HOME_ELSEWHERE)


def link_url(settings: Settings, link: NewLink) -> str:
    """The address of a link. The token is in the fragment, which browsers do not send: no log of a server has it."""
    return f"{base_url(settings)}{_PAGES[link.record.kind]}#{link.token}"


def base_url(settings: Settings) -> str:
    """The address of this service for people: that of the settings, never one that a request claims."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    return local_address(settings.host, settings.port)


async def make_setup_url(database: Database, settings: Settings, now: Millis) -> str | None:
    """The address where the first owner signs up, new each time; None if there are members already."""

    async def make(db: Connection) -> NewLink | None:
        environments = await list_environments(db)
        return await create_setup_link(db, environments[0].organization_id, now) if environments else None

    try:
        link = await database.transaction(make)
    except StoreUnavailable as error:
        # A store that is read-only for now is served for reading.
        log.warning("No set-up link", extra={"error": str(error)})
        return None
    return None if link is None else link_url(settings, link)
