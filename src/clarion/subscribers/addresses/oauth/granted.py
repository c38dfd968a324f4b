"""Storing what a vendor granted: a connection, an endpoint, or both; what was connected before is updated."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from clarion.audit.model import SERVICE, Action, Author
from clarion.audit.recording import record
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import ConnectionId, new_id
from clarion.integrations.model import Integration
from clarion.subscribers.addresses import connections, endpoints
from clarion.subscribers.addresses.actions import EndpointDraft, create_endpoint
from clarion.subscribers.addresses.integrations import get_address_integration
from clarion.subscribers.addresses.model import ChannelConnection, EndpointType, make_connection_identifier
from clarion.subscribers.addresses.oauth.model import Attempt, OAuthProblem, OAuthStep
from clarion.subscribers.addresses.oauth.vendor import ChatVendor, Grant
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber
from clarion.vault import Vault

_AUTHOR = Author(actor=SERVICE)


class Answered(NamedTuple):
    """An attempt that the vendor answered with a grant."""

    attempt: Attempt
    account: Integration
    vendor: ChatVendor
    grant: Grant
    vault: Vault
    now: Millis


async def store_grant(db: Connection, answered: Answered) -> None:
    """Store a grant; raises OAuthProblem if it is not what the attempt was for."""
    attempt, grant = answered.attempt, answered.grant
    if attempt.step is OAuthStep.LINK:
        await _link_person(db, answered)
    elif grant.webhook is not None:
        await _put_endpoint(db, answered, EndpointType.WEBHOOK, grant.webhook, None)
    else:
        connection = await _put_connection(db, answered)
        if attempt.links_person and grant.person is not None:
            await _put_endpoint(db, answered, answered.vendor.person_type, grant.person, connection)


async def _link_person(db: Connection, answered: Answered) -> None:
    person = answered.grant.person
    if person is None:
        raise OAuthProblem(f"{answered.vendor.name} did not say who you are.")
    connection = await _find_connection(db, answered)
    if connection is None:
        raise OAuthProblem("The workspace is not connected. Connect it first.")
    if connection.integration.id != answered.account.id:
        raise OAuthProblem("The connection belongs to another integration.")
    if connection.workspace["id"] != answered.grant.workspace["id"]:
        raise OAuthProblem("You signed in to another workspace than the one that is connected.")
    await _put_endpoint(db, answered, answered.vendor.person_type, person, connection)


async def _put_connection(db: Connection, answered: Answered) -> ChannelConnection:
    attempt, account, vendor, grant, vault, now = answered
    if not grant.auth:
        raise OAuthProblem(f"{vendor.name} gave no token for the workspace.")
    # Locked, so that the same connection is not made twice.
    integration = await get_address_integration(db, attempt.environment_id, account.identifier, for_update=True)
    before = await _find_own_connection(db, answered)
    if before is not None:
        _check_replaces(attempt)
        changed = replace(before, workspace=grant.workspace, auth=grant.auth, trouble=None, updated_at=now)
        await connections.update_connection(db, changed, vault)
        await record(db, Action.CHANNEL_CONNECTION_UPDATE, _AUTHOR, now, before=before, after=changed)
        return changed
    person = await _find_owner(db, attempt, for_update=True)
    made = ChannelConnection(
        environment_id=attempt.environment_id,
        id=ConnectionId(new_id(now)),
        identifier=attempt.connection_identifier or make_connection_identifier(),
        integration=integration,
        subscriber_id=None if person is None else person.id,
        subscriber_key=None if person is None else person.key,
        context_keys=attempt.context_keys,
        workspace=grant.workspace,
        auth=grant.auth,
        created_at=now,
        updated_at=now,
    )
    if not await connections.insert_connection(db, made, vault):
        raise OAuthProblem("Another connection has this identifier.")
    await record(db, Action.CHANNEL_CONNECTION_CREATE, _AUTHOR, now, after=made)
    return made


async def _put_endpoint(
    db: Connection,
    answered: Answered,
    kind: EndpointType,
    address: Mapping[str, str],
    connection: ChannelConnection | None,
) -> None:
    """Add the address of the person, or change the one of the same type and context."""
    attempt, account, _, _, vault, now = answered
    if attempt.subscriber_key is None:
        raise OAuthProblem("The workspace gave an address, and it was not said whose it is.")
    environment_id = attempt.environment_id
    # The integration is locked before the person, as everywhere.
    await get_address_integration(db, environment_id, account.identifier, for_update=True)
    person = await get_subscriber(db, environment_id, attempt.subscriber_key, for_update=True)
    if connection is not None and connection.subscriber_id not in (None, person.id):
        raise OAuthProblem("The connection belongs to another person.")
    place = (kind, attempt.context_keys)
    before = await endpoints.find_endpoint_of(db, environment_id, person.id, account.id, place, vault)
    if before is not None:
        _check_replaces(attempt)
        connection_id = None if connection is None else connection.id
        changed = replace(before, endpoint=dict(address), connection_id=connection_id, updated_at=now)
        await endpoints.update_endpoint(db, changed, vault)
        return
    draft = EndpointDraft(
        integration_identifier=account.identifier,
        identifier=None,
        connection_identifier=None if connection is None else connection.identifier,
        subscriber_key=person.key,
        creates_subscriber=False,
        context_keys=attempt.context_keys,
        type=kind,
        endpoint=dict(address),
    )
    await create_endpoint(db, environment_id, draft, vault=vault, now=now)


def _check_replaces(attempt: Attempt) -> None:
    if not attempt.replaces:
        raise OAuthProblem("This was connected before, and only a session that is proven by a hash may change it.")


async def _find_connection(db: Connection, answered: Answered) -> ChannelConnection | None:
    """The connection that a person is linked by: the one that was named, the person's own, or the shared one."""
    attempt, account, _, _, vault, _ = answered
    if attempt.connection_identifier is not None:
        return await connections.find_connection(db, attempt.environment_id, attempt.connection_identifier, vault)
    shared = (None, attempt.context_keys)
    return await _find_own_connection(db, answered) or await connections.find_connection_of(
        db, attempt.environment_id, account.id, shared, vault
    )


async def _find_own_connection(db: Connection, answered: Answered) -> ChannelConnection | None:
    attempt, account, _, _, vault, _ = answered
    person = await _find_owner(db, attempt)
    owner = (None if person is None else person.id, attempt.context_keys)
    return await connections.find_connection_of(db, attempt.environment_id, account.id, owner, vault)


async def _find_owner(db: Connection, attempt: Attempt, *, for_update: bool = False) -> Subscriber | None:
    if attempt.is_shared or attempt.subscriber_key is None:
        return None
    return await get_subscriber(db, attempt.environment_id, attempt.subscriber_key, for_update=for_update)
