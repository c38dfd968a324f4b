"""The chats of a session's subscriber: connect a workspace, link oneself, see and end both."""

from msgspec.structs import replace

from clarion.audit.model import SERVICE, Action, Author
from clarion.audit.recording import record
from clarion.contexts.model import keys_of, read_contexts
from clarion.errors import Invalid, NotFound
from clarion.http.input.unknown import InputWarning
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.inbox.chat_wire import (
    ModeQuery,
    OwnChatLinkIn,
    OwnConnectionItem,
    OwnConnectionOut,
    OwnConnectionQuery,
    OwnConnectUrlIn,
    OwnEndpointOut,
    OwnEndpointQuery,
    OwnLinkUrlIn,
)
from clarion.inbox.sessions.tokens import get_session_subscriber
from clarion.inbox.wire import Reply
from clarion.subscribers.addresses import connections, endpoints
from clarion.subscribers.addresses.filters import AddressFilter
from clarion.subscribers.addresses.model import ChannelConnection, ConnectionMode
from clarion.subscribers.addresses.oauth.actions import Wish
from clarion.subscribers.addresses.oauth.beginning import begin
from clarion.subscribers.addresses.oauth.model import OAuthStep
from clarion.subscribers.addresses.oauth.proof import check_context_hash
from clarion.subscribers.addresses.oauth.store import get_account
from clarion.subscribers.addresses.oauth.wire import OAuthUrlOut
from clarion.subscribers.addresses.telegram.linking import ChatLinkWish, make_link
from clarion.subscribers.addresses.telegram.wire import ChatLinkOut
from clarion.subscribers.model import Subscriber

_PROOF = "begin the session with a subscriberHash, at an in-app integration that has hmac; an API key may do it as well"


@operation("GET", "/v1/inbox/channel-connections", session=True, query=OwnConnectionQuery, transaction=Transaction.SCAN)
async def list_own_connections(call: Call, query: OwnConnectionQuery) -> CursorPage[OwnConnectionItem]:
    """List one's own connections, and those that are shared by the context of the session."""
    person, vault = await _get_person(call, query.subscriber_id), call.services.vault
    wanted = _narrow(call, person, query.read_filter(query.provider_id))
    listing = connections.connections_listing(call.environment_id, wanted)
    page = await list_cursor_page(call.db, listing, query, lambda row: connections.connection_of(row, vault))
    return page.with_data([OwnConnectionItem.of(one) for one in page.data])


@operation("GET", "/v1/inbox/channel-connections/{connectionIdentifier}", session=True, query=ModeQuery)
async def get_own_connection(call: Call, identifier: str, query: ModeQuery) -> OwnConnectionOut:
    """Retrieve a connection that is one's own, or shared by the context of the session: 404 if not connected."""
    person = await get_session_subscriber(call)
    return OwnConnectionOut.of(await _get_connection(call, person, identifier, query.connection_mode))


@operation("DELETE", "/v1/inbox/channel-connections/{connectionIdentifier}", session=True, status=204)
async def delete_own_connection(call: Call, identifier: str) -> None:
    """End a connection; only a session that is proven by its hash does so."""
    person = await get_session_subscriber(call)
    connection = await _get_connection(call, person, identifier, None)
    _require_proof(call, "connectionIdentifier", identifier)
    await connections.delete_connection(call.db, call.environment_id, connection.id, call.now)
    author = Author(actor=SERVICE, request_id=call.request_id)
    await record(call.db, Action.CHANNEL_CONNECTION_DELETE, author, call.now, before=connection)


@operation("POST", "/v1/inbox/channel-connections/oauth", session=True, status=201, body=OwnConnectUrlIn)
async def make_own_connect_url(call: Call, body: OwnConnectUrlIn) -> Reply[OAuthUrlOut]:
    """Make the address at which the subscriber connects a workspace."""
    person = await _get_person(call, body.subscriber_id)
    is_shared = body.connection_mode is ConnectionMode.SHARED
    if is_shared and not _own_keys(call):
        raise Invalid.field("connectionMode", "can only be shared in a session that has a context")
    await _check_context(call, body, needs_proof=is_shared)
    wish = Wish(
        integration_identifier=body.integration_identifier,
        step=OAuthStep.CONNECT,
        subscriber_key=person.key,
        is_shared=is_shared,
        context_keys=_own_keys(call),
        connection_identifier=body.connection_identifier,
        scope=body.scope,
        links_person=not is_shared if body.auto_link_user is None else body.auto_link_user,
        replaces=call.session.is_proven,
    )
    return Reply(data=await begin(call, wish))


@operation("POST", "/v1/inbox/channel-endpoints/oauth", session=True, status=201, body=OwnLinkUrlIn)
async def make_own_link_url(call: Call, body: OwnLinkUrlIn) -> Reply[OAuthUrlOut]:
    """Make the address at which the subscriber says who they are in a workspace that is connected."""
    person = await _get_person(call, body.subscriber_id)
    await _check_context(call, body, needs_proof=False)
    wish = Wish(
        integration_identifier=body.integration_identifier,
        step=OAuthStep.LINK,
        subscriber_key=person.key,
        is_shared=False,
        context_keys=_own_keys(call),
        connection_identifier=body.connection_identifier,
        scope=body.user_scope,
        links_person=False,
        replaces=call.session.is_proven,
    )
    return Reply(data=await begin(call, wish))


@operation("POST", "/v1/inbox/channel-endpoints/link", session=True, body=OwnChatLinkIn)
async def make_own_chat_link(call: Call, body: OwnChatLinkIn) -> Reply[ChatLinkOut]:
    """Make the link with which the subscriber connects their chat with a bot."""
    person = await _get_person(call, body.subscriber_id)
    await _check_context(call, body, needs_proof=False)
    wish = ChatLinkWish(body.integration_identifier, person, _own_keys(call), replaces=call.session.is_proven)
    return Reply(data=await make_link(call, wish))


@operation("GET", "/v1/inbox/channel-endpoints", session=True, query=OwnEndpointQuery, transaction=Transaction.SCAN)
async def list_own_endpoints(call: Call, query: OwnEndpointQuery) -> CursorPage[OwnEndpointOut]:
    """List one's own endpoints in the context of the session."""
    person, vault = await _get_person(call, query.subscriber_id), call.services.vault
    wanted = replace(_narrow(call, person, query.read_filter(query.provider_id)), has_shared=False)
    listing = endpoints.endpoints_listing(call.environment_id, wanted)
    page = await list_cursor_page(call.db, listing, query, lambda row: endpoints.endpoint_of(row, vault))
    return page.with_data([OwnEndpointOut.of(one) for one in page.data])


@operation("DELETE", "/v1/inbox/channel-endpoints/{endpointIdentifier}", session=True, status=204)
async def delete_own_endpoint(call: Call, identifier: str) -> None:
    """Delete an endpoint of one's own; only a session that is proven by its hash does so."""
    person = await get_session_subscriber(call)
    endpoint = await endpoints.get_endpoint(call.db, call.environment_id, identifier, call.services.vault)
    if endpoint.subscriber_id != person.id or endpoint.context_keys != _own_keys(call):
        raise NotFound("Channel endpoint", identifier)
    _require_proof(call, "endpointIdentifier", identifier)
    await endpoints.delete_endpoint(call.db, call.environment_id, endpoint.id)


async def _get_person(call: Call, named: str | None) -> Subscriber:
    """The subscriber of the session, whomever the request names."""
    person = await get_session_subscriber(call)
    if named is not None and named != person.key:
        call.warnings.append(InputWarning("subscriberId", "is not used: the subscriber is that of the session"))
    return person


def _own_keys(call: Call) -> tuple[str, ...]:
    return tuple(sorted(call.session.context_keys))


def _narrow(call: Call, person: Subscriber, wanted: AddressFilter) -> AddressFilter:
    """What of a list belongs to the person and to the context of the session."""
    keys = wanted.context_keys
    own = _own_keys(call)
    # A context that is not that of the session has nothing here: none is called so.
    shown = own if keys is None or tuple(keys) == own else (":",)
    return replace(wanted, subscriber_key=person.key, has_shared=True, context_keys=shown)


async def _get_connection(
    call: Call, person: Subscriber, identifier: str, mode: ConnectionMode | None
) -> ChannelConnection:
    connection = await connections.find_connection(call.db, call.environment_id, identifier, call.services.vault)
    owners = {ConnectionMode.SUBSCRIBER: (person.id,), ConnectionMode.SHARED: (None,)}
    wanted = (person.id, None) if mode is None else owners[mode]
    if connection is None or connection.subscriber_id not in wanted or connection.context_keys != _own_keys(call):
        raise NotFound("Channel connection", identifier)
    return connection


async def _check_context(
    call: Call, body: OwnConnectUrlIn | OwnLinkUrlIn | OwnChatLinkIn, *, needs_proof: bool
) -> None:
    """Refuse another context than that of the session, and a session or a context that lacks its proof."""
    own = _own_keys(call)
    if body.context is not None and keys_of(read_contexts(body.context)) != own:
        raise Invalid.field("context", "must be that of the session")
    await check_context_hash(call, body.context, body.context_hash)
    if call.session.is_proven:
        return
    account = await get_account(call.db, call.environment_id, body.integration_identifier, call.services.vault)
    if account.credentials.get("hmac") is True:
        # The hash of a context proves the context, and not who the person is.
        raise Invalid.field("integrationIdentifier", f"has hmac: {_PROOF}", body.integration_identifier)
    if needs_proof and body.context_hash is None:
        raise Invalid.field("contextHash", "is required, with context: the context of this session is not proven")


def _require_proof(call: Call, field: str, identifier: str) -> None:
    """What a person has is changed only by a session that is proven: anybody may begin the others in their name."""
    if not call.session.is_proven:
        raise Invalid.field(field, f"is deleted only with proof: {_PROOF}", identifier)
