"""Masks the channel credentials of subscribers: device tokens, and URLs of chat webhooks.

With one of them anybody can send to the person. They appear in many answers (people, messages, overrides of triggers,
exports), so they are masked in the encoded answer, by the names of their members.
"""

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from clarion.http.caller import Caller
from clarion.http.idempotency import Response
from clarion.jsontext import encode_json
from clarion.vocabulary import Scope

_TOKENS = frozenset({"deviceTokens", "device_tokens", "tokens"})
_URLS = frozenset({"webhookUrl", "webhook_url", "directWebhookUrl"})
_NAMES = re.compile("|".join(sorted(_TOKENS | _URLS)))
_NAMES_IN_BODY = re.compile(_NAMES.pattern.encode())
_SHOWN_OF_TOKEN = 4
_MIN_SHOWN_LENGTH = 16
"""Of shorter tokens nothing is shown."""


def hides_channel_credentials(caller: Caller, response: Response) -> bool:
    """Whether the answer has to be masked: members who cannot change subscribers do not see their credentials."""
    return (
        caller.member is not None
        and not caller.has_scope(Scope.SUBSCRIBERS_WRITE)
        and _NAMES_IN_BODY.search(response.body) is not None
    )


def mask_channel_credentials(response: Response) -> Response:
    """Return the answer with masked credentials; one that is no JSON has none, and stays as it is."""
    try:
        found = msgspec.json.decode(response.body)
    except msgspec.DecodeError:
        return response
    return replace(response, body=encode_json(_mask(found)))


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _mask_member(name, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mask(inner) for inner in value]
    return _mask_text(value) if isinstance(value, str) else value


def _mask_member(name: str, value: Any) -> Any:
    if name in _TOKENS and isinstance(value, list):
        return [_mask_token(one) if isinstance(one, str) else _mask(one) for one in value]
    if isinstance(value, str):
        if name in _URLS:
            return _mask_url(value)
        if name in _TOKENS:
            return _mask_token(value)
    return _mask(value)


def _mask_text(text: str) -> str:
    """Mask JSON in a text, such as the values that explain an execution detail."""
    if text[:1] not in ("{", "[") or _NAMES.search(text) is None:
        return text
    try:
        return encode_json(_mask(msgspec.json.decode(text))).decode()
    except msgspec.DecodeError:
        return text


def _mask_token(token: str) -> str:
    return f"…{token[-_SHOWN_OF_TOKEN:]}" if len(token) >= _MIN_SHOWN_LENGTH else "…"


def _mask_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "…"
    return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else "…"
