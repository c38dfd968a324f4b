"""Credentials: the base class of every provider's credentials, and reading them from an integration."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import msgspec
from msgspec import Struct, StructMeta, field
from msgspec.structs import fields

from clarion.providers.definition.formats import EMAIL_ADDRESS, RULES, FormatRule
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.secret import Secret


class _CredentialsMeta(StructMeta):
    """Gives every set the same rules: frozen, by name, camelCase on the wire."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, frozen: bool = True) -> Any:
        return super().__new__(mcls, name, bases, namespace, frozen=frozen, kw_only=True, rename="camel")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Credentials(Struct, metaclass=_CredentialsMeta, frozen=True):
    """What a provider has to know of an account.

    Fields without a default are required; `Annotated[str, URL]` gives one a rule of its own.
    """


class SenderCredentials(Credentials):
    """An account with the sender that its messages are from, unless a trigger says otherwise."""

    sender: str = field(name="from")


class OptionalSenderCredentials(Credentials):
    """An account that has a sender of its own where none is given."""

    sender: str = field(name="from", default="")


class EmailCredentials(Credentials):
    """An account that sends e-mail."""

    sender: Annotated[str, EMAIL_ADDRESS] = field(name="from")
    sender_name: str = ""


A = TypeVar("A", bound=Credentials)


@cache
def required_of(kind: type[Credentials]) -> tuple[str, ...]:
    """The credentials that an account cannot do without, by their names on the wire."""
    return tuple(one.encode_name for one in fields(kind) if one.required)


def read_credentials(kind: type[A], given: Mapping[str, Any]) -> A:
    """The account that an integration's credentials describe."""
    missing = [name for name in required_of(kind) if is_blank(given, name)]
    if missing:
        raise SendFailure(FailureKind.PERMANENT, f"The integration has no {', '.join(missing)}")
    present = {name: value for name, value in given.items() if not is_blank(given, name)}
    try:
        return msgspec.convert(present, kind, strict=False, dec_hook=_read_secret)
    except msgspec.ValidationError as error:
        message = f"The integration's credentials cannot be used: {error}"
        raise SendFailure(FailureKind.PERMANENT, message) from error


@cache
def rules_of(kind: type[Credentials]) -> Mapping[str, FormatRule]:
    """The rule of each credential: its own, or that of its name."""
    return dict(_find_rules(kind))


def is_blank(credentials: Mapping[str, Any], name: str) -> bool:
    value = credentials.get(name)
    return value is None or not str(value).strip()


def _find_rules(kind: type[Credentials]) -> Iterator[tuple[str, FormatRule]]:
    yield from RULES.items()
    hints = get_type_hints(kind, include_extras=True)
    for one in msgspec.structs.fields(kind):
        for rule in getattr(hints[one.name], "__metadata__", ()):
            yield one.encode_name, rule


def _read_secret(kind: type, value: Any) -> Any:
    if kind is Secret and isinstance(value, str):
        # Pasted values often have white space around them.
        return Secret(value.strip())
    raise ValueError("must be a text")
