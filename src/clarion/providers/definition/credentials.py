"""Credentials: the base class of every provider's credentials, reading them from an integration, and their formats."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from ipaddress import ip_address
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, dataclass_transform, get_type_hints
from urllib.parse import urlsplit

import msgspec
from email_validator import EmailNotValidError, validate_email
from msgspec import Struct, StructMeta, field
from msgspec.structs import fields

from clarion.providers.definition.references import list_references
from clarion.providers.definition.result import refuse_account
from clarion.secret import Secret

# The standard forbids underscores in host names, but container networks use them.
_LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\.?")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


class FormatRule(NamedTuple):
    """Whether a credential is well-formed, and the error text for one that is not."""

    accepts: Callable[[str], bool]
    sentence: str


def as_url(text: str) -> str:
    """Return a value that `URL_OR_HOST` accepts as a URL without a trailing slash; a bare host becomes https://."""
    return (text if "://" in text else f"https://{text}").rstrip("/")


def _is_port(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,5}", text) is not None and 1 <= int(text) <= 65_535


def _is_host(text: str) -> bool:
    return _HOST_NAME.fullmatch(text) is not None or _is_address(text)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and _is_host(host or "") and text.isprintable() and " " not in text


def _is_email_address(text: str) -> bool:
    try:
        validate_email(text, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return False
    return True


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_country(text: str) -> bool:
    import phonenumbers  # noqa: PLC0415 - slow to import, and few accounts need it

    return text.upper() in phonenumbers.SUPPORTED_REGIONS


PORT = FormatRule(_is_port, "must be a port number from 1 to 65535")
HOST = FormatRule(_is_host, "must be a host name or an IP address")
URL = FormatRule(_is_url, "must be a URL that begins with http:// or https://")
URL_OR_HOST = FormatRule(lambda text: _is_url(text) or _is_host(text), "must be an http(s) URL or a host name")
EMAIL_ADDRESS = FormatRule(_is_email_address, "must be an e-mail address such as news@example.com")
COUNTRY = FormatRule(_is_country, "must be the two letters of a country, such as GB")
JSON_OBJECT = FormatRule(_is_json_object, "must be the text of a JSON object")
HEADER_NAME = FormatRule(lambda text: _HEADER_NAME.fullmatch(text) is not None, "must be the name of an HTTP header")
RULES: dict[str, FormatRule] = {
    "host": HOST,
    "port": PORT,
    "baseUrl": URL,
    "webhookUrl": URL,
    "redirectUrl": URL,
    "serviceAccount": JSON_OBJECT,
    "apiKeyRequestHeader": HEADER_NAME,
    "secretKeyRequestHeader": HEADER_NAME,
}


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
    lacking = [key for value in given.values() for key in list_references(value)]
    if lacking:
        raise refuse_account(
            f"The integration refers to variables of the environment that have no value here, or may not stand there: "
            f"{', '.join(lacking)}"
        )
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
    for field_info in msgspec.structs.fields(kind):
        for rule in getattr(hints[field_info.name], "__metadata__", ()):
            yield field_info.encode_name, rule


def _read_secret(kind: type, value: Any) -> Any:
    if kind is Secret and isinstance(value, str):
        # Pasted values often have white space around them.
        return Secret(value.strip())
    raise ValueError("must be a text")
