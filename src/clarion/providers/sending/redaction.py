"""Redaction: removes the secrets of an account from everything that is stored or returned."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import msgspec

from clarion.providers.definition.fields import NOT_SECRET
from clarion.providers.definition.outgoing import Outgoing
from clarion.vocabulary import Channel

# Shorter texts are not redacted: they would match parts of ordinary words.
_MIN_LENGTH = 4
_MAX_TEXT = 1_000
_SAFE_EVERYWHERE = re.compile(r"[A-Za-z0-9_.~-]*")
_URLS = frozenset({"webhookUrl", "baseUrl", "apiURL", "redirectUrl"})


def make_redactor(outgoing: Outgoing, account_secrets: frozenset[str] | None = None) -> Callable[[Any], Any]:
    """Return a function that replaces secrets of the account and paths of webhooks in any JSON value.

    It also truncates texts. They must not be truncated earlier, because the end could be half a secret. Callers that
    know `list_account_secrets` already pass them.
    """
    return _Redactor(outgoing, account_secrets).redact


def list_account_secrets(credentials: Mapping[str, Any]) -> frozenset[str]:
    """Return the secrets of an account in the forms in which they may appear in a text."""
    return frozenset(_encodings(_secrets_of_account(credentials)))


def make_account_redactor(channel: Channel, credentials: Mapping[str, Any], **also: Any) -> Callable[[Any], Any]:
    """Return a redactor for an account without a message; `also` are fields of Outgoing that hold secrets."""
    return make_redactor(Outgoing(message_id="", channel=channel, content="", credentials=credentials, **also))


class _Redactor:
    """Collects the secrets on first use, because most messages have no text to redact."""

    def __init__(self, outgoing: Outgoing, account_secrets: frozenset[str] | None) -> None:
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
            text = text.replace(secret, "***")
        return text

    @cached_property
    def _secrets(self) -> list[str]:
        account = self._account_secrets
        if account is None:
            account = list_account_secrets(self._outgoing.credentials)
        found = account.union(_encodings(_secrets_of_message(self._outgoing)))
        return sorted(found, key=len, reverse=True)


def _secrets_of_message(outgoing: Outgoing) -> Iterator[str]:
    yield from _secrets_of_url(outgoing.webhook_url or "")
    yield from _secrets_of_url(outgoing.receipts_url or "")
    yield from outgoing.device_tokens
    yield from map(str, outgoing.overrides.get("deviceTokens") or ())


def _secrets_of_account(credentials: Mapping[str, Any]) -> Iterator[str]:
    for name, value in credentials.items():
        if name in _URLS:
            yield from _secrets_of_url(str(value))
        elif name == "serviceAccount":
            yield from _members(value)
        elif isinstance(value, str) and name not in NOT_SECRET:
            yield value.strip()


def _encodings(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        if len(secret) < _MIN_LENGTH:
            continue
        yield secret
        if _SAFE_EVERYWHERE.fullmatch(secret):
            continue
        yield quote(secret, safe="")
        yield quote_plus(secret)
        # Escaped as in JSON.
        yield secret.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _members(document: Any) -> Iterator[str]:
    """Yield the secrets in the JSON of a service account."""
    try:
        account = msgspec.json.decode(document)
    except (msgspec.DecodeError, TypeError):
        account = None
    members = account if isinstance(account, Mapping) else {}
    yield str(document)
    yield from (str(value).strip() for name, value in members.items() if name.startswith("private_key") and value)


def _secrets_of_url(url: str) -> Iterable[str]:
    """Return the path of the URL, and the segments that look like keys rather than words."""
    if not url:
        return ()
    _, _, path = url.partition("://")[2].partition("/")
    parts = [part for part in re.split(r"[/?&=#]", path) if len(part) >= 8 and not re.fullmatch(r"[a-z-]{1,15}", part)]
    return {path, unquote(path), *parts, *map(unquote, parts)} if len(path) > 1 else parts
