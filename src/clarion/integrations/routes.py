"""Integrations: create, list, change, delete."""

from clarion.bus import Topic
from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, operation
from clarion.http.wire import IdText, changes_of
from clarion.ids import IntegrationId
from clarion.integrations import actions, store
from clarion.integrations.model import Integration
from clarion.integrations.wire import IntegrationIn, IntegrationOut, IntegrationPatch
from clarion.jsontext import plain_value
from clarion.providers.base import Provider
from clarion.providers.registry import find_provider
from clarion.vocabulary import Scope

_FIELDS = ("name", "identifier", "active", "credentials", "conditions")


@operation("POST", "/v1/integrations", scope=Scope.INTEGRATIONS_WRITE, status=201)
async def create_integration(call: Call, body: IntegrationIn) -> IntegrationOut:
    """Create an integration in the environment of the API key."""
    _check_environment(call, body.environment_id)
    draft = actions.Draft(
        provider=_find_provider(call, body.provider_id),
        provider_name=body.provider_id,
        channel=body.channel,
        name=body.name,
        identifier=body.identifier,
        credentials=plain_value(body.credentials),
        conditions=plain_value(body.conditions),
        active=body.active,
        check=body.check,
    )
    made = await actions.create_integration(
        call.db, call.environment_id, draft, vault=call.services.vault, now=call.now
    )
    _announce(call)
    return _out(call, made)


@operation("GET", "/v1/integrations", scope=Scope.INTEGRATIONS_READ, scans=True)
async def list_integrations(call: Call) -> list[IntegrationOut]:
    """List the integrations of the environment, oldest first."""
    found = await store.list_integrations(call.db, call.environment_id, call.services.vault)
    return [_out(call, one) for one in found]


@operation("GET", "/v1/integrations/active", scope=Scope.INTEGRATIONS_READ, scans=True)
async def list_active_integrations(call: Call) -> list[IntegrationOut]:
    """List the integrations that deliver messages, oldest first."""
    found = await store.list_integrations(call.db, call.environment_id, call.services.vault)
    return [_out(call, one) for one in found if one.active]


@operation("PUT", "/v1/integrations/{integrationId}", scope=Scope.INTEGRATIONS_WRITE)
async def update_integration(call: Call, integration_id: IntegrationId, body: IntegrationPatch) -> IntegrationOut:
    """Change the supplied fields; credentials and conditions are replaced whole."""
    _check_environment(call, body.environment_id)
    if not changes_of(body, *_FIELDS, "check"):
        raise Invalid.field("body", f"must have at least one of {', '.join(_FIELDS)}")
    changes = actions.Changes(
        fields=plain_value(changes_of(body, *_FIELDS)),
        check=body.check is True,
    )
    changed = await actions.update_integration(
        call.db, call.environment_id, integration_id, changes, vault=call.services.vault, now=call.now
    )
    _announce(call)
    return _out(call, changed)


@operation("POST", "/v1/integrations/{integrationId}/set-primary", scope=Scope.INTEGRATIONS_WRITE)
async def set_primary_integration(call: Call, integration_id: IntegrationId) -> IntegrationOut:
    """Make an integration the primary one of email or sms; it becomes active and loses its conditions."""
    chosen = await actions.set_primary_integration(
        call.db, call.environment_id, integration_id, vault=call.services.vault, now=call.now
    )
    _announce(call)
    return _out(call, chosen)


@operation("DELETE", "/v1/integrations/{integrationId}", scope=Scope.INTEGRATIONS_WRITE)
async def delete_integration(call: Call, integration_id: IntegrationId) -> list[IntegrationOut]:
    """Delete an integration for good and list those that are left."""
    left = await actions.delete_integration(
        call.db,
        call.environment_id,
        integration_id,
        deleted_by=call.caller.key_id,
        vault=call.services.vault,
        now=call.now,
    )
    _announce(call)
    return [_out(call, one) for one in left]


def _announce(call: Call) -> None:
    call.after_commit.append(lambda: call.services.bus.publish(Topic.INTEGRATION_CHANGED))


def _check_environment(call: Call, environment_id: IdText | None) -> None:
    """A key acts in its own environment and in no other, whatever the body names."""
    if environment_id is not None and environment_id.id != call.environment_id:
        raise NotFound("Environment", environment_id)


def _find_provider(call: Call, name: str) -> Provider | None:
    provider_id = call.services.names.from_wire(name)
    return None if provider_id is None else find_provider(provider_id)


def _out(call: Call, integration: Integration) -> IntegrationOut:
    return IntegrationOut.of(
        integration,
        call.organization_id,
        provider_id=call.services.names.to_wire(integration.provider_id),
        shows_credentials=call.caller.may(Scope.INTEGRATIONS_READ),
    )
