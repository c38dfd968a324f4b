"""Formats of credentials: when a value is well-formed, and the error text for one that is not."""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from email_validator import EmailNotValidError, validate_email

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
