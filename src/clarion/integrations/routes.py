"""Integrations: create, list, change, delete; the providers that they can be made for."""

from collections.abc import Mapping
from typing import Any

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid, NotFound
from clarion.http.caller import Caller
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.services import Services
from clarion.http.wire import IdText, changes_of
from clarion.ids import IntegrationId
from clarion.integrations import actions, store, verification
from clarion.integrations.model import Integration
from clarion.integrations.provider_wire import ProviderOut
from clarion.integrations.variables import check_reference_rights, resolve_credentials
from clarion.integrations.wire import (
    IntegrationIn,
    IntegrationOut,
    IntegrationPatch,
    OrderIn,
    TestMessageIn,
    TestMessageOut,
)
from clarion.jsontext import plain_value
from clarion.providers.definition.fields import mask_secrets
from clarion.providers.definition.provider import Provider
from clarion.providers.registry import PROVIDERS, find_provider
from clarion.subscribers.addresses.actions import delete_addresses_of_integration
from clarion.vocabulary import Scope

_FIELDS = ("name", "identifier", "active", "credentials", "conditions", "weight", "rate_limit")
_NO_ACTIONS: Mapping[IntegrationId, Action] = {}
_NAMES = "name, identifier, active, credentials, conditions, weight, rateLimit"


async def check_new_credentials(call: DetachedCall, body: IntegrationIn) -> None:
    """Check the credentials of a new integration with the provider, if the caller asks for it."""
    if body.check and not await verification.has_stored_response(call):
        _check_environment(call, body.environment_id)
        draft, (live, content) = _draft(call.services, body), await verification.load_live(call)
        planned = actions.plan_creation(draft, live, content=content, environment_id=call.environment_id, now=call.now)
        check_reference_rights(call.caller, None, planned)
        await verification.check_credentials(call.services.gateway, resolve_credentials(planned, content))


async def check_changed_credentials(call: DetachedCall, integration_id: IntegrationId, body: IntegrationPatch) -> None:
    """Check the credentials after an update, new or stored, with the provider, if the caller asks for it."""
    if body.check is True and not await verification.has_stored_response(call):
        _check_environment(call, body.environment_id)
        live, content = await verification.load_live(call)
        planned = actions.plan_update(integration_id, _changes(body), live, content=content)
        check_reference_rights(call.caller, actions.get_live(live, integration_id), planned)
        await verification.check_credentials(call.services.gateway, resolve_credentials(planned, content))


@operation(
    "POST",
    "/v1/integrations",
    scope=Scope.INTEGRATIONS_WRITE,
    status=201,
    body=IntegrationIn,
    precheck=check_new_credentials,
)
async def create_integration(call: Call, body: IntegrationIn) -> IntegrationOut:
    """Create an integration in the environment of the API key."""
    _check_environment(call, body.environment_id)
    before = await _list_before(call)
    made = await actions.create_integration(
        call.db, call.environment_id, _draft(call.services, body), vault=call.services.vault, now=call.now
    )
    check_reference_rights(call.caller, None, made)
    await _record(call, before)
    return _out(call, made)


@operation("GET", "/v1/integrations", scope=Scope.INTEGRATIONS_READ, transaction=Transaction.SCAN)
async def list_integrations(call: Call) -> list[IntegrationOut]:
    """List the integrations of the environment, oldest first."""
    found = await store.list_integrations(call.db, call.environment_id, call.services.vault)
    return [_out(call, one) for one in found]


@operation("GET", "/v1/integrations/active", scope=Scope.INTEGRATIONS_READ, transaction=Transaction.SCAN)
async def list_active_integrations(call: Call) -> list[IntegrationOut]:
    """List the integrations that deliver messages, oldest first."""
    found = await store.list_integrations(call.db, call.environment_id, call.services.vault)
    return [_out(call, one) for one in found if one.active]


@operation("PUT", "/v1/integrations/order", scope=Scope.INTEGRATIONS_WRITE, body=OrderIn)
async def order_integrations(call: Call, body: OrderIn) -> list[IntegrationOut]:
    """Set the failover order of the active integrations of email or sms; the first becomes the primary."""
    ids = [IntegrationId(one.id) for one in body.integration_ids]
    before = await _list_before(call)
    ordered = await actions.order_integrations(
        call.db, call.environment_id, body.channel, ids, vault=call.services.vault, now=call.now
    )
    await _record(call, before, dict.fromkeys(ids, Action.INTEGRATION_ORDER))
    return [_out(call, one) for one in ordered]


@operation("GET", "/v1/integrations/{integrationId}", scope=Scope.INTEGRATIONS_READ)
async def get_integration(call: Call, integration_id: IntegrationId) -> IntegrationOut:
    """Retrieve an integration."""
    found = await store.get_integration(call.db, call.environment_id, integration_id, call.services.vault)
    return _out(call, found)


@operation(
    "PUT",
    "/v1/integrations/{integrationId}",
    scope=Scope.INTEGRATIONS_WRITE,
    body=IntegrationPatch,
    precheck=check_changed_credentials,
)
async def update_integration(call: Call, integration_id: IntegrationId, body: IntegrationPatch) -> IntegrationOut:
    """Change the supplied fields; credentials and conditions are replaced whole."""
    _check_environment(call, body.environment_id)
    if not changes_of(body, *_FIELDS, "check"):
        raise Invalid.field("body", f"must have at least one of {_NAMES}")
    before = await _list_before(call)
    changed = await actions.update_integration(
        call.db, call.environment_id, integration_id, _changes(body), vault=call.services.vault, now=call.now
    )
    check_reference_rights(call.caller, actions.get_live(before, integration_id), changed)
    await _record(call, before)
    return _out(call, changed)


@operation("POST", "/v1/integrations/{integrationId}/set-primary", scope=Scope.INTEGRATIONS_WRITE)
async def set_primary_integration(call: Call, integration_id: IntegrationId) -> IntegrationOut:
    """Make an integration the primary one of email or sms; it becomes active and loses its conditions."""
    before = await _list_before(call)
    chosen = await actions.set_primary_integration(
        call.db, call.environment_id, integration_id, vault=call.services.vault, now=call.now
    )
    await _record(call, before, {integration_id: Action.INTEGRATION_SET_PRIMARY})
    return _out(call, chosen)


@operation("DELETE", "/v1/integrations/{integrationId}", scope=Scope.INTEGRATIONS_WRITE)
async def delete_integration(call: Call, integration_id: IntegrationId) -> list[IntegrationOut]:
    """Delete an integration for good, with its connections and endpoints, and list the remaining ones."""
    before = await _list_before(call)
    remaining = await actions.delete_integration(
        call.db,
        call.environment_id,
        integration_id,
        deleted_by=call.caller.key_id,
        vault=call.services.vault,
        now=call.now,
    )
    await delete_addresses_of_integration(call.db, call.environment_id, integration_id)
    await _record(call, before)
    return [_out(call, one) for one in remaining]


@operation(
    "POST",
    "/v1/integrations/{integrationId}/test",
    scope=Scope.INTEGRATIONS_WRITE,
    body=TestMessageIn,
    transaction=Transaction.NONE,
)
async def send_test_message(call: DetachedCall, integration_id: IntegrationId, body: TestMessageIn) -> TestMessageOut:
    """Send a test message through an integration, active or not, and show what its provider answers."""
    return await verification.send_test_message(call, integration_id, body)


@operation("GET", "/v1/providers", scope=Scope.INTEGRATIONS_READ)
async def list_providers(call: Call) -> list[ProviderOut]:
    """List all providers with their credentials, overrides and abilities, by channel and id."""
    ordered = sorted(PROVIDERS.values(), key=lambda provider: (provider.channel, provider.id))
    return [ProviderOut.of(one, call.services.names.to_wire(one.id)) for one in ordered]


async def _list_before(call: Call) -> list[Integration]:
    """List the integrations, and lock them until this unit of work ends."""
    await raise_configuration_version(call.db, call.environment_id)
    return await store.list_integrations(call.db, call.environment_id, call.services.vault)


async def _record(
    call: Call, before: list[Integration], actions_by_id: Mapping[IntegrationId, Action] = _NO_ACTIONS
) -> None:
    """Record how the integrations differ from before; a change of one may take `primary` from another.

    `actions_by_id` names what was done to an integration if it is neither created, updated nor deleted.
    """
    after = await store.list_integrations(call.db, call.environment_id, call.services.vault)
    olds = {integration.id: integration for integration in before}
    news = {integration.id: integration for integration in after}
    for integration_id in {**olds, **news}:
        old, new = olds.get(integration_id), news.get(integration_id)
        action = actions_by_id.get(integration_id) or _action(old, new)
        await record_request(call, action, before=old, after=new)


def _action(old: Integration | None, new: Integration | None) -> Action:
    if old is None:
        return Action.INTEGRATION_CREATE
    return Action.INTEGRATION_DELETE if new is None else Action.INTEGRATION_UPDATE


def _check_environment(call: Call | DetachedCall, environment_id: IdText | None) -> None:
    """Raise NotFound if the body names another environment than that of the API key."""
    if environment_id is not None and environment_id.id != call.environment_id:
        raise NotFound("Environment", environment_id)


def _draft(services: Services, body: IntegrationIn) -> actions.IntegrationDraft:
    return actions.IntegrationDraft(
        provider=_find_provider(services, body.provider_id),
        provider_name=body.provider_id,
        channel=body.channel,
        name=body.name,
        identifier=body.identifier,
        credentials=plain_value(body.credentials),
        conditions=plain_value(body.conditions),
        active=body.active,
        check=body.check,
        weight=body.weight,
        rate_limit=body.rate_limit,
    )


def _changes(body: IntegrationPatch) -> actions.IntegrationChanges:
    return actions.IntegrationChanges(
        fields=plain_value(changes_of(body, *_FIELDS)),
        check=body.check is True,
    )


def _find_provider(services: Services, name: str) -> Provider | None:
    provider_id = services.names.from_wire(name)
    return None if provider_id is None else find_provider(provider_id)


def _out(call: Call, integration: Integration) -> IntegrationOut:
    return IntegrationOut.of(
        integration,
        call.organization_id,
        provider_id=call.services.names.to_wire(integration.provider_id),
        credentials=_visible_credentials(call.caller, integration),
    )


def _visible_credentials(caller: Caller, integration: Integration) -> dict[str, Any]:
    if not caller.has_scope(Scope.INTEGRATIONS_READ):
        return {}
    # For members secrets are write-only, whatever their scopes: what a browser shows, others may see.
    if caller.member is None and caller.has_scope(Scope.INTEGRATIONS_SECRETS):
        return integration.credentials
    return mask_secrets(find_provider(integration.provider_id), integration.credentials)
