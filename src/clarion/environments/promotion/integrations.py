"""Promotion of integrations, without secrets.

A new one takes the credentials along that are no secrets, also those that refer to variables, which have a value of
their own in the target. It is inactive until somebody sets the others. One that the
target has keeps its credentials, and stays active or inactive, as it is.
"""

from typing import Any

from msgspec.structs import replace

from clarion.content.environment import EnvironmentContent, load_environment_content
from clarion.db.port import Connection
from clarion.environments.promotion.model import PromotionContext, Resource, ResourceDiff
from clarion.ids import EnvironmentId
from clarion.integrations import actions, store
from clarion.integrations.actions import IntegrationChanges, IntegrationDraft
from clarion.integrations.model import Integration
from clarion.integrations.variables import find_reference_problems, resolve_credentials
from clarion.providers.definition.fields import MASK, mask_secrets
from clarion.providers.definition.provider import find_credential_problems
from clarion.providers.registry import find_provider
from clarion.vocabulary import Channel

_FIELDS = ("name", "conditions", "weight", "rate_limit")


async def list_resources(db: Connection, environment_id: EnvironmentId, context: PromotionContext) -> list[Resource]:
    integrations = await store.list_integrations(db, environment_id, context.vault)
    return [_resource(integration, context) for integration in integrations]


async def apply(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff, context: PromotionContext) -> None:
    """Create an integration of the target, or change one."""
    if diff.source is None:
        return
    source: Integration = diff.source.record
    if diff.target is None:
        content = await load_environment_content(db, environment_id, vault=context.vault)
        await actions.create_integration(
            db, environment_id, _draft(source, content), vault=context.vault, now=context.now
        )
    else:
        changes = IntegrationChanges(fields={name: getattr(source, name) for name in _FIELDS}, check=False)
        target: Integration = diff.target.record
        await actions.update_integration(db, environment_id, target.id, changes, vault=context.vault, now=context.now)


def find_problem(source: Resource, target: Resource) -> str | None:
    """Return why one integration cannot become like another: providers do not change."""
    if source.record.provider_id != target.record.provider_id:
        return (
            f"is an integration of '{target.fields['providerId']}' in the target and of "
            f"'{source.fields['providerId']}' in the source; delete one, or change its identifier"
        )
    return None


def _resource(integration: Integration, context: PromotionContext) -> Resource:
    # There is one inbox in each environment, whatever its identifier.
    is_inbox = integration.channel is Channel.IN_APP
    return Resource(
        id=integration.id,
        identifier=integration.identifier,
        name=integration.name,
        updated_at=integration.updated_at,
        fields={
            "providerId": context.names.to_wire(integration.provider_id),
            "channel": integration.channel,
            "name": integration.name,
            "conditions": integration.conditions,
            "weight": integration.weight,
            "rateLimit": integration.rate_limit,
        },
        record=integration,
        match="" if is_inbox else integration.identifier,
    )


def _draft(source: Integration, content: EnvironmentContent) -> IntegrationDraft:
    provider = find_provider(source.provider_id)
    credentials = _without_secrets(source)
    is_complete = credentials == source.credentials
    promoted = replace(source, credentials=credentials)
    resolved = resolve_credentials(promoted, content).credentials
    if find_reference_problems(promoted, content) or (provider and find_credential_problems(provider, resolved)):
        is_complete = False
    return IntegrationDraft(
        provider=provider,
        provider_name=source.provider_id,
        channel=source.channel,
        name=source.name,
        identifier=source.identifier,
        credentials=credentials,
        conditions=source.conditions,
        active=source.active and is_complete,
        check=False,
        weight=source.weight,
        rate_limit=source.rate_limit,
    )


def _without_secrets(source: Integration) -> dict[str, Any]:
    masked = mask_secrets(find_provider(source.provider_id), source.credentials)
    return {name: value for name, value in masked.items() if value != MASK}
