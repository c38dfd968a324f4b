"""Spans of receipts: one for each report of a provider that was recorded."""

from collections.abc import Sequence
from functools import partial

from clarion.clock import wall_nanoseconds
from clarion.db.port import Database
from clarion.errors import StoreUnavailable
from clarion.ids import MessageId
from clarion.integrations.model import Integration
from clarion.monitoring.traces.model import Span, SpanKind
from clarion.monitoring.traces.store import list_message_traces
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.receipts.model import DeliveryReport


async def trace_reports(
    database: Database,
    tracer: Tracer,
    integration: Integration,
    recorded: Sequence[tuple[DeliveryReport, MessageId]],
    started_at: int,
) -> None:
    """Export a span for each recorded report about a message of a traced trigger."""
    if not recorded:
        return
    ids = {message_id for _, message_id in recorded}
    find = partial(list_message_traces, environment_id=integration.environment_id, message_ids=ids)
    try:
        traces = await database.read(find)
    except StoreUnavailable:
        return
    ended_at = wall_nanoseconds()
    for report, message_id in recorded:
        trace = traces.get(message_id)
        if trace is not None:
            tracer.export(
                Span(
                    name=f"receipt {report.kind}",
                    kind=SpanKind.CONSUMER,
                    context=trace.run.at(new_span_id()),
                    parent=trace.run,
                    started_at=started_at,
                    ended_at=ended_at,
                    attributes=trace.attributes
                    | {"clarion.provider": integration.provider_id, "clarion.status": str(report.kind)},
                )
            )
