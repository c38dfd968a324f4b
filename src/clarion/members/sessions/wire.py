"""Shapes of signing in, and of what members see of themselves."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.environments.model import Environment, Organization
from clarion.environments.wire import EnvironmentType
from clarion.http.wire import DateTimeText, NameText, Wire, given, one_of
from clarion.ids import EnvironmentId, id_text
from clarion.members.model import Member, MemberSession
from clarion.vocabulary import Role, Scope

Password = str
"""Not limited by its type: errors of types repeat the value."""


class PersonName(NameText):
    __slots__ = ()
    EXAMPLE = "Ada Lovelace"


class SignInIn(Wire):
    email: Annotated[str, Meta(min_length=1, max_length=320)]
    """The e-mail address of the member."""
    password: Password
    """The password of the member."""


class OwnMemberPatch(Wire):
    name: PersonName | UnsetType = UNSET
    """The name that other members see."""


class PasswordChangeIn(Wire):
    current_password: Password
    """The password that is valid now."""
    new_password: Password
    """The new one, of 12 characters or more; other sessions of the member end."""


class OwnMemberOut(Wire):
    id: str = field(name="_id")
    email: str
    name: str
    """The name that other members see."""
    role: Role
    has_password: bool
    created_at: DateTimeText

    @classmethod
    def of(cls, member: Member) -> Self:
        return cls(
            id=id_text(member.id),
            email=member.email,
            name=member.name,
            role=member.role,
            has_password=member.password is not None,
            created_at=iso_text(member.created_at),
        )


class OwnOrganizationOut(Wire):
    id: str = field(name="_id")
    name: str
    """The name of the organization."""


class OpenEnvironmentOut(Wire):
    """An environment that the member can enter, with the role in it and what that allows."""

    id: str = field(name="_id")
    name: str
    """What people call the environment."""
    type: Annotated[str, one_of(EnvironmentType)]
    """Whether it is for development or production."""
    identifier: str
    """The public identifier, by which inboxes name the environment."""
    color: str | UnsetType = UNSET
    role: Role
    """The role of the member in this environment."""
    scopes: list[Scope]
    """What the member may do in this environment."""

    @classmethod
    def of(cls, environment: Environment, role: Role, scopes: frozenset[Scope]) -> Self:
        return cls(
            id=id_text(environment.id),
            name=environment.name,
            type=environment.kind,
            identifier=environment.identifier,
            color=given(environment.options.color),
            role=role,
            scopes=sorted(scopes),
        )


class MeOut(Wire):
    """Who is signed in, and where they may do what."""

    member: OwnMemberOut
    """The member who is signed in."""
    organization: OwnOrganizationOut
    """The organization of the member."""
    environments: list[OpenEnvironmentOut]
    """The environments that the member can enter."""

    @classmethod
    def of(cls, member: Member, organization: Organization, environments: Sequence[Environment]) -> Self:
        roles: Mapping[EnvironmentId, Role | None] = {
            environment.id: member.role_in(environment.id) for environment in environments
        }
        return cls(
            member=OwnMemberOut.of(member),
            organization=OwnOrganizationOut(id=id_text(organization.id), name=organization.name),
            environments=[
                OpenEnvironmentOut.of(environment, role, member.scopes_in(environment.id))
                for environment in environments
                if (role := roles[environment.id]) is not None
            ],
        )


class MemberSessionOut(Wire):
    """A browser that the member is signed in with."""

    id: str
    """The id of the session, not its token."""
    device: str
    """A guess of the browser and the system, from `userAgent`."""
    user_agent: str | UnsetType = UNSET
    """What the browser said it was."""
    address: str | UnsetType = UNSET
    """The IP address that the member signed in from."""
    created_at: DateTimeText
    """When the member signed in."""
    seen_at: DateTimeText
    """When the session was last used."""
    expires_at: DateTimeText
    """When the session ends, if it is not used before."""
    current: bool
    """Whether it is the session of this request."""

    @classmethod
    def of(cls, session: MemberSession, own: bytes) -> Self:
        return cls(
            id=session.public_id,
            device=describe_device(session.user_agent),
            user_agent=given(session.user_agent),
            address=given(session.address),
            created_at=iso_text(session.created_at),
            seen_at=iso_text(session.seen_at),
            expires_at=iso_text(session.ends_at),
            current=session.hash == own,
        )


_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""In this order: browsers name those that they are compatible with, too."""
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def describe_device(user_agent: str | None) -> str:
    """Return a text such as "Firefox on Linux"; of what is no browser, the name that it gives itself."""
    if not user_agent:
        return "Unknown device"
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), None)
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    if browser is None:
        return user_agent.partition(" ")[0].partition("/")[0]
    return browser if system is None else f"{browser} on {system}"
