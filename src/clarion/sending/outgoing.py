"""A message as it is handed to a provider."""

from collections.abc import Callable
from typing import Protocol

from clarion.ids import id_text
from clarion.integrations.model import Integration
from clarion.providers.definition.outgoing import Outgoing, always
from clarion.providers.definition.overrides import provider_overrides, with_options
from clarion.providers.definition.result import Sent
from clarion.providers.registry import find_provider
from clarion.sending.model import ClaimedSend, OutgoingMessage
from clarion.sending.suppressed import leave_out
from clarion.triggers.model import list_misplaced_overrides
from clarion.vocabulary import Channel

ReceiptsUrl = Callable[[Integration], str | None]
"""Where the provider of an integration reports, if it can reach us at all."""


class Gateway(Protocol):
    """What messages are handed to: a `ProviderGateway`, or a `DryGateway` in simulations."""

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        """Send the message once; raises SendFailure."""
        ...


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
) -> tuple[Outgoing, dict[str, list[str]]]:
    """Return the message for a provider, and the suppressed copies that are left out of it."""
    entry = send.entries.get(message.id)
    overrides = with_options(message.email_options, _overrides(send, message, integration.provider_id))
    left_out: dict[str, list[str]] = {}
    if message.id in send.suppressed_copies:
        overrides, left_out = leave_out(overrides, send.suppressed_copies[message.id])
    outgoing = Outgoing(
        message_id=id_text(message.id),
        channel=message.channel,
        content=message.content,
        subject=message.subject,
        title=message.title,
        email=message.email,
        phone=message.phone,
        phone_region=send.regions.get(message.id, ""),
        webhook_url=message.webhook_url,
        device_tokens=tuple(message.device_tokens or ()),
        entry={} if entry is None else {k: v for k, v in entry.credentials.items() if k not in _OF_THE_MESSAGE},
        data=message.data,
        payload=send.payload,
        context=send.contexts.get(message.id, {}),
        receipts_url=receipts_url(integration),
        credentials=integration.credentials,
        overrides=overrides,
        can_start=can_start,
    )
    return outgoing, left_out


def _overrides(send: ClaimedSend, message: OutgoingMessage, provider_id: str) -> dict[str, object]:
    if not send.overrides:
        return {}
    step_id = send.run.step_of(send.job).step_id if send.run else None
    overrides = provider_overrides(send.overrides, message.channel, provider_id, step_id)
    if message.channel is Channel.PUSH:
        # The messages of the step were made for these tokens.
        overrides.pop("deviceTokens", None)
        overrides.pop("tokens", None)
    return overrides


def list_ignored_overrides(send: ClaimedSend, outgoing: Outgoing, provider_id: str) -> dict[str, str]:
    """What the trigger wants and this send does not do, and why, by the name of the override."""
    provider = find_provider(provider_id)
    ignored = {} if provider is None else provider.list_ignored(outgoing.overrides)
    if send.overrides:
        ignored |= list_misplaced_overrides(send.overrides, None if send.run is None else send.run.version.steps)
    return ignored
