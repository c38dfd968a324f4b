"""Which integrations may send a message, and in which order."""

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from clarion.conditions import decide_filters
from clarion.engine.overrides import channel_overrides
from clarion.engine.records import variables_of
from clarion.engine.sending.model import BY_ENTRY, ClaimedSend, OutgoingMessage
from clarion.ids import MessageId
from clarion.integrations.model import DEFAULT_WEIGHT, Integration, failover_key


def choose_integrations(send: ClaimedSend, message: OutgoingMessage) -> list[Integration]:
    """The active integrations that may send a message, in the order in which they are tried when all work."""
    fitting = [one for one in send.integrations if one.active and one.channel == message.channel]
    if message.channel in BY_ENTRY:
        return _choose_by_entry(send, message, fitting)
    variables = None if send.run is None else variables_of(send.run)
    fitting = [one for one in fitting if not one.conditions or (variables and _holds(one, variables))]
    wanted = channel_overrides(send.overrides, message.channel).get("integrationIdentifier")
    if wanted:
        return [one for one in fitting if one.identifier == wanted]
    return order_integrations(fitting, message.id)


def order_integrations(integrations: Sequence[Integration], message_id: MessageId) -> list[Integration]:
    """The primary and then by priority; or, where weights are set, each first for its share of the messages.

    The same message has the same order every time, and one integration more or less moves only its own share.
    """
    ordered = sorted(integrations, key=failover_key)
    if all(one.weight == DEFAULT_WEIGHT for one in ordered):
        return ordered
    return sorted(ordered, key=lambda one: _draw(one, message_id))


def _choose_by_entry(send: ClaimedSend, message: OutgoingMessage, fitting: Sequence[Integration]) -> list[Integration]:
    """The integration that the person's entry belongs to, or another of the same provider where that one is gone."""
    of_provider = [one for one in fitting if one.provider_id == message.provider_id]
    entry = send.entries.get(message.id)
    its_own = [one for one in of_provider if entry is not None and one.id == entry.integration_id]
    return its_own or sorted(of_provider, key=failover_key)[:1]


def _holds(integration: Integration, variables: dict[str, Any]) -> bool:
    return decide_filters(integration.conditions, variables).passed


def _draw(integration: Integration, message_id: MessageId) -> float:
    """The smallest of these is first as often as the weights say (rendezvous hashing)."""
    digest = blake2b(message_id + integration.id, digest_size=8).digest()
    return -math.log((int.from_bytes(digest) + 1) / (2**64 + 1)) / integration.weight
