"""Who makes a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import Forbidden
from clarion.ids import ApiKeyId, EnvironmentId, MemberId, OrganizationId, SubscriberId
from clarion.vocabulary import GIVEN_BY_NAME, Role, Scope


class SubscriberSession(Struct, frozen=True, kw_only=True):
    """What the token of a subscriber's session says; whether it still holds is checked with the subscriber's row."""

    subscriber_id: SubscriberId
    epoch: int
    """The session epoch of the environment when the session began."""
    context_keys: tuple[str, ...] = ()
    """The contexts of the session as `type:id`, sorted."""
    is_proven: bool = False
    """Whether a hash proved who the subscriber is."""


class CallingMember(Struct, frozen=True, kw_only=True):
    """The member of a team who makes a request, signed in with a session."""

    id: MemberId
    email: str
    name: str
    role: Role
    """In the environment of the request; in general if the request has none."""
    is_owner: bool
    """Whether the member is an owner of the organization, whatever the environment."""
    access: Mapping[EnvironmentId, frozenset[Scope]]
    """What the member may do in each environment that they can enter."""
    session: bytes
    """The hash that names the session of the request."""


@dataclass(frozen=True)
class Caller:
    """Who is calling, and for which environment: an API key, a subscriber with a session, or a member."""

    environment_id: EnvironmentId
    organization_id: OrganizationId
    key_id: ApiKeyId
    scopes: frozenset[Scope]
    expires_at: Millis | None = None
    key_name: str | None = None
    session: SubscriberSession | None = None
    member: CallingMember | None = None
    """A signed-in member; `scopes` are then those of their role, and `key_id` is the id of the member."""

    @cached_property
    def rights_text(self) -> bytes:
        """What the caller may do, and until when."""
        if self.session is not None:
            session = self.session
            contexts = (key.encode() for key in session.context_keys)
            proven = (b"proven",) if session.is_proven else ()
            return b"\x00".join((session.subscriber_id, str(session.epoch).encode(), *contexts, *proven))
        if self.member is not None:
            return b"\x00".join((b"member", self.member.id, self.member.role.encode()))
        return " ".join((*sorted(self.scopes), *([] if self.expires_at is None else [str(self.expires_at)]))).encode()

    @cached_property
    def sees_channel_credentials(self) -> bool:
        """Whether answers show device tokens and chat webhooks of people: to members who change people, and keys that
        read them. A person sees their own."""
        needed = Scope.SUBSCRIBERS_READ if self.member is None else Scope.SUBSCRIBERS_WRITE
        return self.session is not None or self.has_scope(needed)

    def get_session(self) -> SubscriberSession:
        """The session of a subscriber; raises TypeError if the caller is none."""
        if self.session is None:
            raise TypeError("Only operations with `session=True` have a session")
        return self.session

    def has_scope(self, scope: Scope) -> bool:
        return scope in self.scopes or (Scope.ALL in self.scopes and scope not in GIVEN_BY_NAME)

    def has_scope_in(self, environment_id: EnvironmentId, scope: Scope) -> bool:
        """Whether the caller has the scope in an environment of the organization."""
        if self.member is None:
            return self.can_enter(environment_id) and self.has_scope(scope)
        return scope in self.member.access.get(environment_id, ())

    @property
    def grantable_scopes(self) -> frozenset[Scope]:
        """What the caller may let an API key do: an owner everything, others what they may themselves here."""
        if self.member is not None and self.member.is_owner:
            return frozenset({Scope.ALL, *GIVEN_BY_NAME})
        return self.scopes - GIVEN_BY_NAME

    @property
    def title(self) -> str:
        """What the caller is called in messages about its rights."""
        return "This API key" if self.member is None else "Your role"

    def can_enter(self, environment_id: EnvironmentId) -> bool:
        """Whether the caller may know of an environment of the organization."""
        if self.member is None:
            return environment_id == self.environment_id or self.has_scope(Scope.ORGANIZATION_REACH)
        return environment_id in self.member.access

    def get_member(self) -> CallingMember:
        """The member of the team who makes the request; raises Forbidden if it is an API key."""
        if self.member is None:
            raise Forbidden("This is for members who are signed in, not for API keys")
        return self.member


ANONYMOUS = Caller(EnvironmentId(bytes(16)), OrganizationId(bytes(16)), ApiKeyId(bytes(16)), frozenset())
"""The caller of an operation that needs no API key."""
