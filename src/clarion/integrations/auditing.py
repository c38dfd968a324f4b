"""Changes of integrations in the audit log."""

from collections.abc import Collection, Mapping
from typing import Any

from clarion.audit.model import Action, Author, Change, Target, TargetType
from clarion.audit.recording import record_change
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.jsontext import json_text
from clarion.providers.definition.fields import MASK, mask_secrets
from clarion.providers.registry import find_provider
from clarion.secret import Secret

NO_ACTIONS: Mapping[IntegrationId, Action] = {}


async def record_integrations(
    db: Connection,
    before: Collection[Integration],
    after: Collection[Integration],
    author: Author,
    now: Millis,
    *,
    actions: Mapping[IntegrationId, Action] = NO_ACTIONS,
) -> None:
    """Record how the live integrations of an environment differ; a change of one may take `primary` from another.

    `actions` names what was done to an integration if it is neither created, updated nor deleted.
    """
    olds, news = {one.id: one for one in before}, {one.id: one for one in after}
    for integration_id in {**olds, **news}:
        old, new = olds.get(integration_id), news.get(integration_id)
        change = Change(
            action=actions.get(integration_id) or _action(old, new),
            target=_target(new or olds[integration_id]),
            before=None if old is None else describe_integration(old),
            after=None if new is None else describe_integration(new),
        )
        await record_change(db, (new or olds[integration_id]).environment_id, change, author, now)


def describe_integration(integration: Integration) -> dict[str, Any]:
    """Return an integration as entries show it."""
    masked = mask_secrets(find_provider(integration.provider_id), integration.credentials)
    return {
        "identifier": integration.identifier,
        "name": integration.name,
        "providerId": integration.provider_id,
        "channel": integration.channel,
        "active": integration.active,
        "primary": integration.is_primary,
        "priority": integration.priority,
        "weight": integration.weight,
        "rateLimit": integration.rate_limit,
        "conditions": integration.conditions,
        "credentials": {
            name: Secret(json_text(value)) if masked[name] == MASK else value
            for name, value in integration.credentials.items()
        },
    }


def _action(old: Integration | None, new: Integration | None) -> Action:
    if old is None:
        return Action.INTEGRATION_CREATE
    return Action.INTEGRATION_DELETE if new is None else Action.INTEGRATION_UPDATE


def _target(integration: Integration) -> Target:
    return Target(type=TargetType.INTEGRATION, id=id_text(integration.id), name=integration.identifier)
