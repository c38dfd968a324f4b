"""Shapes of the team: members, their roles, and invitations."""

from collections.abc import Callable
from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.errors import Invalid
from clarion.http.wire import DateTimeText, IdText, Wire, given
from clarion.ids import EnvironmentId, id_text
from clarion.members.model import Access, Link, Member, MemberEmailText, MemberSession
from clarion.vocabulary import Role

EnvironmentRoles = Annotated[dict[str, Role | None], Meta(max_length=1000)]
"""Roles by the id of the environment; null: no access there."""
CanEnter = Callable[[EnvironmentId], bool]


class TeamMemberOut(Wire):
    """A member, with what they may do."""

    id: str = field(name="_id")
    email: str
    name: str
    """The name that other members see."""
    role: Role
    environment_roles: dict[str, Role | None]
    has_password: bool
    sessions: int
    """The number of browsers that the member is signed in with."""
    last_seen_at: DateTimeText | UnsetType = UNSET
    """When one of them was last used; absent if there is none."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, member: Member, sessions: list[MemberSession], can_enter: CanEnter) -> Self:
        last = max((one.seen_at for one in sessions), default=None)
        return cls(
            id=id_text(member.id),
            email=member.email,
            name=member.name,
            role=member.role,
            environment_roles=show_roles(member.access, can_enter),
            has_password=member.password is not None,
            sessions=len(sessions),
            last_seen_at=UNSET if last is None else iso_text(last),
            created_at=iso_text(member.created_at),
            updated_at=iso_text(member.updated_at),
        )


class InviterOut(Wire):
    """The member who invites."""

    name: str
    """The name of the member who invited."""
    email: str
    """The e-mail address of the member who invited."""

    @classmethod
    def of(cls, member: Member | None) -> Self | None:
        return None if member is None else cls(name=member.name, email=member.email)


class InvitationOut(Wire):
    """An invitation that was not accepted yet."""

    id: str = field(name="_id")
    email: str
    """The e-mail address that was invited."""
    role: Role
    environment_roles: dict[str, Role | None]
    invited_by: InviterOut | UnsetType = UNSET
    created_at: DateTimeText
    expires_at: DateTimeText

    @classmethod
    def of(cls, link: Link, inviter: Member | None, can_enter: CanEnter) -> Self:
        return cls(
            id=link.public_id,
            email=link.email or "",
            role=link.access.role,
            environment_roles=show_roles(link.access, can_enter),
            invited_by=given(InviterOut.of(inviter)),
            created_at=iso_text(link.created_at),
            expires_at=iso_text(link.expires_at),
        )


class LinkOut(Wire):
    """A link, which is shown only here; it works once, until `expiresAt`."""

    link: str
    """The link, which works once; shown here and never again."""
    expires_at: DateTimeText


class NewInvitationOut(Wire):
    """An invitation; `mailed` if its link is mailed to the person. Otherwise `link` is shown, only here."""

    invitation: InvitationOut
    """What is stored of the invitation."""
    link: str | UnsetType = UNSET
    """The link to accept it with, which works once; shown here and never again, and absent if it is mailed."""
    mailed: bool
    """Whether the link is mailed to the person, and to nobody else."""


class InvitationIn(Wire):
    """Who is invited; without `environmentRoles` the role is the same in all environments."""

    email: MemberEmailText
    """Who is invited."""
    role: Role
    environment_roles: EnvironmentRoles | UnsetType = UNSET


class MemberPatch(Wire):
    """`environmentRoles` is replaced whole."""

    role: Role | UnsetType = UNSET
    environment_roles: EnvironmentRoles | UnsetType = UNSET


def roles_of(roles: EnvironmentRoles | UnsetType) -> dict[EnvironmentId, Role | None]:
    """The roles by id; raises Invalid for names that are none."""
    if isinstance(roles, UnsetType):
        return {}
    for name in roles:
        if not IdText.accepts(name):
            raise Invalid.field("environmentRoles", "must have the ids of environments as names", name)
    return {EnvironmentId(IdText(name).id): role for name, role in roles.items()}


def show_roles(access: Access, can_enter: CanEnter = lambda _: True) -> dict[str, Role | None]:
    """Roles by the ids of environments, without those that the reader cannot enter and so does not know of."""
    found = ((EnvironmentId(bytes.fromhex(one)), role) for one, role in access.environment_roles.items())
    return {id_text(one): role for one, role in found if can_enter(one)}
