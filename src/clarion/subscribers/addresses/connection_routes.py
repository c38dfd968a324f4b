"""Channel connections: workspaces that were connected, for one person or shared by a context."""

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.contexts.requested import store_contexts
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.subscribers.addresses import actions, connections
from clarion.subscribers.addresses.wire import (
    ChannelConnectionIn,
    ChannelConnectionOut,
    ChannelConnectionPatch,
    ChannelConnectionQuery,
)
from clarion.vocabulary import Scope

SECTION = "Channel connections"


@operation(
    "GET",
    "/v1/channel-connections",
    scope=Scope.SUBSCRIBERS_READ,
    query=ChannelConnectionQuery,
    transaction=Transaction.SCAN,
)
async def list_channel_connections(call: Call, query: ChannelConnectionQuery) -> CursorPage[ChannelConnectionOut]:
    """List connections; tokens are masked."""
    vault, names = call.services.vault, call.services.names
    provider_id = None if query.provider_id is None else names.from_wire(query.provider_id) or query.provider_id
    listing = connections.connections_listing(call.environment_id, query.read_filter(provider_id))
    page = await list_cursor_page(call.db, listing, query, lambda row: connections.connection_of(row, vault))
    return page.with_data([ChannelConnectionOut.of(one, names) for one in page.data])


@operation("POST", "/v1/channel-connections", scope=Scope.SUBSCRIBERS_WRITE, status=201, body=ChannelConnectionIn)
async def create_channel_connection(call: Call, body: ChannelConnectionIn) -> ChannelConnectionOut:
    """Store a workspace that was connected; there is one for each integration, person and context."""
    context_keys = await store_contexts(call, body.context)
    key = None if body.subscriber_id is None else SubscriberKey(body.subscriber_id)
    owner = actions.choose_owner(body.connection_mode, key, has_context=bool(context_keys))
    draft = actions.ConnectionDraft(
        integration_identifier=body.integration_identifier,
        identifier=body.identifier,
        subscriber_key=owner,
        context_keys=context_keys,
        workspace=plain_value(body.workspace),
        auth=body.auth.stored,
    )
    made = await actions.create_connection(call.db, call.environment_id, draft, vault=call.services.vault, now=call.now)
    await record_request(call, Action.CHANNEL_CONNECTION_CREATE, after=made)
    return ChannelConnectionOut.of(made, call.services.names)


@operation("GET", "/v1/channel-connections/{connectionIdentifier}", scope=Scope.SUBSCRIBERS_READ)
async def get_channel_connection(call: Call, identifier: str) -> ChannelConnectionOut:
    """Retrieve a connection; tokens are masked."""
    connection = await connections.get_connection(call.db, call.environment_id, identifier, call.services.vault)
    return ChannelConnectionOut.of(connection, call.services.names)


@operation(
    "PATCH",
    "/v1/channel-connections/{connectionIdentifier}",
    scope=Scope.SUBSCRIBERS_WRITE,
    body=ChannelConnectionPatch,
)
async def update_channel_connection(call: Call, identifier: str, body: ChannelConnectionPatch) -> ChannelConnectionOut:
    """Replace the workspace and the tokens of a connection."""
    vault = call.services.vault
    before = await connections.get_connection(call.db, call.environment_id, identifier, vault, for_update=True)
    changed = await actions.update_connection(
        call.db, before, plain_value(body.workspace), body.auth.stored, vault=vault, now=call.now
    )
    await record_request(call, Action.CHANNEL_CONNECTION_UPDATE, before=before, after=changed)
    return ChannelConnectionOut.of(changed, call.services.names)


@operation("DELETE", "/v1/channel-connections/{connectionIdentifier}", scope=Scope.SUBSCRIBERS_WRITE, status=204)
async def delete_channel_connection(call: Call, identifier: str) -> None:
    """Delete a connection; endpoints that name it stay, and cannot be sent to until they have another."""
    connection = await connections.get_connection(call.db, call.environment_id, identifier, call.services.vault)
    await connections.delete_connection(call.db, call.environment_id, connection.id, call.now)
    await record_request(call, Action.CHANNEL_CONNECTION_DELETE, before=connection)
