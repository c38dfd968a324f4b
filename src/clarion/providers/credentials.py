"""Credentials: what a provider has to know of an account, when one is well-formed, what keeps a set from working."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_address
from typing import Annotated, Any, get_type_hints
from urllib.parse import urlsplit

import msgspec
from email_validator import EmailNotValidError, validate_email
from msgspec import field

from clarion.providers.account import A, Credentials, required_of
from clarion.providers.base import FailureKind, FormatRule, Provider, SendFailure
from clarion.providers.secret import Secret

# Underscores are not for host names by the letter, but container networks use them.
_LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\.?")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


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


def find_credential_problems(provider: Provider, credentials: Mapping[str, Any]) -> dict[str, str]:
    """What keeps the provider from working with these credentials, by name: missing ones and ill-formed ones."""
    problems = {
        name: f"is required to activate {provider.name}" for name in provider.required if is_blank(credentials, name)
    }
    for name, rule in rules_of(provider.credentials).items():
        if not is_blank(credentials, name) and not rule.accepts(credentials[name]):
            problems[name] = rule.sentence
    return problems


def is_blank(credentials: Mapping[str, Any], name: str) -> bool:
    value = credentials.get(name)
    return value is None or not str(value).strip()


def as_url(text: str) -> str:
    """What `URL_OR_HOST` lets pass, as a URL without a slash at its end; a host alone is spoken to by HTTPS."""
    return (text if "://" in text else f"https://{text}").rstrip("/")


def _find_rules(kind: type[Credentials]) -> Iterator[tuple[str, FormatRule]]:
    yield from RULES.items()
    hints = get_type_hints(kind, include_extras=True)
    for one in msgspec.structs.fields(kind):
        for rule in getattr(hints[one.name], "__metadata__", ()):
            yield one.encode_name, rule


def _read_secret(kind: type, value: Any) -> Any:
    if kind is Secret and isinstance(value, str):
        return Secret(value)
    raise ValueError("must be a text")


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


PORT = FormatRule(_is_port, "must be a port number from 1 to 65535")
HOST = FormatRule(_is_host, "must be a host name or an IP address")
URL = FormatRule(_is_url, "must be a URL that begins with http:// or https://")
URL_OR_HOST = FormatRule(lambda text: _is_url(text) or _is_host(text), "must be an http(s) URL or a host name")
EMAIL_ADDRESS = FormatRule(_is_email_address, "must be an e-mail address such as news@example.com")
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
