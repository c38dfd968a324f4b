"""Credentials: the base class of every provider's credentials, and reading them from an integration."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform, get_type_hints

import msgspec
from msgspec import Struct, StructMeta, field
from msgspec.structs import fields

from clarion.providers.definition.formats import COUNTRY, EMAIL_ADDRESS, RULES, FormatRule
from clarion.providers.definition.result import refuse_account
from clarion.secret import Secret


class _CredentialsMeta(StructMeta):
    """Makes every subclass frozen and keyword-only, with camelCase names on the wire."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, frozen: bool = True) -> Any:
        return super().__new__(mcls, name, bases, namespace, frozen=frozen, kw_only=True, rename="camel")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Credentials(Struct, metaclass=_CredentialsMeta, frozen=True):
    """Base class of the credentials that a provider needs.

    Fields without a default are required. `Annotated[str, URL]` gives a field its own format rule.
    """

    SPELLINGS: ClassVar[Mapping[str, str]] = {}
    """Other names of credentials that are accepted and stored as they are, and the names that they stand for."""


class SmsCredentials(Credentials):
    """Credentials of an account that sends SMS."""

    default_region: Annotated[str, COUNTRY] = ""
    """The region of numbers without a country code, such as GB."""


class SenderCredentials(SmsCredentials):
    """Credentials with a sender, which a trigger can override."""

    sender: str = field(name="from")


class OptionalSenderCredentials(SmsCredentials):
    """Credentials whose sender is optional, because the account has a default one."""

    sender: str = field(name="from", default="")


class EmailCredentials(Credentials):
    """Credentials of an account that sends e-mail."""

    sender: Annotated[str, EMAIL_ADDRESS] = field(name="from")
    sender_name: str = ""


A = TypeVar("A", bound=Credentials)


@cache
def list_required(kind: type[Credentials]) -> tuple[str, ...]:
    """Return the names of the required credentials, as they are on the wire."""
    return tuple(one.encode_name for one in fields(kind) if one.required)


def read_credentials(kind: type[A], given: Mapping[str, Any]) -> A:
    """Decode the credentials of an integration; raises SendFailure if some are missing or of the wrong type."""
    given = respell(kind, given)
    missing = [name for name in list_required(kind) if is_blank(given, name)]
    if missing:
        raise refuse_account(f"The integration has no {', '.join(missing)}")
    present = {name: value for name, value in given.items() if not is_blank(given, name)}
    try:
        return msgspec.convert(present, kind, strict=False, dec_hook=_read_secret)
    except msgspec.ValidationError as error:
        message = f"The integration's credentials cannot be used: {error}"
        raise refuse_account(message) from error


def respell(kind: type[Credentials], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the credentials under the names of the fields; a value under its own name wins."""
    other = {new: given[old] for old, new in kind.SPELLINGS.items() if not is_blank(given, old)}
    return {**given, **{name: value for name, value in other.items() if is_blank(given, name)}} if other else given


@cache
def get_format_rules(kind: type[Credentials]) -> Mapping[str, FormatRule]:
    """Return the format rule of each credential: its own one, or the default for its name."""
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
