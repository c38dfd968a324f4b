"""Receipts: what providers report of messages later, and whether it is them who speak."""

import hmac
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec

from clarion.clock import MINUTE, Millis, find_moment
from clarion.errors import ClarionError
from clarion.providers.definition.answer import ProviderAnswer, values_at
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.request import ProviderRequest, basic
from clarion.secret import Secret

A = TypeVar("A", bound=Credentials)
T = TypeVar("T")
Asking = Generator[ProviderRequest, ProviderAnswer, T]
"""Something that takes calls of its own to find out: it yields requests and is sent their answers."""

_MAX_AGE = 5 * MINUTE
_FIRST_IN_MILLIS = 100_000_000_000


class ReceiptKind(StrEnum):
    SENT = "sent"
    DELIVERED = "delivered"
    DEFERRED = "deferred"
    BOUNCED = "bounced"
    FAILED = "failed"
    COMPLAINED = "complained"
    UNSUBSCRIBED = "unsubscribed"
    OPENED = "opened"
    CLICKED = "clicked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One thing that happened to one message; named by the provider's id, or by ours where it was told that."""

    kind: ReceiptKind
    provider_message_id: str | None = None
    message_id: str | None = None
    recipient: str | None = None
    is_hard: bool = False
    """A bounce after which nobody should write to the address again."""
    at: Millis | None = None
    event_id: str | None = None
    """The provider's id of the event, by which repeated reports are known."""
    reason: str | None = None
    raw: Any = None


class ReceiptRefused(ClarionError):
    """The report cannot be read."""


class ReceiptForged(ReceiptRefused):
    """The report is not signed as its provider signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A call of a provider to us."""

    method: str
    url: str = field(repr=False)
    """The address that the provider called, query and all, as it knows it."""
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By names in lower case."""
    body: bytes = field(default=b"", repr=False)
    received_at: Millis
    token: Secret | None = None
    """What `token` in the query of our address must be; made for each integration."""

    def json(self) -> Any:
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReceiptRefused("The body is not JSON") from error

    def events(self) -> list[Mapping[str, Any]]:
        """The objects of a body that is one object or a list of them."""
        document = self.json()
        return [one for one in (document if isinstance(document, list) else [document]) if isinstance(one, Mapping)]

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8", errors="replace"), keep_blank_values=True))

    def is_recent(self, seconds: Any) -> bool:
        """Is this moment, in seconds since 1970, within five minutes of now?"""
        try:
            moment = float(seconds) * 1000
        except (TypeError, ValueError):
            return False
        return abs(self.received_at - moment) <= _MAX_AGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer that a provider insists on, such as the echo of a challenge."""

    status: int = 200
    body: str = ""
    content_type: str = "text/plain"


def no_reply(_: Callback, __: Any) -> Reply | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts(Generic[A]):
    """How a provider reports."""

    is_genuine: Callable[[Callback, A], bool | Asking[bool]]
    parse: Callable[[Callback], list[Receipt] | Asking[list[Receipt]]]
    handshake: Callable[[Callback, A], Reply | None] = no_reply
    """What to answer to a call that only asks whether we are there."""
    signed_with: str = ""
    """What proves the signatures: a credential, or a certificate; empty where the token in our address has to do."""
    source: Callable[[Callback], str] | None = None
    """Which of the provider's customers speaks, where its signature is the same for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry(Generic[A]):
    """Receipts that a provider has for those who ask, by the tickets that it gave for messages."""

    request: Callable[[A, Sequence[str]], ProviderRequest]
    read: Callable[[ProviderAnswer], list[Receipt]]
    """Those that are there by now, each with its ticket for the provider's id."""


def by_token(callback: Callback, _: Any) -> bool:
    """For providers that sign nothing: our address, which only they were given, holds a token."""
    given = callback.query.get("token", "")
    return callback.token is not None and is_same(given, callback.token.reveal())


def by_basic(user: str, password: Secret) -> Callable[[Callback], bool]:
    expected = basic(user, password)["Authorization"]
    return lambda callback: is_same(callback.headers.get("authorization", ""), expected)


def is_same(given: str, expected: str) -> bool:
    """Compares in the same time whatever is given."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def read_moment(value: Any) -> Millis | None:
    """A moment in seconds or milliseconds since 1970, as a number or a text, or in ISO 8601."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return find_moment(str(value))
    if not math.isfinite(number):
        return None
    return Millis(round(number if number >= _FIRST_IN_MILLIS else number * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReader:
    """Reads reports whose parts are always at the same dotted paths; events of other kinds are passed over."""

    kinds: Mapping[str, ReceiptKind]
    kind: str
    id: str = ""
    own_id: str = ""
    recipient: str = ""
    at: str = ""
    event_id: str = ""
    reason: str = ""
    is_hard: Callable[[Mapping[str, Any]], bool] = lambda _: False
    """Asked about bounces alone."""
    tidy_id: Callable[[str], str] = str
    """Makes the id of a report the one that sending gave."""
    events: Callable[[Callback], Iterable[Mapping[str, Any]]] = Callback.events

    def __call__(self, callback: Callback) -> list[Receipt]:
        found = [(self.kinds.get(str(_text(event, self.kind))), event) for event in self.events(callback)]
        return [self._receipt(kind, event) for kind, event in found if kind is not None]

    def _receipt(self, kind: ReceiptKind, event: Mapping[str, Any]) -> Receipt:
        provider_id = _text(event, self.id)
        return Receipt(
            kind=kind,
            provider_message_id=self.tidy_id(provider_id) if provider_id else None,
            message_id=_text(event, self.own_id),
            recipient=_text(event, self.recipient),
            is_hard=kind is ReceiptKind.BOUNCED and self.is_hard(event),
            at=read_moment(next(values_at(event, self.at), None)),
            event_id=_text(event, self.event_id),
            reason=_text(event, self.reason),
            raw=event,
        )


def kinds_of(**words: Iterable[str]) -> Mapping[str, ReceiptKind]:
    """The provider's words by what they mean here: `kinds_of(delivered=("delivered", "read"), failed=("failed",))`."""
    return {word: ReceiptKind(kind) for kind, several in words.items() for word in several}


def form_events(callback: Callback) -> list[Mapping[str, Any]]:
    """The one event of a report that is a form, or the query of a GET."""
    return [callback.form() if callback.body else callback.query]


def json_or_form_events(callback: Callback) -> list[Mapping[str, Any]]:
    """For providers whose accounts choose how they are told: in JSON, in a form or in the query of a GET."""
    return callback.events() if callback.body.startswith((b"{", b"[")) else form_events(callback)


def _text(event: Mapping[str, Any], path: str) -> str | None:
    value = next(values_at(event, path), None)
    return None if value is None or value == "" or isinstance(value, dict | list) else str(value)
