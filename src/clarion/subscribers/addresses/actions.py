"""Changes of connections and endpoints: the rules that need the store, and the records that they make."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid, Problem
from clarion.ids import ConnectionId, EndpointId, EnvironmentId, IntegrationId, SubscriberKey, new_id
from clarion.subscribers.addresses import connections, endpoints
from clarion.subscribers.addresses.integrations import get_address_integration
from clarion.subscribers.addresses.kinds import KINDS, find_endpoint_problems, find_provider_problem
from clarion.subscribers.addresses.model import (
    MAX_ENDPOINTS,
    AddressIntegration,
    ChannelConnection,
    ChannelEndpoint,
    ConnectionMode,
    EndpointType,
    find_moved_secrets,
    make_connection_identifier,
    make_endpoint_identifier,
    mask_auth,
    mask_endpoint,
    unmask,
)
from clarion.subscribers.addresses.telegram import store as telegram
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import ensure_subscribers, get_subscriber
from clarion.vault import Vault
from clarion.vocabulary import Channel


class ConnectionDraft(Struct, frozen=True, kw_only=True):
    """A connection to create; an identifier of None is made up."""

    integration_identifier: str
    identifier: str | None
    subscriber_key: SubscriberKey | None
    context_keys: tuple[str, ...]
    workspace: dict[str, str]
    auth: dict[str, str]


class EndpointDraft(Struct, frozen=True, kw_only=True):
    """An endpoint to create; an identifier of None is made up."""

    integration_identifier: str
    identifier: str | None
    connection_identifier: str | None
    subscriber_key: SubscriberKey
    creates_subscriber: bool
    context_keys: tuple[str, ...]
    type: EndpointType
    endpoint: dict[str, Any]


def choose_owner(
    mode: ConnectionMode | None, subscriber_key: SubscriberKey | None, *, has_context: bool
) -> SubscriberKey | None:
    """Who a connection belongs to: a person, or None for a shared one; raises Invalid."""
    if mode is ConnectionMode.SHARED:
        if not has_context:
            raise Invalid.field("context", "is required for a connection that is shared")
        return None
    if mode is ConnectionMode.SUBSCRIBER and subscriber_key is None:
        raise Invalid.field("subscriberId", "is required for a connection of a subscriber")
    if subscriber_key is None and not has_context:
        raise Invalid.field("subscriberId", "or context must be provided")
    return subscriber_key


async def create_connection(
    db: Connection, environment_id: EnvironmentId, draft: ConnectionDraft, *, vault: Vault, now: Millis
) -> ChannelConnection:
    """Add a connection; raises Invalid if there is one of the same integration, person and context."""
    integration = await get_address_integration(db, environment_id, draft.integration_identifier, for_update=True)
    _require_chat(integration)
    person = await _lock_owner(db, environment_id, draft)
    owner = (None if person is None else person.id, draft.context_keys)
    existing = await connections.find_connection_of(db, environment_id, integration.id, owner, vault)
    if existing is not None:
        raise Invalid.field(
            "integrationIdentifier",
            f"has the connection '{existing.identifier}' of this subscriber and context already; change that with "
            "PATCH, or delete it first",
            draft.integration_identifier,
        )
    made = ChannelConnection(
        environment_id=environment_id,
        id=ConnectionId(new_id(now)),
        identifier=draft.identifier or make_connection_identifier(),
        integration=integration,
        subscriber_id=owner[0],
        subscriber_key=None if person is None else person.key,
        context_keys=draft.context_keys,
        workspace=draft.workspace,
        auth=draft.auth,
        created_at=now,
        updated_at=now,
    )
    if not await connections.insert_connection(db, made, vault):
        raise _taken(made.identifier)
    return made


async def update_connection(
    db: Connection,
    before: ChannelConnection,
    workspace: Mapping[str, str],
    auth: Mapping[str, str],
    *,
    vault: Vault,
    now: Millis,
) -> ChannelConnection:
    """Replace the workspace and the tokens; those that are sent masked stay."""
    tokens = unmask(auth, before.auth, mask_auth(before.auth))
    changed = replace(before, workspace=dict(workspace), auth=tokens)
    if changed == before:
        return before
    changed = replace(changed, trouble=None, updated_at=now)
    await connections.update_connection(db, changed, vault)
    return changed


async def create_endpoint(
    db: Connection, environment_id: EnvironmentId, draft: EndpointDraft, *, vault: Vault, now: Millis
) -> ChannelEndpoint:
    """Add an address of a person; raises Invalid if it does not fit its type, its integration or its connection."""
    _refuse_wrong_address(draft.type, draft.endpoint)
    # Locked, so that it is not deleted meanwhile.
    integration = await get_address_integration(db, environment_id, draft.integration_identifier, for_update=True)
    problem = find_provider_problem(draft.type, integration.provider_id)
    if problem is not None:
        raise Invalid.field("integrationIdentifier", problem, draft.integration_identifier)
    connection = await _find_connection(db, environment_id, draft, integration, vault)
    person = await _get_person(db, environment_id, draft, now)
    if connection is not None and connection.subscriber_id not in (None, person.id):
        raise Invalid.field("connectionIdentifier", "belongs to another subscriber", draft.connection_identifier)
    if await endpoints.count_endpoints(db, environment_id, person.id) >= MAX_ENDPOINTS:
        raise Invalid.field("subscriberId", f"has {MAX_ENDPOINTS} endpoints, the most possible; delete one first")
    made = ChannelEndpoint(
        environment_id=environment_id,
        id=EndpointId(new_id(now)),
        identifier=draft.identifier or make_endpoint_identifier(),
        integration=integration,
        connection_id=None if connection is None else connection.id,
        connection_identifier=None if connection is None else connection.identifier,
        subscriber_id=person.id,
        subscriber_key=person.key,
        context_keys=draft.context_keys,
        type=draft.type,
        endpoint=draft.endpoint,
        created_at=now,
        updated_at=now,
    )
    if not await endpoints.insert_endpoint(db, made, vault):
        raise _taken(made.identifier)
    return made


async def update_endpoint(
    db: Connection, before: ChannelEndpoint, endpoint: Mapping[str, Any], *, vault: Vault, now: Millis
) -> ChannelEndpoint:
    """Replace the address, which must fit the stored type; members that are sent masked stay."""
    wanted = unmask(endpoint, before.endpoint, mask_endpoint(before.endpoint))
    moved = find_moved_secrets(endpoint, before.endpoint)
    if moved:
        problem = Problem("is masked, and the URL changes: send the secret again")
        raise Invalid({f"endpoint.{name}": [problem] for name in moved})
    _refuse_wrong_address(before.type, wanted)
    if wanted == before.endpoint:
        return before
    changed = replace(before, endpoint=wanted, updated_at=now)
    await endpoints.update_endpoint(db, changed, vault)
    return changed


async def delete_addresses_of_integration(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId
) -> None:
    """Delete what belongs to an integration that is deleted: nothing could be sent by it any more."""
    await endpoints.delete_of_integration(db, environment_id, integration_id)
    await telegram.delete_of_integration(db, environment_id, integration_id)
    await connections.delete_of_integration(db, environment_id, integration_id)


def _refuse_wrong_address(kind: EndpointType, endpoint: Mapping[str, Any]) -> None:
    problems = find_endpoint_problems(kind, endpoint)
    if problems:
        raise Invalid(problems)


async def _find_connection(
    db: Connection, environment_id: EnvironmentId, draft: EndpointDraft, integration: AddressIntegration, vault: Vault
) -> ChannelConnection | None:
    kind = KINDS[draft.type]
    if draft.connection_identifier is None:
        if kind.needs_connection and kind.instead_of_connection not in draft.endpoint:
            raise Invalid.field("connectionIdentifier", f"is required for endpoints of type {draft.type}")
        return None
    connection = await connections.get_connection(db, environment_id, draft.connection_identifier, vault)
    if connection.integration.id != integration.id:
        raise Invalid.field("connectionIdentifier", "belongs to another integration", draft.connection_identifier)
    if kind.needs_connection and connection.context_keys != draft.context_keys:
        raise Invalid.field("connectionIdentifier", "belongs to another context", draft.connection_identifier)
    return connection


async def _get_person(db: Connection, environment_id: EnvironmentId, draft: EndpointDraft, now: Millis) -> Subscriber:
    if draft.creates_subscriber:
        await ensure_subscribers(db, environment_id, [draft.subscriber_key], now)
    # Locked, so that two requests cannot both make the last endpoint that is possible.
    return await get_subscriber(db, environment_id, draft.subscriber_key, for_update=True)


async def _lock_owner(db: Connection, environment_id: EnvironmentId, draft: ConnectionDraft) -> Subscriber | None:
    if draft.subscriber_key is None:
        return None
    return await get_subscriber(db, environment_id, draft.subscriber_key, for_update=True)


def _require_chat(integration: AddressIntegration) -> None:
    if integration.channel is not Channel.CHAT:
        raise Invalid.field(
            "integrationIdentifier", "must be of a chat provider: no others have workspaces", integration.identifier
        )


def _taken(identifier: str) -> Invalid:
    return Invalid.field("identifier", "is taken; choose another, or leave it out", identifier)
