"""Spans of sends: one for each call of a provider."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from msgspec.structs import replace

from clarion.clock import wall_nanoseconds
from clarion.db.port import Database
from clarion.errors import StoreUnavailable
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.monitoring.traces.model import Span, SpanKind
from clarion.monitoring.traces.store import list_message_traces
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import SendFailure, Sent
from clarion.sending.model import ClaimedSend
from clarion.sending.outgoing import Gateway


async def add_traces(database: Database, sends: Sequence[ClaimedSend]) -> None:
    """Mark the messages whose triggers are traced; without the store, they are sent without spans."""
    for environment_id, group in groupby(sends, lambda send: send.environment_id):
        own = list(group)
        ids = [message.id for send in own for message in send.messages]
        try:
            traces = await database.read(partial(list_message_traces, environment_id=environment_id, message_ids=ids))
        except StoreUnavailable:
            return
        for send in own if traces else ():
            send.traces = {id_text(one.id): traces[one.id] for one in send.messages if one.id in traces}


async def send_traced(
    tracer: Tracer, gateway: Gateway, send: ClaimedSend, integration: Integration, outgoing: Outgoing
) -> Sent:
    """Call the provider in a span; receivers of plain webhooks get its context."""
    trace = send.traces.get(outgoing.message_id)
    if trace is None:
        return await gateway.send(integration.provider_id, outgoing)
    context, started_at, error = trace.run.at(new_span_id()), wall_nanoseconds(), "stopped"
    try:
        sent = await gateway.send(integration.provider_id, replace(outgoing, trace_headers=context.headers))
        error = ""
    except SendFailure as failure:
        # Its message may quote the provider, which may quote the message.
        error = str(failure.kind)
        raise
    else:
        return sent
    finally:
        tracer.export(
            Span(
                name=f"send {send.channel}",
                kind=SpanKind.CLIENT,
                context=context,
                parent=trace.run,
                started_at=started_at,
                ended_at=wall_nanoseconds(),
                attributes=trace.attributes
                | {
                    "clarion.provider": integration.provider_id,
                    "clarion.integration_id": id_text(integration.id),
                    "clarion.attempt": send.claimed_attempt,
                    "clarion.status": error or "sent",
                },
                error=error or None,
            )
        )
