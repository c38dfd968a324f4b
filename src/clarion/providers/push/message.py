"""A push notification: device tokens, words, and what the app is given besides."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clarion.clock import Millis
from clarion.jsontext import json_text
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import extras
from clarion.providers.definition.result import FailureKind, SendFailure, Sent

KNOWN = frozenset({"title", "body", "content", "data", "badge", "sound", "image"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """One notification for the devices of one subscriber."""

    message_id: str
    at: Millis
    """The moment of this try."""
    tokens: tuple[str, ...] = field(repr=False)
    title: str
    body: str
    data: Mapping[str, Any]
    badge: int | None = None
    sound: str | None = None
    image: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Overrides that only the provider understands, by the names of the API."""
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def token(self) -> str:
        """The one device of a provider that is called once for each."""
        return self.tokens[0]

    @property
    def text_data(self) -> dict[str, str]:
        """For providers that take texts only."""
        return {name: value if isinstance(value, str) else json_text(value) for name, value in self.data.items()}

    def per_token(self) -> Iterator["Push"]:
        for token in self.tokens:
            yield replace(self, tokens=(token,))


def read_push(outgoing: Outgoing, now: Millis) -> Push:
    given = outgoing.overrides
    tokens = tuple(dict.fromkeys(filter(None, map(str.strip, _tokens(outgoing)))))
    if not tokens:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no device tokens")
    data = given.get("data")
    badge = given.get("badge")
    return Push(
        message_id=outgoing.message_id,
        at=now,
        tokens=tokens,
        title=str(given.get("title") or outgoing.title or ""),
        body=str(given.get("body") or outgoing.content),
        data={**(outgoing.data or {}), **(data if isinstance(data, Mapping) else {})},
        badge=badge if isinstance(badge, int) and not isinstance(badge, bool) else None,
        sound=_text(given.get("sound")),
        image=_text(given.get("image")),
        options=extras(given, KNOWN),
        context=outgoing.context,
    )


def join_results(results: Mapping[str, Sent | SendFailure]) -> Sent:
    """What became of a notification, from what became of each token: sent if any device took it.

    Raises the failure that counts when none did: one that may pass before one that will not.
    """
    failures = {token: one for token, one in results.items() if isinstance(one, SendFailure)}
    dead = tuple(token for token, one in failures.items() if one.kind is FailureKind.RECIPIENT_INVALID)
    raw = {"tokens": [_result(token, one) for token, one in results.items()]}
    taken = [one for one in results.values() if isinstance(one, Sent)]
    if taken:
        return Sent(provider_message_id=taken[0].provider_message_id, raw=raw, dead_tokens=dead)
    worst = min(failures.values(), key=lambda one: _WEIGHT[one.kind])
    joined = SendFailure(worst.kind, worst.message, retry_after=worst.retry_after, raw=raw)
    joined.dead_tokens = dead
    joined.is_ambiguous = any(one.is_ambiguous for one in failures.values())
    raise joined


def tickets_of(results: Mapping[str, Sent | SendFailure]) -> dict[str, str]:
    """By token, the provider's name of what was sent to it; names that no store could keep are left out."""
    taken = [(token, one.provider_message_id or "") for token, one in results.items() if isinstance(one, Sent)]
    return {token: ticket for token, ticket in taken if 0 < len(ticket) <= _MAX_TICKET and ticket.isprintable()}


_MAX_TICKET = 200
_WEIGHT = {
    FailureKind.RATE_LIMITED: 0,
    FailureKind.RETRYABLE: 1,
    FailureKind.PERMANENT: 2,
    FailureKind.RECIPIENT_INVALID: 3,
}


def _result(token: str, result: Sent | SendFailure) -> dict[str, Any]:
    # Enough of a token to find it, and too little to send to it.
    name = f"{token[:6]}…"
    if isinstance(result, Sent):
        return {"token": name, "id": result.provider_message_id}
    return {"token": name, "kind": result.kind, "error": result.message, "answer": result.raw}


def _tokens(outgoing: Outgoing) -> Iterable[str]:
    given = outgoing.overrides.get("deviceTokens")
    if isinstance(given, list) and all(isinstance(token, str) for token in given):
        return given
    return outgoing.device_tokens


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
