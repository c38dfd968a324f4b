"""Spans as records; they are made when the work is done, and only for sampled traces."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from clarion.monitoring.traces.context import TraceContext

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
