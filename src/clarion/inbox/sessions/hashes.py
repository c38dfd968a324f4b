"""Hashes that prove who begins a session: made by the application's server with an API key of the environment.

A hash of a subscriber must not pass for that of a context: people may choose their own subscriberId, and the
application signs it. So what is signed begins with what it is, and with a line break, which no subscriberId has.
Applications that sign without this beginning are understood where nothing can be confused.
"""

import hmac
import re
from collections.abc import Sequence
from typing import Any

from clarion.jsontext import encode_json

_SUBSCRIBER, _CONTEXT = b"subscriber\n", b"context\n"
_QUOTED = re.compile(r'["\\]')


def is_hash_of(given: str | None, contents: Sequence[bytes], keys: Sequence[str]) -> bool:
    """Return whether the hash is the hexadecimal HMAC-SHA256 of one of the contents under one of the keys.

    The time does not depend on which of them it is, nor on how much of the hash is right. A missing hash is wrong.
    """
    # Only bytes may have any content in the comparison.
    sent = (given or "").encode()
    matches = [
        hmac.compare_digest(hmac.digest(key.encode(), content, "sha256").hex().encode(), sent)
        for key in keys
        for content in contents
    ]
    return any(matches)


def list_subscriber_forms(key: str) -> list[bytes]:
    """Return what may be signed of a subscriber; a subscriberId that could be a context needs its beginning."""
    plain = key.encode()
    return [_SUBSCRIBER + plain] if key.startswith("{") else [_SUBSCRIBER + plain, plain]


def list_context_forms(context: dict[str, Any]) -> list[bytes]:
    """Return what may be signed of a context."""
    return [_CONTEXT + text for text in list_context_texts(context)]


def list_context_texts(context: dict[str, Any]) -> list[bytes]:
    """Return a context with its members sorted as canonical JSON, and as JSON without white space.

    They differ in that canonical JSON escapes only quotation marks and backslashes.
    """
    return list(dict.fromkeys((_canonical_text(context).encode(), encode_json(_sorted(context)))))


def _canonical_text(value: Any) -> str:
    if isinstance(value, str):
        return '"' + _QUOTED.sub(r"\\\g<0>", value) + '"'
    if isinstance(value, dict):
        members = (f"{_canonical_text(name)}:{_canonical_text(value[name])}" for name in _sorted_names(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical_text, value)) + "]"
    return encode_json(_number(value)).decode()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in _sorted_names(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else _number(value)


def _sorted_names(value: dict[str, Any]) -> list[str]:
    # As JavaScript sorts texts.
    return sorted(value, key=lambda name: name.encode("utf-16-be"))


def _number(value: Any) -> Any:
    # JavaScript has one kind of number: 1.0 is 1.
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
