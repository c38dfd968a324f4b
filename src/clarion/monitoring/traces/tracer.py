"""The tracer of a process: which requests are traced, and where spans go."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from clarion.clock import wall_nanoseconds
from clarion.errors import SettingsError
from clarion.ids import random_bytes
from clarion.monitoring.traces.model import Span, SpanKind, TraceContext, read_headers
from clarion.settings.model import Settings

_MISSING = "CLARION_TRACES_ENDPOINT needs OpenTelemetry, which is not installed: pip install 'clarion[traces]'."


class SpanExporter(Protocol):
    """Takes spans without waiting, and sends them later."""

    def export(self, span: Span) -> None: ...

    async def close(self) -> None: ...


class RequestTrace(Struct, frozen=True):
    """A request that is traced."""

    context: TraceContext
    """Of the request's own span."""
    parent: TraceContext | None
    """The caller's span; None if the trace starts here."""
    started_at: int


class Tracer:
    """Decides which requests are traced, and exports spans."""

    def __init__(self, exporter: SpanExporter, *, share: float) -> None:
        """`share` is how many of the requests without a context start a trace, from 0 to 1."""
        self._exporter = exporter
        self._limit = int(share * 2**64)

    def start_request(self, headers: Mapping[bytes, bytes], *, can_start: bool) -> RequestTrace | None:
        """Begin the span of a request; None if it is not sampled.

        The context of the caller decides. Without one, a share of those that `can_start` a trace does so.
        """
        incoming = read_headers(headers)
        if incoming is not None:
            if not incoming.is_sampled:
                return None
            return RequestTrace(incoming.context.at(new_span_id()), incoming.context, wall_nanoseconds())
        if not can_start:
            return None
        trace_id = random_bytes(16)
        if int.from_bytes(trace_id[8:]) >= self._limit:
            return None
        return RequestTrace(TraceContext(trace_id, new_span_id()), None, wall_nanoseconds())

    def end_request(self, trace: RequestTrace, route: str, *, method: str, status: int, environment_id: str) -> None:
        self.export(
            Span(
                name=f"{method} {route}",
                kind=SpanKind.SERVER,
                context=trace.context,
                parent=trace.parent,
                started_at=trace.started_at,
                ended_at=wall_nanoseconds(),
                attributes={
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": status,
                    "clarion.environment_id": environment_id,
                },
                error=str(status) if status >= 500 else None,
            )
        )

    def export(self, span: Span) -> None:
        self._exporter.export(span)

    async def close(self) -> None:
        """Send what is waiting, for a few seconds at most."""
        await self._exporter.close()


def open_tracer(settings: Settings) -> Tracer | None:
    """The tracer that the settings describe; None if there is no collector. Only then OpenTelemetry is imported."""
    if settings.traces_endpoint is None:
        return None
    try:
        from clarion.monitoring.traces.otlp import OtlpExporter  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise SettingsError(_MISSING) from error
    return Tracer(OtlpExporter(settings.traces_endpoint), share=settings.traces_sample)


def new_span_id() -> bytes:
    return random_bytes(8)
