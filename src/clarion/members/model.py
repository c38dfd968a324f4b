"""Members as records, and the rules of addresses, roles, sessions and links."""

import hashlib
import secrets
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.errors import Invalid
from clarion.http.wire import EmailText
from clarion.ids import EnvironmentId, MemberId, OrganizationId
from clarion.vocabulary import Role, Scope

MemberAddress = NewType("MemberAddress", str)
TokenHash = NewType("TokenHash", bytes)

MAX_IDLE = Millis(12 * HOUR)
"""A session ends when it was not used for this long."""
MAX_AGE = Millis(14 * DAY)
"""A session ends this long after it began, however much it is used."""
SEEN_EVERY = Millis(MINUTE)
"""How precisely the last use of a session is stored."""
MAX_SESSIONS = 100
"""Of one member; a further one ends the one that was not used for longest."""
MAX_RESET_LINKS = 5
"""Of one member that work at the same time."""
MIN_PASSWORD = 12
MAX_PASSWORD = 1_000


class MemberEmailText(EmailText):
    """The one rule by which addresses of members are accepted: ASCII, compared in lower case.

    Other characters are refused, not folded: several of them become, or look like, the letters of somebody else's
    address, as the Kelvin sign becomes a `k`.
    """

    __slots__ = ()
    RULE = "must be an e-mail address of ASCII letters, digits and signs such as ada@example.com"

    @classmethod
    def accepts(cls, text: str) -> bool:
        return text.isascii() and super().accepts(text)


def find_address(text: str) -> MemberAddress | None:
    """Return the address as it is stored; None if no member can have it."""
    return MemberAddress(text.lower()) if MemberEmailText.accepts(text) else None


def read_address(text: str) -> MemberAddress:
    """Return the address as it is stored; raises Invalid if no member can have it."""
    address = find_address(text)
    if address is None:
        raise Invalid.field("email", MemberEmailText.RULE, text)
    return address


def domain_of(address: MemberAddress) -> str:
    return address.rpartition("@")[2]


class LinkKind(StrEnum):
    """What a link is for; each works once."""

    SETUP = "setup"
    """Makes the first owner of an organization."""
    INVITATION = "invitation"
    RESET = "reset"
    """Sets a new password."""


LIFETIMES = {LinkKind.SETUP: Millis(30 * MINUTE), LinkKind.INVITATION: Millis(7 * DAY), LinkKind.RESET: Millis(HOUR)}

# Secrets of integrations are for servers: no role has INTEGRATIONS_SECRETS.
_VIEWER = frozenset(scope for scope in Scope if scope.endswith(":read"))
_AUTHOR = _VIEWER | {
    Scope.SUBSCRIBERS_WRITE,
    Scope.TOPICS_WRITE,
    Scope.SEGMENTS_WRITE,
    Scope.CONTEXTS_WRITE,
    Scope.WORKFLOWS_WRITE,
    Scope.PREFERENCES_WRITE,
    Scope.MESSAGES_WRITE,
    Scope.EVENTS_WRITE,
    Scope.SCHEDULES_WRITE,
}
_ADMIN = _AUTHOR | {
    Scope.INTEGRATIONS_WRITE,
    Scope.WEBHOOKS_WRITE,
    Scope.ENVIRONMENTS_WRITE,
    Scope.MEMBERS_WRITE,
}
SCOPES: dict[Role, frozenset[Scope]] = {
    Role.VIEWER: _VIEWER,
    Role.AUTHOR: _AUTHOR,
    Role.ADMIN: _ADMIN,
    Role.OWNER: _ADMIN,
}
_OF_ORGANIZATION = frozenset({Scope.MEMBERS_READ, Scope.MEMBERS_WRITE})
"""Scopes that reach beyond one environment: they come from the role in general."""


class Access(Struct, frozen=True, kw_only=True):
    """A role, and those of single environments by id; None: no access there."""

    role: Role
    environment_roles: dict[str, Role | None] = {}

    @property
    def highest(self) -> Role:
        given = [self.role, *(role for role in self.environment_roles.values() if role is not None)]
        return max(given, key=_rank)

    def at(self, environment_id: str | None) -> Role | None:
        """The role in an environment; without one, that of those which are not named."""
        return self.role if environment_id is None else self.environment_roles.get(environment_id, self.role)


class Member(Struct, frozen=True, kw_only=True):
    id: MemberId
    organization_id: OrganizationId
    email: MemberAddress
    name: str
    role: Role
    """In the environments that have no role of their own in `environment_roles`."""
    environment_roles: dict[str, Role | None]
    """By the id of the environment; None: no access."""
    password: str | None
    """As the PHC string of its hash; None: the member signs in by other means."""
    created_at: Millis
    updated_at: Millis

    @property
    def access(self) -> Access:
        return Access(role=self.role, environment_roles=self.environment_roles)

    def role_in(self, environment_id: EnvironmentId) -> Role | None:
        """The role in an environment; None if the member has no access to it."""
        return self.environment_roles.get(environment_id.hex(), self.role)

    @property
    def is_owner(self) -> bool:
        """Whether the member is an owner of the organization, not only of an environment."""
        return self.role is Role.OWNER

    def scopes_in(self, environment_id: EnvironmentId) -> frozenset[Scope]:
        """What the member may do in an environment."""
        role = self.role_in(environment_id)
        if role is None:
            return frozenset()
        of_organization = SCOPES[self.role] & _OF_ORGANIZATION
        if self._is_limited:
            of_organization -= {Scope.MEMBERS_WRITE}
        return (SCOPES[role] - _OF_ORGANIZATION) | of_organization

    @property
    def _is_limited(self) -> bool:
        """Whether an admin may do less somewhere: an API key of theirs could otherwise let them in there."""
        return not self.is_owner and any(_rank(one) < _rank(self.role) for one in self.environment_roles.values())


class MemberSession(Struct, frozen=True, kw_only=True):
    hash: TokenHash
    member_id: MemberId
    created_at: Millis
    seen_at: Millis
    user_agent: str | None
    address: str | None

    @property
    def ends_at(self) -> Millis:
        """When the session is over, unless it is used before."""
        return Millis(min(self.seen_at + MAX_IDLE, self.created_at + MAX_AGE))

    def is_over(self, now: Millis) -> bool:
        return now >= self.ends_at

    @property
    def public_id(self) -> str:
        """Names the session in lists; it cannot be used as one."""
        return _public_id(self.hash)


class Link(Struct, frozen=True, kw_only=True):
    hash: TokenHash
    kind: LinkKind
    organization_id: OrganizationId
    email: MemberAddress | None
    role: Role | None
    environment_roles: dict[str, Role | None]
    invited_by: MemberId | None
    created_at: Millis
    expires_at: Millis

    @property
    def access(self) -> Access:
        """What the person gets who uses the link."""
        return Access(role=self.role or Role.VIEWER, environment_roles=self.environment_roles)

    @property
    def public_id(self) -> str:
        """Names an invitation in lists; it cannot be used as its token."""
        return _public_id(self.hash)

    def is_over(self, now: Millis) -> bool:
        return now >= self.expires_at


def make_token() -> str:
    """Generate a secret of 256 random bits, for a session or a link."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> TokenHash:
    """Hash a token for storage; tokens are long and random, so a fast hash is enough."""
    return TokenHash(hashlib.sha256(token.encode()).digest())


def _public_id(token_hash: TokenHash) -> str:
    return hashlib.sha256(token_hash).hexdigest()[:32]


def find_excess(actor: Access, other: Access) -> Role | None:
    """Return a role that keeps a member from giving or taking away the other's access; None if nothing does.

    Owners manage all members. Admins manage those who may do no more than they themselves in any environment.
    """
    if actor.role is Role.OWNER:
        return None
    if actor.role is not Role.ADMIN:
        return other.highest
    places = [None, *actor.environment_roles, *other.environment_roles]
    return next((other.at(one) for one in places if _rank(other.at(one)) > _rank(actor.at(one))), None)


def _rank(role: Role | None) -> int:
    return -1 if role is None else list(Role).index(role)
