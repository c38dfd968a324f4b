"""A push notification: device tokens, texts, and data for the app."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar
from uuid import UUID, uuid5

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.jsontext import json_text
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.overrides import extras
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.secret import PartlyPrinted

KNOWN = frozenset({"title", "body", "content", "data", "badge", "sound", "image"})


class Push(PartlyPrinted, frozen=True, kw_only=True):
    """One notification for the devices of one subscriber."""

    PRINTED: ClassVar = ("message_id", "at", "title", "body", "data", "options")
    message_id: str
    at: Millis
    """The time of this attempt."""
    tokens: tuple[str, ...]
    title: str
    body: str
    data: Mapping[str, Any]
    payload: Mapping[str, Any] = {}
    """The payload of the trigger."""
    badge: int | None = None
    sound: str | None = None
    sound_options: Mapping[str, Any] | None = None
    """Name, volume and whether it is critical, if the sound is an object."""
    image: str | None = None
    options: Mapping[str, Any] = {}
    """Overrides that are specific to the provider, by the names of our API."""
    context: Mapping[str, Any] = {}
    change_number: int = 0
    """How often the notification was replaced, this time included."""

    @property
    def call_key(self) -> str:
        """The key by which a provider knows a call that is made again: a replacement is another call."""
        if not self.change_number:
            return self.message_id
        return str(uuid5(UUID(self.message_id), str(self.change_number)))

    @property
    def token(self) -> str:
        """The only token, for providers with one call per device."""
        return self.tokens[0]

    @property
    def any_sound(self) -> str | Mapping[str, Any] | None:
        """The sound as it was given, for providers that accept both forms."""
        return self.sound_options or self.sound

    @property
    def app_data(self) -> dict[str, Any]:
        """What the app gets: the payload of the trigger, and the data of the step and the trigger in front of it."""
        if not self.payload:
            return dict(self.data)
        # Attachments are for e-mails, and larger than any notification may be.
        return {name: value for name, value in self.payload.items() if name != "attachments"} | dict(self.data)

    def per_token(self) -> Iterator["Push"]:
        for token in self.tokens:
            yield replace(self, tokens=(token,))


def as_texts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the data with JSON texts as values, for providers that accept only texts."""
    return {name: value if isinstance(value, str) else json_text(value) for name, value in data.items()}


def read_push(outgoing: Outgoing, now: Millis, *, is_addressed: bool = False) -> Push:
    """Build the notification of a message; one that overrides address to others needs no device tokens."""
    given = outgoing.overrides
    tokens = tuple(dict.fromkeys(filter(None, map(str.strip, _tokens(outgoing)))))
    if not tokens and not is_addressed:
        raise SendFailure(FailureKind.RECIPIENT_INVALID, "The subscriber has no device tokens")
    data = given.get("data")
    sound = given.get("sound")
    return Push(
        message_id=outgoing.message_id,
        at=now,
        tokens=tokens,
        title=str(given.get("title") or outgoing.title or ""),
        body=str(given.get("body") or given.get("content") or outgoing.content),
        data={**(outgoing.data or {}), **(data if isinstance(data, Mapping) else {})},
        payload=outgoing.payload,
        badge=_number(given.get("badge")),
        sound=_text(sound.get("name") if isinstance(sound, Mapping) else sound),
        sound_options=sound if isinstance(sound, Mapping) else None,
        image=_text(given.get("image")),
        options=extras(given, KNOWN),
        context=outgoing.context,
        change_number=0 if outgoing.change is None else outgoing.change.number,
    )


def list_malformed(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the overrides that cannot be used because of their type, and why, by name."""
    rules = {
        "badge": ("must be a whole number", _number),
        "sound": ("must be a text, or an object with a name", lambda value: isinstance(value, str | Mapping)),
        "image": ("must be a text", lambda value: isinstance(value, str)),
        "data": ("must be an object", lambda value: isinstance(value, Mapping)),
    }
    return {
        name: text
        for name, (text, accepts) in rules.items()
        if given.get(name) is not None and accepts(given[name]) in (None, False)
    }


def join_results(results: Mapping[str, Sent | SendFailure]) -> Sent:
    """Combine the results of all tokens: the notification is sent if any token succeeded.

    If none did, raises the failure that is most likely to be temporary.
    """
    failures = {token: one for token, one in results.items() if isinstance(one, SendFailure)}
    dead = tuple(token for token, one in failures.items() if token and one.kind is FailureKind.RECIPIENT_INVALID)
    raw = {"tokens": [_result(token, one) for token, one in results.items()]}
    accepted = [one for one in results.values() if isinstance(one, Sent)]
    if accepted:
        return Sent(provider_message_id=accepted[0].provider_message_id, raw=raw, dead_tokens=dead)
    chosen = min(failures.values(), key=lambda one: _PRECEDENCE[one.kind])
    joined = SendFailure(chosen.kind, chosen.message, retry_after=chosen.retry_after, raw=raw)
    joined.dead_tokens = dead
    joined.is_account_refused = chosen.is_account_refused
    joined.is_ambiguous = any(one.is_ambiguous for one in failures.values())
    raise joined


def tickets_of(results: Mapping[str, Sent | SendFailure]) -> dict[str, str]:
    """Return the ticket of each token; skips tickets that are too long or not printable."""
    accepted = [(token, one.provider_message_id or "") for token, one in results.items() if isinstance(one, Sent)]
    return {token: ticket for token, ticket in accepted if 0 < len(ticket) <= _MAX_TICKET and ticket.isprintable()}


_MAX_TICKET = 200
_PRECEDENCE = {
    FailureKind.RATE_LIMITED: 0,
    FailureKind.RETRYABLE: 1,
    FailureKind.NO_CONNECTION: 2,
    FailureKind.PERMANENT: 3,
    FailureKind.RECIPIENT_INVALID: 4,
}


def _result(token: str, result: Sent | SendFailure) -> dict[str, Any]:
    # Enough to identify a token, but not enough to send to it.
    name = f"{token[:6]}…"
    if isinstance(result, Sent):
        return {"token": name, "id": result.provider_message_id}
    return {"token": name, "kind": result.kind, "error": result.message, "answer": result.raw}


def _tokens(outgoing: Outgoing) -> Iterable[str]:
    given = outgoing.overrides.get("deviceTokens")
    if isinstance(given, list) and all(isinstance(token, str) for token in given):
        return given
    return outgoing.device_tokens


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
