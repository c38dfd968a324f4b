"""Which integrations may send a message, and in which order."""

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from clarion.conditions import decide_filters
from clarion.engine.records import variables_of
from clarion.ids import MessageId
from clarion.integrations.model import DEFAULT_WEIGHT, Integration, failover_key
from clarion.providers.definition.overrides import channel_overrides
from clarion.sending.model import BY_ENTRY, ClaimedSend, OutgoingMessage
from clarion.templates import TemplateProblem, render_value
from clarion.work import MAX_UNIT_WORK, WorkBudget, spending

_NOT_HELD = "has conditions that do not hold"
# The route of a send is planned while the store waits.
_MAX_CHOICE_WORK = MAX_UNIT_WORK


def choose_integrations(send: ClaimedSend, message: OutgoingMessage) -> list[Integration]:
    """The active integrations that may send a message, in the order in which they are tried when all work."""
    fitting = [one for one in send.integrations if one.active and one.channel == message.channel]
    if message.channel in BY_ENTRY:
        return _choose_by_entry(send, message, fitting)
    variables = None if send.run is None else variables_of(send.run)
    fitting = [one for one in fitting if not one.conditions or _find_refusal(one, variables) is None]
    wanted = _find_wanted(send, message)
    if wanted is not None:
        return [one for one in fitting if one.identifier == wanted]
    return order_integrations(fitting, message.id)


def find_reason(send: ClaimedSend, message: OutgoingMessage, integration: Integration) -> str:
    """Which rule puts an integration in its place."""
    if message.channel in BY_ENTRY:
        return "entry"
    if _find_wanted(send, message) is not None:
        return "trigger"
    if any(one.weight != DEFAULT_WEIGHT for one in send.integrations if one.channel == message.channel):
        return "weight"
    return "primary" if integration.is_primary else "priority"


def explain_choice(send: ClaimedSend, message: OutgoingMessage) -> dict[str, Any]:
    """Why integrations of the channel may not send a message, by identifier, and which one the trigger names."""
    chosen = {one.id for one in choose_integrations(send, message)} - set(message.refused_by)
    variables = None if send.run is None else variables_of(send.run)
    others = [one for one in send.integrations if one.channel == message.channel and one.id not in chosen]
    explained: dict[str, Any] = {
        "notEligible": {one.identifier: _find_obstacle(one, message, variables) for one in others}
    }
    wanted = None if message.channel in BY_ENTRY else _find_wanted(send, message)
    return explained | ({} if wanted is None else {"wanted": wanted})


def _find_wanted(send: ClaimedSend, message: OutgoingMessage) -> object | None:
    """The integration that the trigger names, if it names one."""
    if not send.overrides:
        return None
    return channel_overrides(send.overrides, message.channel).get("integrationIdentifier") or None


def _find_obstacle(integration: Integration, message: OutgoingMessage, variables: dict[str, Any] | None) -> str:
    if not integration.active:
        return "is not active"
    if integration.id in message.refused_by:
        return "refused this message before"
    if message.channel in BY_ENTRY:
        return "is not the one of the person's credentials"
    refusal = _find_refusal(integration, variables) if integration.conditions else None
    return refusal or "is not the one that the trigger names"


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


def _find_refusal(integration: Integration, variables: dict[str, Any] | None) -> str | None:
    """Why the conditions of an integration keep it from sending, or None; expected values may be templates."""
    if not variables:
        return _NOT_HELD
    if not integration.has_templates_in_conditions:
        return None if decide_filters(integration.conditions, variables).passed else _NOT_HELD
    with spending(WorkBudget(_MAX_CHOICE_WORK)):
        try:
            conditions = render_value(integration.conditions, variables)
        except TemplateProblem as problem:
            return f"has conditions that cannot be rendered: {problem}"
        return None if decide_filters(conditions, variables).passed else _NOT_HELD


def _draw(integration: Integration, message_id: MessageId) -> float:
    """The smallest of these is first as often as the weights say (rendezvous hashing)."""
    digest = blake2b(message_id + integration.id, digest_size=8).digest()
    return -math.log((int.from_bytes(digest) + 1) / (2**64 + 1)) / integration.weight
