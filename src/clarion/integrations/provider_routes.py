"""Providers: what an integration can be made for."""

from clarion.http.operation import Call, operation
from clarion.integrations.provider_wire import ProviderOut
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Scope


@operation("GET", "/v1/providers", scope=Scope.INTEGRATIONS_READ)
async def list_providers(call: Call) -> list[ProviderOut]:
    """List all providers with their credentials, overrides and abilities, by channel and id."""
    ordered = sorted(PROVIDERS.values(), key=lambda one: (one.channel, one.id))
    return [ProviderOut.of(one, call.services.names.to_wire(one.id)) for one in ordered]
