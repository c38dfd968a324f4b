"""Credentials by name: when one is well-formed, and what keeps a set of them from working."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import msgspec
from email_validator import EmailNotValidError, validate_email

from clarion.providers.base import Provider, Rule
from clarion.vocabulary import Channel

# Underscores are not for host names by the letter, but container networks use them.
_LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*\.?")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def find_credential_problems(provider: Provider, credentials: Mapping[str, Any]) -> dict[str, str]:
    """What keeps the provider from working with these credentials, by name: missing ones and ill-formed ones."""
    problems = {
        name: f"is required to activate {provider.name}" for name in provider.required if _is_blank(credentials, name)
    }
    for name, rule in (RULES | CHANNEL_RULES.get(provider.channel, {}) | provider.rules).items():
        if not _is_blank(credentials, name) and not rule.accepts(credentials[name]):
            problems[name] = rule.sentence
    return problems


def _is_blank(credentials: Mapping[str, Any], name: str) -> bool:
    return not str(credentials.get(name, "")).strip()


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


PORT = Rule(_is_port, "must be a port number from 1 to 65535")
HOST = Rule(_is_host, "must be a host name or an IP address")
URL = Rule(_is_url, "must be a URL that begins with http:// or https://")
URL_OR_HOST = Rule(lambda text: _is_url(text) or _is_host(text), "must be an http(s) URL or a host name")
EMAIL_ADDRESS = Rule(_is_email_address, "must be an e-mail address such as news@example.com")
JSON_OBJECT = Rule(_is_json_object, "must be the text of a JSON object")
HEADER_NAME = Rule(lambda text: _HEADER_NAME.fullmatch(text) is not None, "must be the name of an HTTP header")

RULES: dict[str, Rule] = {
    "host": HOST,
    "port": PORT,
    "baseUrl": URL,
    "webhookUrl": URL,
    "redirectUrl": URL,
    "serviceAccount": JSON_OBJECT,
    "apiKeyRequestHeader": HEADER_NAME,
    "secretKeyRequestHeader": HEADER_NAME,
}
CHANNEL_RULES: dict[Channel, dict[str, Rule]] = {Channel.EMAIL: {"from": EMAIL_ADDRESS}}
