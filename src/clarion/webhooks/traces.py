"""Spans of webhooks: one for each post of an event about a message of a traced trigger."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import wall_nanoseconds
from clarion.db.port import Database
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, MessageId, find_id, id_text
from clarion.monitoring.traces.model import Span, SpanKind
from clarion.monitoring.traces.store import MessageTrace, list_message_traces
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.webhooks.deliveries import ClaimedDelivery
from clarion.webhooks.model import DeliveryAttempt

Post = Callable[[Mapping[str, str]], Awaitable[DeliveryAttempt]]
"""Posts an event with additional headers."""


class _Event(Struct):
    type: str
    data: dict[str, Any]


class WebhookTracer:
    """Finds the deliveries whose triggers are traced, and posts them in spans."""

    def __init__(self, database: Database, tracer: Tracer) -> None:
        self._database = database
        self._tracer = tracer
        self._traces: dict[ClaimedDelivery, tuple[str, MessageTrace]] = {}

    async def add(self, environment_id: EnvironmentId, deliveries: Sequence[ClaimedDelivery]) -> None:
        """Remember which deliveries are traced; without the store, they are posted without spans."""
        events = {one: event for one in deliveries if (event := _read_event(one.payload)) is not None}
        ids = {message_id for _, message_id in events.values()}
        if not ids:
            return
        find = partial(list_message_traces, environment_id=environment_id, message_ids=ids)
        try:
            found = await self._database.read(find)
        except StoreUnavailable:
            return
        self._traces |= {one: (kind, found[of]) for one, (kind, of) in events.items() if of in found}

    async def post(self, delivery: ClaimedDelivery, post: Post) -> DeliveryAttempt:
        traced = self._traces.pop(delivery, None)
        if traced is None:
            return await post({})
        kind, trace = traced
        context, started_at = trace.run.at(new_span_id()), wall_nanoseconds()
        attempt = await post(context.headers)
        self._tracer.export(
            Span(
                name=f"webhook {kind}",
                kind=SpanKind.CLIENT,
                context=context,
                parent=trace.run,
                started_at=started_at,
                ended_at=wall_nanoseconds(),
                attributes=trace.attributes
                | {
                    "clarion.webhook_endpoint_id": id_text(delivery.endpoint.id),
                    "clarion.attempt": delivery.number,
                    "clarion.status": "delivered" if attempt.is_success else "failed",
                }
                | ({} if attempt.status is None else {"http.response.status_code": attempt.status}),
                error=None if attempt.is_success else "failed",
            )
        )
        return attempt


def _read_event(payload: str | None) -> tuple[str, MessageId] | None:
    """The type of an event and the message that it is about; None if it is about no message."""
    if payload is None:
        return None
    event = msgspec.json.decode(payload, type=_Event)
    message_id = find_id(str(event.data.get("_id"))) if event.type.startswith("message.") else None
    return None if message_id is None else (event.type, MessageId(message_id))
