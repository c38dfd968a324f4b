"""Sends spans to an OpenTelemetry collector over OTLP/HTTP, from a thread of its own.

The queue of the batch processor is bounded: while the collector cannot be reached, new spans replace old ones.
"""

import asyncio
import logging
import threading

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags, TraceState
from opentelemetry.trace import SpanKind as OtelKind
from opentelemetry.trace.propagation import set_span_in_context

from clarion import __version__
from clarion.monitoring.traces.model import Span, SpanKind, TraceContext

_PATH = "/v1/traces"
_CLOSE_SECONDS = 3.0
_TIMEOUT_SECONDS = 5.0
_NAME = "clarion"
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_EMPTY = Context()
_KINDS = {
    SpanKind.SERVER: OtelKind.SERVER,
    SpanKind.INTERNAL: OtelKind.INTERNAL,
    SpanKind.CLIENT: OtelKind.CLIENT,
    SpanKind.CONSUMER: OtelKind.CONSUMER,
}


class OtlpExporter:
    """Exports through the OpenTelemetry SDK, which reads its own OTEL_… variables, such as headers of the collector."""

    def __init__(self, endpoint: str) -> None:
        # At warning level it logs each retry while the collector cannot be reached.
        logging.getLogger("opentelemetry").setLevel(logging.ERROR)
        url = endpoint.rstrip("/")
        exporter = OTLPSpanExporter(url if url.endswith(_PATH) else url + _PATH, timeout=_TIMEOUT_SECONDS)
        self._ids = _ChosenIds()
        self._provider = TracerProvider(
            sampler=ALWAYS_ON, resource=_make_resource(), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(_NAME, __version__)

    def export(self, span: Span) -> None:
        self._ids.choose(span.context)
        parent = None if span.parent is None else NonRecordingSpan(_otel_context(span.parent))
        made = self._tracer.start_span(
            span.name,
            # Without a parent, an empty context: the SDK would look for a span of the caller otherwise.
            context=_EMPTY if parent is None else set_span_in_context(parent, _EMPTY),
            kind=_KINDS[span.kind],
            attributes=span.attributes,
            links=[Link(_otel_context(one)) for one in span.links],
            start_time=span.started_at,
        )
        for event in span.events:
            made.add_event(event.name, event.attributes, span.ended_at)
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end(span.ended_at)

    async def close(self) -> None:
        # A daemon, because the SDK may wait for a collector that does not answer for longer than the process may.
        closing = threading.Thread(target=self._provider.shutdown, name="clarion-traces-end", daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, _CLOSE_SECONDS)


class _ChosenIds(IdGenerator):
    """Gives the next span the ids that were chosen for it; spans are started one at a time, on the event loop."""

    def __init__(self) -> None:
        self._next = TraceContext(bytes(16), bytes(8))

    def choose(self, context: TraceContext) -> None:
        self._next = context

    def generate_span_id(self) -> int:
        return int.from_bytes(self._next.span_id)

    def generate_trace_id(self) -> int:
        return int.from_bytes(self._next.trace_id)


def _make_resource() -> Resource:
    """What the process is; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win."""
    own = {"service.name": _NAME, "service.version": __version__}
    return Resource.create(own).merge(OTELResourceDetector().detect())


def _otel_context(context: TraceContext) -> SpanContext:
    return SpanContext(
        int.from_bytes(context.trace_id),
        int.from_bytes(context.span_id),
        is_remote=True,
        trace_flags=_SAMPLED,
        trace_state=TraceState.from_header([context.state]) if context.state else None,
    )
