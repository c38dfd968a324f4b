"""A collector on the loopback interface: OTLP over HTTP, as OpenTelemetry speaks it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.providers.loopback import WebServer, answering, web_server

# The SDK waits five seconds for more spans otherwise.
EXPORT_AT_ONCE = {"OTEL_BSP_SCHEDULE_DELAY": "50"}


class ReceivedSpan(Struct, frozen=True, kw_only=True):
    """A span as the collector gets it; ids are hexadecimal."""

    name: str
    trace_id: str
    id: str
    parent_id: str
    state: str
    kind: int
    started_at: int
    ended_at: int
    attributes: dict[str, Any]
    events: dict[str, dict[str, Any]]
    links: set[str]
    """The ids of the spans that it links to."""
    error: str | None


class Collector:
    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.url = server.url("")

    @property
    def settings(self) -> dict[str, str]:
        return {"CLARION_TRACES_ENDPOINT": self.url, **EXPORT_AT_ONCE}

    def list_spans(self) -> list[ReceivedSpan]:
        return [span for request in self.server.requests for span in _read_spans(request)]

    async def wait_for(self, is_complete: Callable[[list[ReceivedSpan]], bool]) -> list[ReceivedSpan]:
        """The spans, as soon as they are complete."""
        spans: list[ReceivedSpan] = []
        for _ in range(300):
            spans = self.list_spans()
            if is_complete(spans):
                return spans
            await asyncio.sleep(0.1)
        raise AssertionError(f"not complete: {sorted(one.name for one in spans)}")


@asynccontextmanager
async def open_collector() -> AsyncIterator[Collector]:
    async with web_server(answering(200, "")) as server:
        yield Collector(server)


def _read_spans(request: bytes) -> list[ReceivedSpan]:
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/traces "), head
    message = ExportTraceServiceRequest.FromString(body)
    return [
        ReceivedSpan(
            name=one.name,
            trace_id=one.trace_id.hex(),
            id=one.span_id.hex(),
            parent_id=one.parent_span_id.hex(),
            state=one.trace_state,
            kind=one.kind,
            started_at=one.start_time_unix_nano,
            ended_at=one.end_time_unix_nano,
            attributes=_read_attributes(one.attributes)
            | {"service.name": _read_attributes(resource.resource.attributes)["service.name"]},
            events={event.name: _read_attributes(event.attributes) for event in one.events},
            links={link.span_id.hex() for link in one.links},
            error=one.status.message if one.status.code == one.status.STATUS_CODE_ERROR else None,
        )
        for resource in message.resource_spans
        for scope in resource.scope_spans
        for one in scope.spans
    ]


def _read_attributes(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
