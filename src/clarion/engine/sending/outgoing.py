"""A message as it is handed to a provider."""

from collections.abc import Callable

from clarion.engine.sending.choosing import channel_overrides
from clarion.engine.sending.model import ClaimedSend, OutgoingMessage
from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.providers.definition.outgoing import Outgoing, always

ReceiptsUrl = Callable[[Integration], str | None]
"""Where the provider of an integration reports, if it can reach us at all."""

_OF_THE_MESSAGE = ("webhookUrl", "deviceTokens")


def nowhere(_: Integration) -> str | None:
    return None


def make_outgoing(
    send: ClaimedSend,
    message: OutgoingMessage,
    integration: Integration,
    *,
    receipts_url: ReceiptsUrl = nowhere,
    can_start: Callable[[], bool] = always,
) -> Outgoing:
    entry = send.entries.get(message.id)
    return Outgoing(
        message_id=id_text(message.id),
        channel=message.channel,
        content=message.content,
        subject=message.subject,
        title=message.title,
        email=message.email,
        phone=message.phone,
        webhook_url=message.webhook_url,
        device_tokens=tuple(message.device_tokens or ()),
        entry={} if entry is None else {k: v for k, v in entry.credentials.items() if k not in _OF_THE_MESSAGE},
        data=message.data,
        context=send.contexts.get(message.id, {}),
        receipts_url=receipts_url(integration),
        credentials=integration.credentials,
        overrides=provider_overrides(send, message, integration.provider_id),
        can_start=can_start,
    )


def provider_overrides(send: ClaimedSend, message: OutgoingMessage, provider_id: str) -> dict[str, object]:
    """What the trigger wants of the provider: for the step before for the provider before for the channel."""
    overrides = send.overrides
    if not overrides:
        return {}
    step = _member(overrides.get("steps"), send.run.step_of(send.job).step_id) if send.run else None
    layers = [
        channel_overrides(send, message),
        overrides.get(provider_id),
        _member(overrides.get("providers"), provider_id),
        _member(_member(step, "providers"), provider_id),
    ]
    merged: dict[str, object] = {}
    for layer in layers:
        if isinstance(layer, dict):
            merged |= layer
    return merged


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
