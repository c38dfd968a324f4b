"""An account at a provider: the base of every provider's credentials."""

from functools import cache
from typing import Any, TypeVar, dataclass_transform

from msgspec import Struct, StructMeta, field
from msgspec.structs import fields


class _CredentialsMeta(StructMeta):
    """Gives every set the same rules: frozen, by name, camelCase on the wire."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, frozen: bool = True) -> Any:
        return super().__new__(mcls, name, bases, namespace, frozen=frozen, kw_only=True, rename="camel")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Credentials(Struct, metaclass=_CredentialsMeta, frozen=True):
    """What a provider has to know of an account.

    Fields without a default are required; `Annotated[str, URL]` gives one a rule of its own.
    """


A = TypeVar("A", bound=Credentials)


@cache
def required_of(kind: type[Credentials]) -> tuple[str, ...]:
    """The credentials that an account cannot do without, by their names on the wire."""
    return tuple(one.encode_name for one in fields(kind) if one.required)
