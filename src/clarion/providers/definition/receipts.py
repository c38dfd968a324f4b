"""Receipts: delivery reports of providers, and checking that they are authentic."""

import hmac
import math
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from clarion.clock import MINUTE, Millis, find_moment
from clarion.errors import ClarionError
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import ProviderAnswer, values_at
from clarion.secret import Secret

A = TypeVar("A", bound=Credentials)
T = TypeVar("T")
RequestFlow = Generator[ProviderRequest, ProviderAnswer, T]
"""A generator for results that need extra calls: it yields requests and receives their answers."""
Ask = Callable[[ProviderRequest], Awaitable[ProviderAnswer]]
_MAX_AGE = 5 * MINUTE
_MIN_MILLIS = 100_000_000_000
"""Larger numbers are milliseconds, smaller ones are seconds."""


async def run_flow(flow: RequestFlow[T], ask: Ask) -> T:
    """Make the calls that a flow yields, and return its result."""
    try:
        request = next(flow)
        while True:
            request = flow.send(await ask(request))
    except StopIteration as done:
        result: T = done.value
        return result


class ReceiptKind(StrEnum):
    SENT = "sent"
    """The provider sent it on."""
    DELIVERED = "delivered"
    """It arrived at the recipient's server or device."""
    DEFERRED = "deferred"
    """The recipient's server asked to try later."""
    BOUNCED = "bounced"
    """The recipient's server refused it."""
    FAILED = "failed"
    """The provider gave up."""
    COMPLAINED = "complained"
    """The recipient reported it as spam."""
    UNSUBSCRIBED = "unsubscribed"
    """The recipient wants no more of them."""
    OPENED = "opened"
    """The recipient opened it."""
    CLICKED = "clicked"
    """The recipient followed a link."""


class Receipt(Struct, frozen=True, kw_only=True):
    """One event of one message, identified by the provider's id, or by ours if the provider reports it."""

    kind: ReceiptKind
    provider_message_id: str | None = None
    message_id: str | None = None
    recipient: str | None = None
    is_hard: bool = False
    """A permanent bounce: the address must not be used again."""
    at: Millis | None = None
    event_id: str | None = None
    """The provider's id of the event, by which repeated reports are recognised."""
    reason: str | None = None
    raw: Any = None


class InboundText(Struct, frozen=True, kw_only=True):
    """A text message that somebody sent to us."""

    sender: str
    """Their number, as the provider writes it."""
    text: str
    wish: bool | None = None
    """What the provider says that they ask for: messages, or none; None: it does not say."""


class ReceiptRefused(ClarionError):
    """The report cannot be read."""


class ReceiptForged(ReceiptRefused):
    """The report has no valid signature of its provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A webhook call from a provider to us."""

    method: str
    url: str = field(repr=False)
    """The full URL with its query, as the provider called it."""
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names are lower-case."""
    body: bytes = field(default=b"", repr=False)
    received_at: Millis
    token: Secret | None = None
    """The expected value of `token` in the query; each integration has its own."""

    def json(self) -> Any:
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReceiptRefused("The body is not JSON") from error

    def events(self) -> list[Mapping[str, Any]]:
        """Return the objects of a body that is one object or a list of objects."""
        document = self.json()
        return [one for one in (document if isinstance(document, list) else [document]) if isinstance(one, Mapping)]

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8", errors="replace"), keep_blank_values=True))

    def is_recent(self, seconds: Any) -> bool:
        """Return whether a time in seconds since 1970 is within five minutes of now."""
        try:
            millis = float(seconds) * 1000
        except (TypeError, ValueError):
            return False
        return abs(self.received_at - millis) <= _MAX_AGE


class ProviderReply(Struct, frozen=True, kw_only=True):
    """An answer that a provider requires, such as the echo of a challenge."""

    status: int = 200
    body: str = ""
    content_type: str = "text/plain"


def no_reply(_: Callback, __: Any) -> ProviderReply | None:
    return None


def by_token(callback: Callback, _: Any) -> bool:
    """Check the token in our URL, which only the provider knows; for providers that sign nothing."""
    given = callback.query.get("token", "")
    return callback.token is not None and is_same(given, callback.token.reveal())


def is_same(given: str, expected: str) -> bool:
    """Compare in constant time; an empty expected value never matches."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


class Receipts(Struct, Generic[A], frozen=True, kw_only=True):
    """How a provider sends receipts."""

    parse: Callable[[Callback], list[Receipt] | RequestFlow[list[Receipt]]]
    is_genuine: Callable[[Callback, A], bool | RequestFlow[bool]] = by_token
    handshake: Callable[[Callback, A], ProviderReply | None] = no_reply
    """Returns the answer to a call that only verifies our URL; None for any other call."""
    signed_with: str = ""
    """Which credential or certificate verifies signatures; empty if only the token in our URL proves the origin."""
    register: Callable[[A, str], RequestFlow[Secret]] | None = None
    """Has the provider report to a URL, once however often it runs, and returns the key of its signatures."""
    inbound: Callable[[Callback], list[InboundText]] = lambda _: []
    """Returns the text messages that people sent, if the call is about such."""
    source: Callable[[Callback], str] | None = None
    """Returns which customer of the provider sends, for signatures that are the same for all customers."""


class ReceiptQuery(Struct, Generic[A], frozen=True, kw_only=True):
    """How to fetch receipts from a provider that does not push them, by the tickets of the sends."""

    request: Callable[[A, Sequence[str]], ProviderRequest]
    read: Callable[[ProviderAnswer], list[Receipt]]
    """Returns the receipts that are available, each with its ticket as the provider's message id."""


def find_ours(hooks: Iterable[Any], name: str, url: str) -> str | None:
    """Return the id of the webhook that reports to our address, whatever token its URL has."""
    address = url.partition("?")[0]
    for hook in hooks:
        if isinstance(hook, Mapping) and str(hook.get(name, "")).partition("?")[0] == address:
            return str(hook["id"])
    return None


def parse_time(value: Any) -> Millis | None:
    """Parse a time: seconds or milliseconds since 1970, as a number or text, or ISO 8601."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return find_moment(str(value))
    if not math.isfinite(number):
        return None
    return Millis(round(number if number >= _MIN_MILLIS else number * 1000))


class EventReader(Struct, frozen=True, kw_only=True):
    """Reads receipts whose values are at fixed dotted paths; skips events of unknown kinds."""

    kinds: Mapping[str, ReceiptKind]
    kind: str
    id: str = ""
    own_id: str = ""
    recipient: str = ""
    at: str = ""
    event_id: str = ""
    reason: str = ""
    is_hard: Callable[[Mapping[str, Any]], bool] = lambda _: False
    """Called for bounces only."""
    normalize_id: Callable[[str], str] = str
    """Converts the id in a report to the one that was returned by the send."""
    events: Callable[[Callback], Iterable[Mapping[str, Any]]] = Callback.events

    def __call__(self, callback: Callback) -> list[Receipt]:
        found = [(self.kinds.get(str(_text(event, self.kind))), event) for event in self.events(callback)]
        return [self._receipt(kind, event) for kind, event in found if kind is not None]

    def _receipt(self, kind: ReceiptKind, event: Mapping[str, Any]) -> Receipt:
        provider_id = _text(event, self.id)
        return Receipt(
            kind=kind,
            provider_message_id=self.normalize_id(provider_id) if provider_id else None,
            message_id=_text(event, self.own_id),
            recipient=_text(event, self.recipient),
            is_hard=kind is ReceiptKind.BOUNCED and self.is_hard(event),
            at=parse_time(next(values_at(event, self.at), None)),
            event_id=_text(event, self.event_id),
            reason=_text(event, self.reason),
            raw=event,
        )


class TextReader(Struct, frozen=True, kw_only=True):
    """Reads text messages whose values are at fixed dotted paths; events without a sender and a text are others."""

    sender: str
    text: str
    wish: str = ""
    """Where the provider says what the person asks for."""
    stops: str = ""
    starts: str = ""
    events: Callable[[Callback], Iterable[Mapping[str, Any]]] = Callback.events

    def __call__(self, callback: Callback) -> list[InboundText]:
        read = [(_text(event, self.sender), _text(event, self.text), event) for event in self.events(callback)]
        return [
            InboundText(sender=sender, text=text, wish=self._read_wish(event))
            for sender, text, event in read
            if sender is not None and text is not None
        ]

    def _read_wish(self, event: Mapping[str, Any]) -> bool | None:
        said = (_text(event, self.wish) if self.wish else None) or ""
        return {self.stops: False, self.starts: True}.get(said.lower()) if said else None


def kinds_of(**names: Iterable[str]) -> Mapping[str, ReceiptKind]:
    """Map the provider's event names to kinds: `kinds_of(delivered=("delivered", "read"), failed=("failed",))`."""
    return {name: ReceiptKind(kind) for kind, several in names.items() for name in several}


def form_events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return the single event of a report that is a form or the query of a GET."""
    return [callback.form() if callback.body else callback.query]


def json_or_form_events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return the events of a report in JSON, a form or the query of a GET, as the account is configured."""
    return callback.events() if callback.body.startswith((b"{", b"[")) else form_events(callback)


def _text(event: Mapping[str, Any], path: str) -> str | None:
    value = next(values_at(event, path), None)
    return None if value is None or value == "" or isinstance(value, dict | list) else str(value)
