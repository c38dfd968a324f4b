"""Integrations as records, their validation, and the failover order of a channel.

Email and sms have one primary: the integration that sends unless a trigger names another. Active integrations of
these channels are in failover order, numbered downwards by `priority`: n for the first (the primary, if there is
one), 1 for the last. An integration that becomes active joins at the end. Inactive ones, and other channels, have
priority 0.
"""

import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.errors import Problem
from clarion.ids import ApiKeyId, EnvironmentId, IntegrationId, id_text
from clarion.jsontext import json_text
from clarion.providers.definition.fields import list_masked
from clarion.providers.definition.provider import Provider, find_credential_problems
from clarion.templates import has_markup
from clarion.vocabulary import Channel

CHANNELS_WITH_PRIMARY = frozenset({Channel.EMAIL, Channel.SMS})
DEFAULT_WEIGHT = 100

_MASKED = "is the mask that is shown instead of a secret; send the secret itself, as whenever the server changes"
_MAX_SLUG = 80


class Integration(Struct, frozen=True, kw_only=True, dict=True):
    environment_id: EnvironmentId
    id: IntegrationId
    provider_id: str
    channel: Channel
    name: str
    identifier: str
    credentials: dict[str, Any]
    conditions: list[dict[str, Any]]
    active: bool
    is_primary: bool
    priority: int
    weight: int = DEFAULT_WEIGHT
    """Its share of the channel's messages; it has no effect while all integrations have the default weight."""
    rate_limit: float | None = None
    """Messages per second."""
    reports_from: str | None = None
    """The provider's customer whose receipts are accepted, if the provider signs alike for all of its customers."""
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None = None
    deleted_by: ApiKeyId | None = None

    @cached_property
    def has_templates_in_conditions(self) -> bool:
        return has_markup(json_text(self.conditions))

    @property
    def is_ranked(self) -> bool:
        """Whether it is part of the failover order of its channel."""
        return self.channel in CHANNELS_WITH_PRIMARY and self.active and self.deleted_at is None


def failover_key(integration: Integration) -> tuple[bool, int, bytes]:
    """Sort key of a channel's integrations: the primary, then by priority, then the oldest first."""
    return not integration.is_primary, -integration.priority, integration.id


def arrange(integrations: Iterable[Integration]) -> list[Integration]:
    """Return one channel's integrations with primary and priorities assigned.

    The primary stays while it is active and has no conditions; otherwise the next such integration replaces it.
    """
    ordered = sorted(integrations, key=failover_key)
    ranked = [one for one in ordered if one.is_ranked]
    primary = next((one for one in ranked if not one.conditions), None)
    ranked.sort(key=lambda one: one is not primary)
    priorities = {one.id: len(ranked) - place for place, one in enumerate(ranked)}
    return [replace(one, is_primary=one is primary, priority=priorities.get(one.id, 0)) for one in ordered]


def arrange_with(changed: Integration, live: Iterable[Integration]) -> list[Integration]:
    """Return the integrations of a channel after one of them is created, changed or deleted."""
    return arrange([changed, *_others_of_channel(changed, live)])


def promote(chosen: Integration, live: Iterable[Integration]) -> list[Integration]:
    """Return the integrations of a channel with the chosen one as primary: active, and without conditions."""
    primary = replace(chosen, is_primary=True, active=True, conditions=[])
    return arrange([primary, *(replace(one, is_primary=False) for one in _others_of_channel(chosen, live))])


def reorder(ids: Sequence[IntegrationId], live: Iterable[Integration]) -> list[Integration]:
    """Return the integrations of a channel in this failover order; `ids` are those that are ranked, each once."""
    priorities = {one: len(ids) - place for place, one in enumerate(ids)}
    return arrange([replace(one, is_primary=False, priority=priorities.get(one.id, 0)) for one in live])


def find_order_problem(ids: Sequence[IntegrationId], live: Collection[Integration]) -> tuple[str, Problem] | None:
    """Return what is wrong with a failover order of a channel's integrations, and in which field."""
    ranked = {integration.id: integration for integration in live if integration.is_ranked}
    for place, integration_id in enumerate(ids):
        if integration_id not in ranked:
            return f"integrationIds.{place}", Problem(
                "is not an active integration of this channel", id_text(integration_id)
            )
        if integration_id in ids[:place]:
            return f"integrationIds.{place}", Problem("is named twice", id_text(integration_id))
    missing = [id_text(integration_id) for integration_id in ranked if integration_id not in ids]
    if missing:
        message = f"must name every active integration of the channel; {', '.join(missing)} is missing"
        return "integrationIds", Problem(message)
    if ranked[ids[0]].conditions and any(not one.conditions for one in ranked.values()):
        message = "has conditions, and the first one is the primary, which has none; name another one first"
        return "integrationIds.0", Problem(message, id_text(ids[0]))
    return None


def find_problems(
    integration: Integration, provider: Provider | None, others: Collection[Integration]
) -> dict[str, Problem]:
    """Return everything that is wrong with the integration beside the other live ones, by field."""
    problems: dict[str, Problem] = {}
    if any(one.identifier == integration.identifier for one in others):
        problems["identifier"] = Problem("is taken by another integration of this environment", integration.identifier)
    if provider is None:
        problems["providerId"] = Problem("is not a provider that is known here", integration.provider_id)
        return problems
    if provider.channel is not integration.channel:
        message = f"must be {provider.channel}, which is the channel of {provider.name}"
        problems["channel"] = Problem(message, integration.channel)
    elif integration.channel is Channel.IN_APP and any(one.channel is Channel.IN_APP for one in others):
        message = "has an integration already, and in_app takes only one; change or delete that one"
        problems["channel"] = Problem(message, integration.channel)
    masked = list_masked(integration.credentials)
    problems |= {f"credentials.{name}": Problem(_MASKED) for name in masked}
    if integration.active:
        # The error leaves out the value: a mistyped secret is still a secret.
        found = find_credential_problems(provider, integration.credentials)
        problems |= {f"credentials.{name}": Problem(message) for name, message in found.items()}
    return problems


def keep_proof(integration: Integration, before: Integration) -> Integration:
    """Return the inbox with `hmac` as it was before if its credentials leave it out.

    What makes people prove who they are is switched off in so many words, or not at all.
    """
    if integration.channel is not Channel.IN_APP or "hmac" not in before.credentials:
        return integration
    return replace(integration, credentials={"hmac": before.credentials["hmac"], **integration.credentials})


def make_identifier(name: str) -> str:
    """Generate an identifier from the name and random letters."""
    slug = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:_MAX_SLUG] or "integration"
    return f"{slug}-{secrets.token_hex(5)}"


def _others_of_channel(integration: Integration, live: Iterable[Integration]) -> list[Integration]:
    return [one for one in live if one.channel is integration.channel and one.id != integration.id]
