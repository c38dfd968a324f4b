"""Channel endpoints: addresses of people at integrations, such as a channel of Slack."""

from clarion.contexts.requested import store_contexts
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.ids import SubscriberKey
from clarion.subscribers.addresses import actions, endpoints
from clarion.subscribers.addresses.wire import (
    ChannelEndpointIn,
    ChannelEndpointOut,
    ChannelEndpointPatch,
    ChannelEndpointQuery,
)
from clarion.vocabulary import Scope

SECTION = "Channel endpoints"


@operation(
    "GET",
    "/v1/channel-endpoints",
    scope=Scope.SUBSCRIBERS_READ,
    query=ChannelEndpointQuery,
    transaction=Transaction.SCAN,
)
async def list_channel_endpoints(call: Call, query: ChannelEndpointQuery) -> CursorPage[ChannelEndpointOut]:
    """List endpoints; keys, tokens and URLs are masked."""
    vault, names = call.services.vault, call.services.names
    provider_id = None if query.provider_id is None else names.from_wire(query.provider_id) or query.provider_id
    listing = endpoints.endpoints_listing(call.environment_id, query.read_filter(provider_id))
    page = await list_cursor_page(call.db, listing, query, lambda row: endpoints.endpoint_of(row, vault))
    return page.with_data([ChannelEndpointOut.of(one, names) for one in page.data])


@operation("POST", "/v1/channel-endpoints", scope=Scope.SUBSCRIBERS_WRITE, status=201, body=ChannelEndpointIn)
async def create_channel_endpoint(call: Call, body: ChannelEndpointIn) -> ChannelEndpointOut:
    """Add an address of a person; chat steps of triggers with the same context are sent to it."""
    context_keys = await store_contexts(call, body.context)
    draft = actions.EndpointDraft(
        integration_identifier=body.integration_identifier,
        identifier=body.identifier,
        connection_identifier=body.connection_identifier,
        subscriber_key=SubscriberKey(body.subscriber_id),
        creates_subscriber=body.create_subscriber_if_missing,
        context_keys=context_keys,
        type=body.type,
        endpoint=body.endpoint,
    )
    made = await actions.create_endpoint(call.db, call.environment_id, draft, vault=call.services.vault, now=call.now)
    return ChannelEndpointOut.of(made, call.services.names)


@operation("GET", "/v1/channel-endpoints/{endpointIdentifier}", scope=Scope.SUBSCRIBERS_READ)
async def get_channel_endpoint(call: Call, identifier: str) -> ChannelEndpointOut:
    """Retrieve an endpoint; keys, tokens and URLs are masked."""
    endpoint = await endpoints.get_endpoint(call.db, call.environment_id, identifier, call.services.vault)
    return ChannelEndpointOut.of(endpoint, call.services.names)


@operation(
    "PATCH",
    "/v1/channel-endpoints/{endpointIdentifier}",
    scope=Scope.SUBSCRIBERS_WRITE,
    body=ChannelEndpointPatch,
)
async def update_channel_endpoint(call: Call, identifier: str, body: ChannelEndpointPatch) -> ChannelEndpointOut:
    """Replace the address of an endpoint, which must fit its type."""
    vault = call.services.vault
    before = await endpoints.get_endpoint(call.db, call.environment_id, identifier, vault, for_update=True)
    changed = await actions.update_endpoint(call.db, before, body.endpoint, vault=vault, now=call.now)
    return ChannelEndpointOut.of(changed, call.services.names)


@operation("DELETE", "/v1/channel-endpoints/{endpointIdentifier}", scope=Scope.SUBSCRIBERS_WRITE, status=204)
async def delete_channel_endpoint(call: Call, identifier: str) -> None:
    """Delete an endpoint; nothing more is sent to it."""
    endpoint = await endpoints.get_endpoint(call.db, call.environment_id, identifier, call.services.vault)
    await endpoints.delete_endpoint(call.db, call.environment_id, endpoint.id)
