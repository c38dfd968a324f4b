"""Redaction: what is secret of an account stays out of everything that is kept or shown."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import msgspec

from clarion.providers.definition.outgoing import Outgoing
from clarion.vocabulary import Channel

# Credentials that people put into sentences about the account; every other one is kept out.
NOT_SECRET = frozenset(
    {
        *("host", "port", "from", "senderName", "user", "domain", "region", "title", "state", "imageUrl", "alertUid"),
        *("externalLink", "idPath", "datePath", "apiKeyRequestHeader", "secretKeyRequestHeader", "ipPoolName"),
        *("authenticationTokenKey", "channelId", "projectName"),
    }
)
# Shorter ones are no secrets, and words without their letters are no words.
_SHORTEST = 4
_MAX_TEXT = 1_000
_SPELLED_ALIKE = re.compile(r"[A-Za-z0-9_.~-]*")
_URLS = frozenset({"webhookUrl", "baseUrl", "redirectUrl"})


def redaction(outgoing: Outgoing) -> Callable[[Any], Any]:
    """Replaces every secret of the account and the path of every webhook, wherever a text holds one.

    Texts are cut here and nowhere earlier, for what is cut may end in half a secret.
    """
    return _Redaction(outgoing).redact


def redaction_of_account(channel: Channel, credentials: Mapping[str, Any], **also: Any) -> Callable[[Any], Any]:
    """The same where there is an account and no message; `also` are other fields of a message that hold secrets."""
    return redaction(Outgoing(message_id="", channel=channel, content="", credentials=credentials, **also))


class _Redaction:
    """Gathers the secrets of a message when there is a text that is long enough to hold one."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

    def redact(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) < _SHORTEST else self._without_secrets(value)[:_MAX_TEXT]
        if isinstance(value, Mapping):
            return {name: self.redact(inner) for name, inner in value.items()}
        return [self.redact(inner) for inner in value] if isinstance(value, list | tuple) else value

    def _without_secrets(self, text: str) -> str:
        for secret in self._found:
            text = text.replace(secret, "***")
        return text

    @cached_property
    def _found(self) -> list[str]:
        found = {text for text in _spellings(_secrets(self._outgoing)) if len(text) >= _SHORTEST}
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


def _spellings(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        yield secret
        if _SPELLED_ALIKE.fullmatch(secret):
            continue
        yield quote(secret, safe="")
        yield quote_plus(secret)
        # As texts are inside of JSON.
        yield secret.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _members(document: Any) -> Iterator[str]:
    """The texts inside of a service account that are nobody else's business."""
    try:
        account = msgspec.json.decode(document)
    except (msgspec.DecodeError, TypeError):
        account = None
    members = account if isinstance(account, Mapping) else {}
    yield str(document)
    yield from (str(value).strip() for name, value in members.items() if name.startswith("private_key") and value)


def _secrets_of_url(url: str) -> Iterable[str]:
    """The whole path, and those of its parts that look like keys rather than words."""
    _, _, path = url.partition("://")[2].partition("/")
    parts = [part for part in re.split(r"[/?&=#]", path) if len(part) >= 8 and not re.fullmatch(r"[a-z-]{1,15}", part)]
    return {path, unquote(path), *parts, *map(unquote, parts)} if len(path) > 1 else parts
