"""Shapes of getting in: by a set-up link, an invitation, a link for a new password, or another provider."""

from enum import StrEnum
from typing import Self

from msgspec import UNSET, UnsetType

from clarion.clock import iso_text
from clarion.environments.model import Organization
from clarion.http.wire import DateTimeText, Wire, given
from clarion.members.model import Link, Member, MemberEmailText
from clarion.members.sessions.wire import Password, PersonName
from clarion.members.team.wire import InviterOut, show_roles
from clarion.vocabulary import Role

Token = str
"""Of a link. Not limited by its type: errors of types repeat the value."""


class SetUpIn(Wire):
    """The first owner."""

    token: Token
    email: MemberEmailText
    """The e-mail address of the first owner."""
    name: PersonName
    """The name that other members see."""
    password: Password | UnsetType = UNSET
    """The password, of 12 characters or more; left out where passwords are off."""


class InvitationTokenIn(Wire):
    token: Token


class InvitationDetailsOut(Wire):
    """What an invitation is for."""

    organization: str
    """The name of the organization."""
    email: str
    """The e-mail address that was invited."""
    role: Role
    environment_roles: dict[str, Role | None]
    invited_by: InviterOut | UnsetType = UNSET
    expires_at: DateTimeText

    @classmethod
    def of(cls, link: Link, organization: Organization, inviter: Member | None) -> Self:
        return cls(
            organization=organization.name,
            email=link.email or "",
            role=link.access.role,
            environment_roles=show_roles(link.access),
            invited_by=given(InviterOut.of(inviter)),
            expires_at=iso_text(link.expires_at),
        )


class AcceptanceIn(Wire):
    token: Token
    name: PersonName
    """The name that other members see."""
    password: Password | UnsetType = UNSET
    """The password, of 12 characters or more; left out where passwords are off."""


class ResetRequestIn(Wire):
    email: MemberEmailText
    """The e-mail address of the member."""


class ResetMeans(StrEnum):
    """How a member gets the link for a new password."""

    MAIL = "mail"
    ADMIN = "admin"
    """The installation cannot send mail: an admin or the operator makes the link."""


class ResetRequestOut(Wire):
    """The same for every address: it does not show who is a member."""

    means: ResetMeans
    """How the member gets the link."""
    message: str
    """What happens now, in words."""


class ResetIn(Wire):
    token: Token
    password: Password
    """The new password, of 12 characters or more."""


class OidcMethodOut(Wire):
    """Open `url` in the browser to sign in with the provider; add `?returnTo=/path` to come back to a page."""

    issuer: str
    """The provider, by the URL of its issuer."""
    url: str
    """The path that a browser opens to sign in."""


class SignInMethodsOut(Wire):
    """What a sign-in page may show; `needsSetup` while there is no owner: the service prints a link at its start."""

    passwords: bool
    """Whether members can sign in with a password."""
    oidc: OidcMethodOut | UnsetType = UNSET
    """Signing in with another provider; absent if none is set up."""
    needs_setup: bool
    """Whether there are no members yet."""
