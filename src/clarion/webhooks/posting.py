"""Posts events to their receivers, signed by the Standard Webhooks scheme."""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from clarion.clock import SECOND, Millis
from clarion.ids import WebhookEventId, id_text
from clarion.providers.definition.request import Encoding, ProviderRequest
from clarion.providers.definition.result import ProviderAnswer, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.signing.signatures import hmac_base64
from clarion.webhooks.model import DeliveryAttempt, Endpoint

_MAX_QUOTE = 500


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
    attempt = await _call(gateway, request)
    return replace(attempt, milliseconds=int((time.perf_counter() - started) * 1000))


async def _call(gateway: ProviderGateway, request: ProviderRequest) -> DeliveryAttempt:
    try:
        answer = await gateway.call(request)
    except SendFailure as failure:
        return DeliveryAttempt(error=_without_nul(failure.message), status=_status_of(failure))
    if answer.is_success:
        return DeliveryAttempt(status=answer.status)
    return DeliveryAttempt(error=_refusal(answer), status=answer.status, retry_after_seconds=answer.retry_after)


def sign(named: Mapping[str, str], content: bytes, keys: Sequence[bytes]) -> str:
    """Return one signature for each key; a receiver accepts the event if one of them is valid."""
    signed = f"{named['webhook-id']}.{named['webhook-timestamp']}.".encode() + content
    return " ".join(f"v1,{hmac_base64(key, signed)}" for key in keys)


def _refusal(answer: ProviderAnswer) -> str:
    text = " ".join(_without_nul(answer.text).split())[:_MAX_QUOTE]
    return f"The receiver answered {answer.status}{': ' if text else ''}{text}"


def _status_of(failure: SendFailure) -> int | None:
    return failure.raw.get("status") if isinstance(failure.raw, dict) else None


def _without_nul(text: str) -> str:
    # A receiver's response may contain NUL, which PostgreSQL cannot store in a text.
    return text.replace("\0", "")
