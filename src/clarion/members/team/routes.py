"""The team: list members and invitations, invite, change roles, remove."""

from msgspec import UNSET, UnsetType

from clarion.audit.recording import author_of
from clarion.bus import Signal
from clarion.clock import iso_text
from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.ids import EnvironmentId, MemberId, id_text
from clarion.members import store
from clarion.members.actions import get_member, link_url
from clarion.members.links.mailing import Invitation, TeamMail
from clarion.members.model import Access, Member, read_address
from clarion.members.sessions.passwords import require_passwords
from clarion.members.team import managing
from clarion.members.team.managing import UNKNOWN_ENVIRONMENT, Manager, read_access
from clarion.members.team.wire import (
    EnvironmentRoles,
    InvitationIn,
    InvitationOut,
    LinkOut,
    MemberPatch,
    NewInvitationOut,
    TeamMemberOut,
    roles_of,
)
from clarion.vocabulary import Role, Scope


@operation("GET", "/v1/members", scope=Scope.MEMBERS_READ)
async def list_members(call: Call) -> list[TeamMemberOut]:
    """List the members of the organization, oldest first."""
    sessions = await store.list_organization_sessions(call.db, call.organization_id, call.now)
    members = await store.list_members(call.db, call.organization_id)
    return [TeamMemberOut.of(one, sessions.get(one.id, []), call.caller.can_enter) for one in members]


@operation("GET", "/v1/members/invitations", scope=Scope.MEMBERS_READ)
async def list_invitations(call: Call) -> list[InvitationOut]:
    """List the invitations that were neither accepted nor withdrawn and still work, oldest first."""
    members = {one.id: one for one in await store.list_members(call.db, call.organization_id)}
    invitations = await store.list_invitations(call.db, call.organization_id, call.now)
    inviters = [members.get(link.invited_by) if link.invited_by else None for link in invitations]
    can_enter = call.caller.can_enter
    return [InvitationOut.of(link, inviter, can_enter) for link, inviter in zip(invitations, inviters, strict=True)]


@operation("POST", "/v1/members/invitations", scope=Scope.MEMBERS_WRITE, status=201, body=InvitationIn)
async def create_invitation(call: Call, body: InvitationIn) -> NewInvitationOut:
    """Invite somebody by a link that works once, within seven days.

    If the installation can send mail (`CLARION_MAIL_URL`), the link is mailed, and nobody else sees it: that somebody
    opens it proves their address. If it cannot, the answer has the link. Inviting an address again replaces the
    invitation before. Nobody can give more rights than they have themselves, and API keys have those of
    an admin.
    """
    manager = await _get_manager(call)
    access = await read_access(call.db, call.organization_id, body.role, _read_roles(call, body.environment_roles))
    made = await managing.invite(call.db, manager, read_address(body.email), access, call.now)
    inviter = None if manager.member_id is None else await get_member(call.db, call.organization_id, manager.member_id)
    mail, url = call.services.shared.get(TeamMail), link_url(call.services.settings, made)
    if mail.is_configured:
        call.after_commit.append(lambda: mail.post(Invitation(made.record, url, inviter)))
    shown = InvitationOut.of(made.record, inviter, call.caller.can_enter)
    return NewInvitationOut(invitation=shown, link=UNSET if mail.is_configured else url, mailed=mail.is_configured)


@operation("DELETE", "/v1/members/invitations/{invitationId}", scope=Scope.MEMBERS_WRITE, status=204)
async def delete_invitation(call: Call, invitation_id: str) -> None:
    """Withdraw an invitation; its link does not work any more."""
    await managing.withdraw_invitation(call.db, await _get_manager(call), invitation_id, call.now)


@operation("GET", "/v1/members/{memberId}", scope=Scope.MEMBERS_READ)
async def retrieve_member(call: Call, member_id: MemberId) -> TeamMemberOut:
    """Show a member of the organization."""
    return await _show(call, await get_member(call.db, call.organization_id, member_id))


@operation("PATCH", "/v1/members/{memberId}", scope=Scope.MEMBERS_WRITE, body=MemberPatch)
async def update_member(call: Call, member_id: MemberId, body: MemberPatch) -> TeamMemberOut:
    """Change the role of a member, in general or in single environments; the last owner stays one."""
    member = await get_member(call.db, call.organization_id, member_id, locks=True)
    access = await _read_patch(call, member, body)
    changed = await managing.change_access(call.db, await _get_manager(call), member_id, access, call.now)
    _announce(call)
    return await _show(call, changed)


@operation("DELETE", "/v1/members/{memberId}", scope=Scope.MEMBERS_WRITE, status=204)
async def delete_member(call: Call, member_id: MemberId) -> None:
    """Remove a member; their sessions end at once, and so do invitations that they made."""
    await managing.remove_member(call.db, await _get_manager(call), member_id, call.now)
    _announce(call)


@operation("POST", "/v1/members/{memberId}/reset-link", scope=Scope.MEMBERS_WRITE, status=201)
async def create_reset_link(call: Call, member_id: MemberId) -> LinkOut:
    """Make a link by which a member sets a new password; it works once, within an hour.

    Give it to the member only: whoever opens it can sign in as them.
    """
    require_passwords(call.services.settings)
    made = await managing.make_reset_link(call.db, await _get_manager(call), member_id, call.now)
    return LinkOut(link=link_url(call.services.settings, made), expires_at=iso_text(made.record.expires_at))


@operation("DELETE", "/v1/members/{memberId}/sessions", scope=Scope.MEMBERS_WRITE, status=204)
async def revoke_member_sessions(call: Call, member_id: MemberId) -> None:
    """Sign a member out everywhere."""
    await managing.revoke_sessions(call.db, await _get_manager(call), member_id, call.now)
    _announce(call)


async def _get_manager(call: Call) -> Manager:
    """Who makes the request, with their rank in the organization; their role in one environment does not count."""
    caller = call.caller.member
    if caller is None:
        access = Access(role=Role.ADMIN)
        return Manager(organization_id=call.organization_id, access=access, author=author_of(call))
    return Manager.of(await get_member(call.db, call.organization_id, caller.id), author_of(call))


async def _read_patch(call: Call, member: Member, body: MemberPatch) -> Access:
    if isinstance(body.role, UnsetType) and isinstance(body.environment_roles, UnsetType):
        raise Invalid.field("body", "must have at least one of role, environmentRoles")
    role = member.role if isinstance(body.role, UnsetType) else body.role
    if isinstance(body.environment_roles, UnsetType):
        return Access(role=role, environment_roles=member.environment_roles)
    changed = await read_access(call.db, call.organization_id, role, _read_roles(call, body.environment_roles))
    # Those that the caller does not know of stay as they are.
    hidden = {one: given for one, given in member.environment_roles.items() if not _can_enter(call, one)}
    return Access(role=role, environment_roles=hidden | changed.environment_roles)


def _read_roles(call: Call, roles: EnvironmentRoles | UnsetType) -> dict[EnvironmentId, Role | None]:
    """The roles by environment; raises Invalid for one that the caller does not know of."""
    by_environment = roles_of(roles)
    for environment_id in by_environment:
        if not call.caller.can_enter(environment_id):
            raise Invalid.field("environmentRoles", UNKNOWN_ENVIRONMENT, id_text(environment_id))
    return by_environment


def _can_enter(call: Call, environment: str) -> bool:
    return call.caller.can_enter(EnvironmentId(bytes.fromhex(environment)))


async def _show(call: Call, member: Member) -> TeamMemberOut:
    sessions = await store.list_sessions(call.db, member.id)
    return TeamMemberOut.of(member, [one for one in sessions if not one.is_over(call.now)], call.caller.can_enter)


def _announce(call: Call) -> None:
    call.after_commit.append(lambda: call.services.bus.publish(Signal.MEMBERS_CHANGED))
