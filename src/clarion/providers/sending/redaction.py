"""Redaction: removes the secrets of an account from everything that is stored or returned."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import msgspec

from clarion.providers.definition.outgoing import Outgoing
from clarion.vocabulary import Channel

# Credentials that may appear in error texts; all others are redacted.
NOT_SECRET = frozenset(
    {
        *("host", "port", "from", "senderName", "user", "domain", "region", "title", "state", "imageUrl", "alertUid"),
        *("externalLink", "idPath", "datePath", "apiKeyRequestHeader", "secretKeyRequestHeader", "ipPoolName"),
        *("authenticationTokenKey", "channelId", "projectName"),
    }
)
# Shorter texts are not redacted: they would match parts of ordinary words.
_MIN_LENGTH = 4
_MAX_TEXT = 1_000
_SAFE_EVERYWHERE = re.compile(r"[A-Za-z0-9_.~-]*")
_URLS = frozenset({"webhookUrl", "baseUrl", "redirectUrl"})


def make_redactor(outgoing: Outgoing) -> Callable[[Any], Any]:
    """Return a function that replaces secrets of the account and paths of webhooks in any JSON value.

    It also truncates texts. They must not be truncated earlier, because the end could be half a secret.
    """
    return _Redactor(outgoing).redact


def make_account_redactor(channel: Channel, credentials: Mapping[str, Any], **also: Any) -> Callable[[Any], Any]:
    """Return a redactor for an account without a message; `also` are fields of Outgoing that hold secrets."""
    return make_redactor(Outgoing(message_id="", channel=channel, content="", credentials=credentials, **also))


class _Redactor:
    """Collects the secrets on first use, because most messages have no text to redact."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

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
        found = {text for text in _encodings(_secrets(self._outgoing)) if len(text) >= _MIN_LENGTH}
        return sorted(found, key=len, reverse=True)


def _secrets(outgoing: Outgoing) -> Iterator[str]:
    yield from _secrets_of_url(outgoing.webhook_url or "")
    yield from _secrets_of_url(outgoing.receipts_url or "")
    yield from outgoing.device_tokens
    yield from map(str, outgoing.overrides.get("deviceTokens") or ())
    for name, value in outgoing.credentials.items():
        if name in _URLS:
            yield from _secrets_of_url(str(value))
        elif name == "serviceAccount":
            yield from _members(value)
        elif isinstance(value, str) and name not in NOT_SECRET:
            yield value.strip()


def _encodings(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
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
    _, _, path = url.partition("://")[2].partition("/")
    parts = [part for part in re.split(r"[/?&=#]", path) if len(part) >= 8 and not re.fullmatch(r"[a-z-]{1,15}", part)]
    return {path, unquote(path), *parts, *map(unquote, parts)} if len(path) > 1 else parts
