"""Posts events to their receivers, signed by the Standard Webhooks scheme, in spans if their triggers are traced."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import SECOND, Millis, wall_nanoseconds
from clarion.db.port import Database
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, MessageId, WebhookEventId, find_id, id_text
from clarion.monitoring.traces.model import Span, SpanKind
from clarion.monitoring.traces.store import MessageTrace, list_message_traces
from clarion.monitoring.traces.tracer import Tracer, new_span_id
from clarion.providers.definition.request import Encoding, ProviderRequest
from clarion.providers.definition.result import ProviderAnswer, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.signing.signatures import hmac_base64
from clarion.webhooks.deliveries import ClaimedDelivery
from clarion.webhooks.model import DeliveryAttempt, Endpoint

_MAX_QUOTE = 500

Post = Callable[[Mapping[str, str]], Awaitable[DeliveryAttempt]]
"""Posts an event with additional headers."""


class _Event(Struct):
    type: str
    data: dict[str, Any]


async def post_event(
    gateway: ProviderGateway,
    endpoint: Endpoint,
    event_id: WebhookEventId,
    payload: str,
    now: Millis,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> DeliveryAttempt:
    """Post an event to the receiver once, with further headers; failures are returned, not raised."""
    content = payload.encode()
    named = {"webhook-id": id_text(event_id), "webhook-timestamp": str(now // SECOND)}
    request = ProviderRequest(
        url=endpoint.url,
        encoding=Encoding.RAW,
        body=content,
        headers={"Content-Type": "application/json", **headers, **named},
        auth={"webhook-signature": sign(named, content, endpoint.signing_keys(now))},
    )
    started = time.perf_counter()
    attempt = await _call(gateway, request, quotes=not endpoint.takes_callbacks)
    return replace(attempt, milliseconds=int((time.perf_counter() - started) * 1000))


def sign(named: Mapping[str, str], content: bytes, keys: Sequence[bytes]) -> str:
    """Return one signature for each key; a receiver accepts the event if one of them is valid."""
    signed = f"{named['webhook-id']}.{named['webhook-timestamp']}.".encode() + content
    return " ".join(f"v1,{hmac_base64(key, signed)}" for key in keys)


class WebhookTracer:
    """Finds the deliveries whose triggers are traced, and posts them in spans."""

    def __init__(self, database: Database, tracer: Tracer) -> None:
        self._database = database
        self._tracer = tracer
        self._traces: dict[ClaimedDelivery, tuple[str, MessageTrace]] = {}

    async def add(self, environment_id: EnvironmentId, deliveries: Sequence[ClaimedDelivery]) -> None:
        """Remember which deliveries are traced; without the store, they are posted without spans."""
        stored = {delivery: delivery.payload for delivery in deliveries if delivery.url is None}
        events = {delivery: event for delivery, text in stored.items() if (event := _read_event(text)) is not None}
        ids = {message_id for _, message_id in events.values()}
        if not ids:
            return
        find = partial(list_message_traces, environment_id=environment_id, message_ids=ids)
        try:
            traces = await self._database.read(find)
        except StoreUnavailable:
            return
        self._traces |= {one: (kind, traces[of]) for one, (kind, of) in events.items() if of in traces}

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


async def _call(gateway: ProviderGateway, request: ProviderRequest, *, quotes: bool) -> DeliveryAttempt:
    """`quotes` tells what the receiver says; that of a callback may repeat the payload, which not everybody reads."""
    try:
        answer = await gateway.call(request)
    except SendFailure as failure:
        return DeliveryAttempt(error=_without_nul(failure.message), status=_status_of(failure))
    if answer.is_success:
        return DeliveryAttempt(status=answer.status)
    return DeliveryAttempt(
        error=_refusal(answer, quotes=quotes), status=answer.status, retry_after_seconds=answer.retry_after
    )


def _refusal(answer: ProviderAnswer, *, quotes: bool) -> str:
    text = " ".join(_without_nul(answer.text).split())[:_MAX_QUOTE] if quotes else ""
    return f"The receiver answered {answer.status}{': ' if text else ''}{text}"


def _status_of(failure: SendFailure) -> int | None:
    return failure.raw.get("status") if isinstance(failure.raw, dict) else None


def _without_nul(text: str) -> str:
    # A receiver's response may contain NUL, which PostgreSQL cannot store in a text.
    return text.replace("\0", "")


def _read_event(payload: str | None) -> tuple[str, MessageId] | None:
    """The type of an event and the message that it is about; None if it is about no message."""
    if payload is None:
        return None
    event = msgspec.json.decode(payload, type=_Event)
    message_id = find_id(str(event.data.get("_id"))) if event.type.startswith("message.") else None
    return None if message_id is None else (event.type, MessageId(message_id))
