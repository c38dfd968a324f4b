"""Redaction: removes the secrets of an account from everything that is stored or returned."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

import msgspec

from clarion.providers.definition.fields import NOT_SECRET
from clarion.providers.definition.outgoing import Outgoing
from clarion.vocabulary import Channel

# Shorter texts are not redacted: they would match parts of ordinary words.
_MIN_LENGTH = 4
_MAX_TEXT = 1_000
# Shorter paths of URLs are words such as "hook", and no secrets: they are redacted in URLs alone.
_MIN_PATH_LENGTH = 8
_WORD = re.compile(r"[a-z-]{1,15}")
# Before a word there is neither a letter nor a digit, unless it ends an escape of JSON or of a URL.
_BEFORE_WORD = r"(?:(?<![0-9A-Za-z])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_BEFORE_PATH = r"(?:(?<=/)|(?<=%2[Ff]))"
_AFTER_WORD = r"(?![0-9A-Za-z])"
_SAFE_EVERYWHERE = re.compile(r"[A-Za-z0-9_.~-]*")
_ENTRY_SECRETS = ("accessToken", "routingKey", "apiKey", "authToken")
_URLS = frozenset({"webhookUrl", "baseUrl", "apiURL", "redirectUrl"})


class SecretText(NamedTuple):
    """A text to redact."""

    text: str
    before: str = ""
    """What must be before it, as a pattern; empty: it is redacted anywhere, also in the middle of a word."""


def make_redactor(outgoing: Outgoing, account_secrets: frozenset[SecretText] | None = None) -> Callable[[Any], Any]:
    """Return a function that replaces secrets of the account and paths of webhooks in any JSON value.

    It also truncates texts. They must not be truncated earlier, because the end could be half a secret. Callers that
    know `list_account_secrets` already pass them.
    """
    return _Redactor(outgoing, account_secrets).redact


def make_text_redactor(secrets: Iterable[str]) -> Callable[[Any], Any]:
    """Return a function that replaces these texts in any JSON value, also as URLs encode them; nothing is cut."""
    encoded = sorted(_encodings(map(SecretText, secrets)), key=lambda one: len(one.text), reverse=True)

    def redact(value: Any) -> Any:
        if isinstance(value, str):
            for secret in encoded:
                value = value.replace(secret.text, "***")
            return value
        if isinstance(value, Mapping):
            return {redact(name): redact(inner) for name, inner in value.items()}
        return [redact(inner) for inner in value] if isinstance(value, list | tuple) else value

    return redact if encoded else _unchanged


def _unchanged(value: Any) -> Any:
    return value


def list_account_secrets(credentials: Mapping[str, Any]) -> frozenset[SecretText]:
    """Return the secrets of an account in the forms in which they may appear in a text."""
    return frozenset(_encodings(_secrets_of_account(credentials)))


def make_account_redactor(channel: Channel, credentials: Mapping[str, Any], **also: Any) -> Callable[[Any], Any]:
    """Return a redactor for an account without a message; `also` are fields of Outgoing that hold secrets."""
    return make_redactor(Outgoing(message_id="", channel=channel, content="", credentials=credentials, **also))


class _Redactor:
    """Collects the secrets on first use, because most messages have no text to redact."""

    def __init__(self, outgoing: Outgoing, account_secrets: frozenset[SecretText] | None) -> None:
        self._outgoing = outgoing
        self._account_secrets = account_secrets

    def redact(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) < _MIN_LENGTH else self._without_secrets(value)[:_MAX_TEXT]
        if isinstance(value, Mapping):
            return {name: self.redact(inner) for name, inner in value.items()}
        return [self.redact(inner) for inner in value] if isinstance(value, list | tuple) else value

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            if secret.text in text:
                text = _replace(text, secret)
        return text

    @cached_property
    def _secrets(self) -> list[SecretText]:
        account = self._account_secrets
        if account is None:
            account = list_account_secrets(self._outgoing.credentials)
        found = account.union(_encodings(_secrets_of_message(self._outgoing)))
        return sorted(found, key=lambda one: len(one.text), reverse=True)


def _replace(text: str, secret: SecretText) -> str:
    if not secret.before:
        return text.replace(secret.text, "***")
    return re.sub(f"{secret.before}{re.escape(secret.text)}{_AFTER_WORD}", "***", text)


def _secrets_of_message(outgoing: Outgoing) -> Iterator[SecretText]:
    yield from _secrets_of_url(outgoing.webhook_url or "")
    yield from _secrets_of_url(outgoing.receipts_url or "")
    yield from map(SecretText, outgoing.device_tokens)
    yield from (SecretText(str(outgoing.entry[name])) for name in _ENTRY_SECRETS if outgoing.entry.get(name))
    yield from (SecretText(str(one)) for one in outgoing.overrides.get("deviceTokens") or ())
    headers = outgoing.entry.get("headers")
    yield from (SecretText(str(one)) for one in headers.values()) if isinstance(headers, Mapping) else ()


def _secrets_of_account(credentials: Mapping[str, Any]) -> Iterator[SecretText]:
    for name, value in credentials.items():
        if name in _URLS:
            yield from _secrets_of_url(str(value))
        elif name == "serviceAccount":
            yield from map(SecretText, _members(value))
        elif isinstance(value, str) and name not in NOT_SECRET:
            yield SecretText(value.strip())


def _encodings(secrets: Iterable[SecretText]) -> Iterator[SecretText]:
    for secret in secrets:
        text = secret.text
        if len(text) < _MIN_LENGTH:
            continue
        yield secret
        if _SAFE_EVERYWHERE.fullmatch(text):
            continue
        # The last one is escaped as in JSON.
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for encoded in (quote(text, safe=""), quote_plus(text), escaped):
            yield secret._replace(text=encoded)


def _members(document: Any) -> Iterator[str]:
    """Yield the secrets in the JSON of a service account."""
    try:
        account = msgspec.json.decode(document)
    except (msgspec.DecodeError, TypeError):
        account = None
    members = account if isinstance(account, Mapping) else {}
    yield str(document)
    yield from (str(value).strip() for name, value in members.items() if name.startswith("private_key") and value)


def _secrets_of_url(url: str) -> Iterable[SecretText]:
    """Return the path of the URL, and the segments that look like keys rather than words."""
    _, _, path = url.partition("://")[2].partition("/")
    if len(path) < _MIN_PATH_LENGTH:
        return (SecretText(path, _BEFORE_PATH),)
    if _WORD.fullmatch(path):
        return (SecretText(path, _BEFORE_WORD),)
    parts = [part for part in re.split(r"[/?&=#]", path) if len(part) >= 8 and not _WORD.fullmatch(part)]
    return [SecretText(one) for one in (path, unquote(path), *parts, *map(unquote, parts))]
