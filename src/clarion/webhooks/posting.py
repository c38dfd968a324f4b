"""Posting an event to its receiver, signed by the Standard Webhooks scheme."""

from collections.abc import Mapping, Sequence

from clarion.clock import SECOND, Millis
from clarion.ids import WebhookEventId, id_text
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.request import Encoding, ProviderRequest
from clarion.providers.definition.result import SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.signing.digests import hmac_base64
from clarion.webhooks.model import Attempt, Endpoint

_MAX_QUOTE = 500


async def post_event(
    gateway: ProviderGateway, endpoint: Endpoint, event_id: WebhookEventId, payload: str, now: Millis
) -> Attempt:
    """Hand an event to the receiver, once; whatever comes of it is told and not raised."""
    content = payload.encode()
    named = {"webhook-id": id_text(event_id), "webhook-timestamp": str(now // SECOND)}
    request = ProviderRequest(
        url=endpoint.url,
        encoding=Encoding.RAW,
        body=content,
        headers={"Content-Type": "application/json", **named},
        auth={"webhook-signature": sign(named, content, endpoint.signing_keys(now))},
    )
    try:
        answer = await gateway.call(request)
    except SendFailure as failure:
        return Attempt(error=_plain(failure.message), status=_status_of(failure))
    if answer.is_success:
        return Attempt(status=answer.status)
    return Attempt(error=_refusal(answer), status=answer.status, retry_after_seconds=answer.retry_after)


def sign(named: Mapping[str, str], content: bytes, keys: Sequence[bytes]) -> str:
    """One signature for each key; a receiver accepts the event when it knows one of them."""
    signed = f"{named['webhook-id']}.{named['webhook-timestamp']}.".encode() + content
    return " ".join(f"v1,{hmac_base64(key, signed)}" for key in keys)


def _refusal(answer: ProviderAnswer) -> str:
    said = " ".join(_plain(answer.text).split())[:_MAX_QUOTE]
    return f"The receiver answered {answer.status}{': ' if said else ''}{said}"


def _status_of(failure: SendFailure) -> int | None:
    return failure.raw.get("status") if isinstance(failure.raw, dict) else None


def _plain(text: str) -> str:
    # Receivers may answer anything, and no text of PostgreSQL holds this character.
    return text.replace("\0", "")
