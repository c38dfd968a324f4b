"""The W3C trace context, which is read from requests, stored with triggers and sent to webhooks, and spans as records.

Spans are made when the work is done, and only for sampled traces.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

_TRACEPARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_MAX_STATE_BYTES = 512
_STATE = re.compile(rb"[\x20-\x7e]+")
_SAMPLED = 1


class TraceContext(Struct, frozen=True):
    """A span of a sampled trace, which other spans can name as their parent."""

    trace_id: bytes
    """16 bytes."""
    span_id: bytes
    """8 bytes."""
    state: str = ""
    """The `tracestate`, which is passed on unchanged."""

    @property
    def stored(self) -> str:
        """As it is stored with a trigger; `parse_stored` reads it."""
        return f"{self.traceparent} {self.state}" if self.state else self.traceparent

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id.hex()}-{self.span_id.hex()}-01"

    @property
    def headers(self) -> dict[str, str]:
        """The headers that pass it on to another service."""
        return {"traceparent": self.traceparent} | ({"tracestate": self.state} if self.state else {})

    def at(self, span_id: bytes) -> "TraceContext":
        """Another span of the same trace."""
        return TraceContext(self.trace_id, span_id, self.state)


class IncomingContext(Struct, frozen=True):
    """What the headers of a request say."""

    context: TraceContext
    is_sampled: bool


def read_headers(headers: Mapping[bytes, bytes]) -> IncomingContext | None:
    """Read the context of a request; None if it has none, or a malformed one, which counts as none."""
    given = headers.get(b"traceparent")
    match = None if given is None else _TRACEPARENT.fullmatch(given.strip())
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    if version == b"ff" or (version == b"00" and more) or not (trace_id.strip(b"0") and span_id.strip(b"0")):
        return None
    context = TraceContext(_from_hex(trace_id), _from_hex(span_id), _read_state(headers.get(b"tracestate", b"")))
    return IncomingContext(context, is_sampled=bool(int(flags, 16) & _SAMPLED))


def parse_stored(text: str) -> TraceContext:
    traceparent, _, state = text.partition(" ")
    _, trace_id, span_id, _ = traceparent.split("-")
    return TraceContext(bytes.fromhex(trace_id), bytes.fromhex(span_id), state)


def run_span_id(notification_id: bytes) -> bytes:
    """The id of the span that starts a run: known to all processes that work on the run, and stored nowhere."""
    return notification_id[8:]


def _from_hex(text: bytes) -> bytes:
    return bytes.fromhex(text.decode())


def _read_state(given: bytes) -> str:
    state = given.strip()
    return state.decode() if len(state) <= _MAX_STATE_BYTES and _STATE.fullmatch(state) else ""


Attributes: TypeAlias = Mapping[str, str | int | bool]
"""Names that start with `clarion.` or are OpenTelemetry's own. No personal data, contents or secrets."""


class SpanKind(StrEnum):
    SERVER = "server"
    INTERNAL = "internal"
    CLIENT = "client"
    CONSUMER = "consumer"


class SpanEvent(Struct, frozen=True):
    name: str
    attributes: Attributes


class Span(Struct, frozen=True, kw_only=True):
    """Something that was done, with the time that it took in nanoseconds since 1970."""

    name: str
    kind: SpanKind
    context: TraceContext
    parent: TraceContext | None
    started_at: int
    ended_at: int
    attributes: Attributes
    events: Sequence[SpanEvent] = ()
    links: Sequence[TraceContext] = ()
    error: str | None = None
    """What kind of failure it was; None if it succeeded."""
