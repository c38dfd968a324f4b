"""Shapes of environments and keys."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.environments.model import ApiKey, Environment
from clarion.http.wire import MomentText, Timezone, Wire
from clarion.ids import id_base62, id_text
from clarion.vocabulary import Scope


class EnvironmentOut(Wire):
    id: str = field(name="_id")
    name: str
    organization_id: str = field(name="_organizationId")
    parent_id: str | UnsetType = field(name="_parentId", default=UNSET)
    identifier: str
    type: str
    slug: str
    timezone: str | UnsetType = UNSET
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, environment: Environment) -> Self:
        return cls(
            id=id_text(environment.id),
            name=environment.name,
            organization_id=id_text(environment.organization_id),
            parent_id=id_text(environment.parent_id) if environment.parent_id else UNSET,
            identifier=environment.identifier,
            type=environment.kind,
            slug=f"{environment.kind}_env_{id_base62(environment.id)}",
            timezone=UNSET if environment.timezone is None else environment.timezone,
            created_at=iso_text(environment.created_at),
            updated_at=iso_text(environment.updated_at),
        )


class EnvironmentPatch(Wire):
    """`timezone` is that of subscribers who have none; null means UTC."""

    timezone: Timezone | UnsetType | None = UNSET


KeyName = Annotated[str, Meta(min_length=1, max_length=100)]


class ApiKeyIn(Wire):
    """Without `expiresAt` the key expires with the one that makes it, or never."""

    name: KeyName
    scopes: Annotated[list[Scope], Meta(min_length=1)] = field(default_factory=lambda: [Scope.ALL])
    expires_at: MomentText | UnsetType | None = UNSET


class ApiKeyPatch(Wire):
    name: KeyName | UnsetType = UNSET
    expires_at: MomentText | UnsetType | None = UNSET


class ApiKeyOut(Wire):
    """A key without its secret; `hint` is the end of the secret."""

    id: str = field(name="_id")
    name: str
    hint: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | UnsetType = UNSET
    last_used_at: str | UnsetType = UNSET

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        return cls(
            id=id_text(key.id),
            name=key.name,
            hint=key.hint,
            scopes=sorted(key.scopes),
            created_at=iso_text(key.created_at),
            expires_at=UNSET if key.expires_at is None else iso_text(key.expires_at),
            last_used_at=UNSET if key.last_used_at is None else iso_text(key.last_used_at),
        )


class NewApiKeyOut(Wire):
    """A new key; its secret is shown here and never again."""

    key: str
    api_key: ApiKeyOut


class HealthPart(Wire):
    status: str
    version: str | UnsetType = UNSET


class HealthOut(Wire):
    status: str
    info: dict[str, HealthPart]
    error: dict[str, HealthPart]
    details: dict[str, HealthPart]
