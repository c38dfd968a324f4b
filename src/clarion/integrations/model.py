"""Integrations as records, when they are valid, and who of a channel comes first.

Email and sms have one primary: the integration that sends unless another is asked for. Active integrations of
these channels are in failover order, numbered downwards by `priority`: n for the first (the primary, where there is
one), 1 for the last. Whoever becomes active joins at the end. Inactive ones, and other channels, have priority 0.
"""

import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from clarion.clock import Millis
from clarion.errors import Problem
from clarion.ids import ApiKeyId, EnvironmentId, IntegrationId
from clarion.providers.definition.provider import Provider, find_credential_problems
from clarion.vocabulary import Channel

CHANNELS_WITH_PRIMARY = frozenset({Channel.EMAIL, Channel.SMS})
USUAL_WEIGHT = 100

_MAX_SLUG = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
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
    weight: int = USUAL_WEIGHT
    """Its share of the messages among those of its channel that may carry them, once one has another than usual."""
    rate_limit: float | None = None
    """Messages a second."""
    reports_from: str | None = None
    """Which customer of the provider reports, where its signature is the same for all of them."""
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None = None
    deleted_by: ApiKeyId | None = None

    @property
    def is_ranked(self) -> bool:
        """Whether it has a place in the failover order of its channel."""
        return self.channel in CHANNELS_WITH_PRIMARY and self.active and self.deleted_at is None


def failover_key(integration: Integration) -> tuple[bool, int, bytes]:
    """Sorts a channel's integrations: the primary, then by priority, the oldest first among equals."""
    return not integration.is_primary, -integration.priority, integration.id


def arrange(integrations: Iterable[Integration]) -> list[Integration]:
    """One channel's integrations with primary and priorities as they must be.

    The primary stays for as long as it is active and without conditions; else the next that is takes its place.
    """
    ordered = sorted(integrations, key=failover_key)
    ranked = [one for one in ordered if one.is_ranked]
    primary = next((one for one in ranked if not one.conditions), None)
    ranked.sort(key=lambda one: one is not primary)
    priorities = {one.id: len(ranked) - place for place, one in enumerate(ranked)}
    return [replace(one, is_primary=one is primary, priority=priorities.get(one.id, 0)) for one in ordered]


def arrange_with(changed: Integration, live: Iterable[Integration]) -> list[Integration]:
    """The channel of an integration as it is once that one is new, changed or deleted."""
    return arrange([changed, *_beside(changed, live)])


def promote(chosen: Integration, live: Iterable[Integration]) -> list[Integration]:
    """The channel with the chosen one as its primary: active, and without conditions."""
    primary = replace(chosen, is_primary=True, active=True, conditions=[])
    return arrange([primary, *(replace(one, is_primary=False) for one in _beside(chosen, live))])


def find_problems(
    integration: Integration, provider: Provider | None, others: Collection[Integration]
) -> dict[str, Problem]:
    """Everything that keeps the integration from standing beside the other live ones, by field."""
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
    if integration.active:
        # Without the value: a secret that was mistyped is still a secret.
        found = find_credential_problems(provider, integration.credentials)
        problems |= {f"credentials.{name}": Problem(message) for name, message in found.items()}
    return problems


def make_identifier(name: str) -> str:
    """An identifier for an integration whose creator gave none: its name and a few random letters."""
    slug = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:_MAX_SLUG] or "integration"
    return f"{slug}-{secrets.token_hex(5)}"


def _beside(integration: Integration, live: Iterable[Integration]) -> list[Integration]:
    return [one for one in live if one.channel is integration.channel and one.id != integration.id]
