"""Environments and keys as records, and the rules of keys."""

import hashlib
import secrets
import string
from typing import NewType

from msgspec import Struct

from clarion.clock import Millis
from clarion.environments.options import EnvironmentOptions, MailOptions
from clarion.ids import ApiKeyId, EnvironmentId, MemberId, OrganizationId
from clarion.vocabulary import GIVEN_BY_NAME, Scope

KeyHash = NewType("KeyHash", bytes)

_LETTERS = string.ascii_letters + string.digits


class Organization(Struct, frozen=True, kw_only=True):
    id: OrganizationId
    name: str
    created_at: Millis


class Environment(Struct, frozen=True, kw_only=True):
    id: EnvironmentId
    organization_id: OrganizationId
    parent_id: EnvironmentId | None
    name: str
    kind: str
    identifier: str
    timezone: str | None = None
    """Of people who have none."""
    options: EnvironmentOptions = EnvironmentOptions()
    mail: MailOptions = MailOptions()
    created_at: Millis
    updated_at: Millis

    @property
    def is_development(self) -> bool:
        return self.kind == "dev"


class EnvironmentState(Struct, frozen=True, kw_only=True):
    """An environment, and the numbers that tell what is out of date."""

    environment: Environment
    session_epoch: int
    """Sessions of subscribers that began at another one are over."""
    configuration_version: int


class ApiKey(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: ApiKeyId
    hash: KeyHash
    name: str
    hint: str
    scopes: frozenset[Scope]
    created_at: Millis
    expires_at: Millis | None
    last_used_at: Millis | None
    revoked_at: Millis | None
    created_by: MemberId | None = None
    """The member who made it; None: the operator, or another key."""

    @property
    def ends_with_maker(self) -> bool:
        """Whether it is valid only as long as its maker is an owner: it reaches beyond its environment."""
        return self.created_by is not None and not GIVEN_BY_NAME.isdisjoint(self.scopes)

    def is_valid(self, now: Millis) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def make_key_text() -> str:
    """Generate a secret of 192 random bits."""
    return f"ck_{secrets.token_hex(24)}"


def make_identifier() -> str:
    """Generate a public application identifier."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def hash_key(text: str) -> KeyHash:
    """Hash a key for storage; keys are long and random, so an unsalted fast hash cannot be reversed by guessing."""
    return KeyHash(hashlib.sha256(text.encode()).digest())


def list_missing_scopes(own: frozenset[Scope], wanted: frozenset[Scope]) -> list[Scope]:
    """The wanted scopes that a key lacks; it may grant, change and revoke only what it has itself."""
    missing = wanted - own
    return sorted(missing & GIVEN_BY_NAME if Scope.ALL in own else missing)


def outlives(expires_at: Millis | None, own: Millis | None) -> bool:
    """Return whether a key that expires at one moment is valid for longer than its maker; None is never."""
    return own is not None and (expires_at is None or expires_at > own)
