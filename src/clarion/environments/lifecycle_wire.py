"""Shapes of new environments."""

from typing import Annotated, Literal, Self

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import replace

from clarion.environments.actions import EnvironmentDraft, NewEnvironment
from clarion.environments.options import EnvironmentOptions
from clarion.environments.wire import Color, EnvironmentName, EnvironmentOut, EnvironmentType
from clarion.http.wire import IdText, Wire
from clarion.ids import ApiKeyId, EnvironmentId, id_text
from clarion.vocabulary import Scope


class EnvironmentIn(Wire):
    name: EnvironmentName
    """What people call the environment."""
    type: EnvironmentType = EnvironmentType.DEV
    """Whether it is for development or production."""
    color: Color | None = None
    parent_id: IdText | None = None
    """The `_id` of the environment of the organization that it comes from."""

    def draft(self) -> EnvironmentDraft:
        return EnvironmentDraft(
            name=str(self.name),
            kind=self.type.value,
            parent_id=None if self.parent_id is None else EnvironmentId(self.parent_id.id),
            options=EnvironmentOptions(color=None if self.color is None else str(self.color)),
        )


class DeletionQuery(Wire):
    confirm: Annotated[str, Meta(max_length=255)] | None = None
    """The name of the environment; needed for one of type `prod`."""


class EnvironmentDeletedOut(Wire):
    acknowledged: bool = True
    status: Literal["deleted"] = "deleted"
    """Always `deleted`."""


class FirstKeyOut(Wire):
    """The first API key of an environment."""

    id: str = field(name="_id")
    key: str
    """The secret, for `Authorization: ApiKey <key>`; shown here and never again."""
    user_id: str = field(name="_userId")
    """The `_id` of the API key that created the environment."""
    name: str
    """What people call the key."""
    scopes: list[Scope]


class NewEnvironmentOut(EnvironmentOut):
    """A new environment; the secrets in `apiKeys` are shown here and never again."""

    api_keys: list[FirstKeyOut] | UnsetType = UNSET
    """The first API key of the environment."""

    @classmethod
    def of_new(cls, made: NewEnvironment, maker: ApiKeyId) -> Self:
        record = made.key.record
        key = FirstKeyOut(
            id=id_text(record.id),
            key=made.key.text,
            user_id=id_text(maker),
            name=record.name,
            scopes=sorted(record.scopes),
        )
        return replace(cls.of(made.environment), api_keys=[key])
