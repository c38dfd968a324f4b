"""Managing members: invite, change roles, remove; within the rank of the one who does it.

A removed or demoted member must not come back through a link that they made: invitations end with the right to make
them.
"""

from collections.abc import Mapping
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from clarion.audit.model import Action, Author
from clarion.audit.recording import record, record_event
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import list_environments, lock_organization
from clarion.errors import Forbidden, Invalid, NotFound
from clarion.ids import EnvironmentId, MemberId, OrganizationId, id_text
from clarion.members import store
from clarion.members.actions import NewLink, NewMember, create_member, create_reset_link, get_member, insert_link
from clarion.members.model import Access, Link, LinkKind, Member, MemberAddress, TokenHash, find_excess
from clarion.vocabulary import Role, Scope

UNKNOWN_ENVIRONMENT = "names an environment that does not exist"


class Manager(Struct, frozen=True, kw_only=True):
    """Who manages the members of an organization, with which rank."""

    organization_id: OrganizationId
    access: Access
    author: Author
    """For the audit log."""
    member_id: MemberId | None = None
    """None: an API key, with the rank of an admin, or the command line, with that of an owner."""

    @classmethod
    def of(cls, member: Member, author: Author) -> Self:
        return cls(organization_id=member.organization_id, access=member.access, author=author, member_id=member.id)

    def require_rank(self, access: Access, verb: str) -> None:
        """Refuse what would let somebody reach beyond their own role through another member."""
        role = find_excess(self.access, access)
        if role is not None:
            article = "an" if role[0] in "ao" else "a"
            who = (
                "An API key has the rank of an admin and"
                if self.member_id is None
                else f"Your role '{self.access.role}'"
            )
            raise Forbidden(f"{who} cannot {verb} {article} {role}; ask an owner")


async def access_member(
    db: Connection, manager: Manager, member_id: MemberId, verb: str, *, of_self: bool = False
) -> Member:
    """Return a member of the team to be changed, locked until this unit of work ends.

    Raises NotFound if the organization has no such member, and Forbidden if the rank of the manager does not suffice;
    for themselves it has to only if `of_self`.
    """
    await lock_organization(db, manager.organization_id)
    member = await get_member(db, manager.organization_id, member_id, locks=True)
    if of_self or member.id != manager.member_id:
        manager.require_rank(member.access, verb)
    return member


async def invite(db: Connection, manager: Manager, email: MemberAddress, access: Access, now: Millis) -> NewLink:
    """Make a link by which somebody becomes a member, which replaces an earlier invitation."""
    manager.require_rank(access, "invite")
    member = await store.find_member_by_email(db, email)
    # Who is a member of another organization is not told to this one; they are told when they open the link.
    if member is not None and member.organization_id == manager.organization_id:
        raise Invalid.field("email", "belongs to a member already", email)
    organization_id = manager.organization_id
    await store.delete_invitations(db, organization_id, email)
    made = await insert_link(
        db, LinkKind.INVITATION, organization_id, now, email=email, access=access, invited_by=manager.member_id
    )
    await record(db, Action.INVITATION_CREATE, manager.author, now, after=made.record)
    return made


async def withdraw_invitation(db: Connection, manager: Manager, public_id: str, now: Millis) -> None:
    """Delete an invitation; raises NotFound if there is none of that id."""
    for link in await store.list_invitations(db, manager.organization_id, now):
        if link.public_id == public_id:
            manager.require_rank(link.access, "withdraw the invitation of")
            await _delete_invitation(db, manager, link, now)
            return
    raise NotFound("Invitation", public_id)


async def add_member(db: Connection, manager: Manager, person: NewMember, access: Access, now: Millis) -> Member:
    """Make a member without an invitation."""
    manager.require_rank(access, "add")
    member = await create_member(db, manager.organization_id, person, access, now)
    await record(db, Action.MEMBER_CREATE, manager.author, now, after=member)
    return member


async def change_access(db: Connection, manager: Manager, member_id: MemberId, access: Access, now: Millis) -> Member:
    """Give a member other roles; raises Forbidden beyond the manager's own, and Invalid if no owner would be left."""
    member = await access_member(db, manager, member_id, "change the role of", of_self=True)
    manager.require_rank(access, "make somebody")
    if access == member.access:
        return member
    changed = replace(member, role=access.role, environment_roles=access.environment_roles, updated_at=now)
    await _require_owners(db, member, changed)
    await store.update_member(db, changed)
    await record(db, Action.MEMBER_UPDATE, manager.author, now, before=member, after=changed)
    await _withdraw_invitations_of(db, manager, changed, now)
    return changed


async def remove_member(db: Connection, manager: Manager, member_id: MemberId, now: Millis) -> Member:
    """Delete a member, which ends their sessions, links and invitations at once."""
    member = await access_member(db, manager, member_id, "remove")
    await _require_owners(db, member, None)
    await store.delete_member(db, member.id)
    await store.delete_reset_links(db, member.email)
    await record(db, Action.MEMBER_DELETE, manager.author, now, before=member)
    await _withdraw_invitations_of(db, manager, replace(member, role=Role.VIEWER, environment_roles={}), now)
    return member


async def make_reset_link(db: Connection, manager: Manager, member_id: MemberId, now: Millis) -> NewLink:
    """Make a link by which a member sets a new password; whoever has it can sign in as them."""
    member = await access_member(db, manager, member_id, "make a link for", of_self=True)
    made = await create_reset_link(db, member, now)
    await record_event(db, Action.MEMBER_CREATE_RESET_LINK, member, manager.author, now)
    return made


async def revoke_sessions(db: Connection, manager: Manager, member_id: MemberId, now: Millis) -> Member:
    """End all sessions of a member."""
    member = await access_member(db, manager, member_id, "end the sessions of")
    await store.delete_other_sessions(db, member.id, TokenHash(b""))
    await record_event(db, Action.MEMBER_REVOKE_SESSIONS, member, manager.author, now)
    return member


async def read_access(
    db: Connection, organization_id: OrganizationId, role: Role, environment_roles: Mapping[EnvironmentId, Role | None]
) -> Access:
    """The access that a caller describes; raises Invalid if it names an environment of another organization."""
    known = {one.id for one in await list_environments(db, organization_id)} if environment_roles else set()
    for environment_id in environment_roles:
        if environment_id not in known:
            raise Invalid.field("environmentRoles", UNKNOWN_ENVIRONMENT, id_text(environment_id))
    return Access(role=role, environment_roles={one.hex(): given for one, given in environment_roles.items()})


async def _withdraw_invitations_of(db: Connection, manager: Manager, inviter: Member, now: Millis) -> None:
    """Delete the invitations that a member could not make any more."""
    for link in await store.list_invitations(db, inviter.organization_id, now):
        if link.invited_by == inviter.id and find_excess(inviter.access, link.access) is not None:
            await _delete_invitation(db, manager, link, now)


async def _delete_invitation(db: Connection, manager: Manager, link: Link, now: Millis) -> None:
    await store.delete_link(db, link.hash)
    await record(db, Action.INVITATION_DELETE, manager.author, now, before=link)


async def _require_owners(db: Connection, before: Member, after: Member | None) -> None:
    """Refuse a change of a member that would leave no owner, or none who manages some environment."""
    if not before.is_owner:
        return
    members = [one for one in await store.list_members(db, before.organization_id) if one.id != before.id]
    owners = [one for one in (*members, after) if one is not None and one.is_owner]
    if not owners:
        field = "memberId" if after is None else "role"
        raise Invalid.field(field, "is that of the only owner; make another member an owner first")
    for environment in await list_environments(db, before.organization_id):
        if not any(Scope.ENVIRONMENTS_WRITE in owner.scopes_in(environment.id) for owner in owners):
            field = "memberId" if after is None else "environmentRoles"
            raise Invalid.field(field, f"would leave no owner who manages the environment {environment.name}")
