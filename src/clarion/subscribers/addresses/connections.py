"""SQL of channel connections; their tokens are encrypted on writing and decrypted on reading."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import ConnectionId, EnvironmentId, IntegrationId, SubscriberId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.addresses.filters import AddressFilter, select_addresses
from clarion.subscribers.addresses.integrations import integration_of_row
from clarion.subscribers.addresses.model import ChannelConnection, read_trouble
from clarion.vault import Vault

_COLUMNS = """
    t.environment_id, t.id, t.identifier, t.integration_id, t.subscriber_id, t.context_keys, t.workspace, t.auth,
    t.trouble, t.created_at, t.updated_at, s.key AS subscriber_key, i.identifier AS integration_identifier,
    i.provider_id AS provider_id, i.channel AS channel
"""
_SOURCE = """
    channel_connections AS t
    JOIN integrations AS i ON i.environment_id = t.environment_id AND i.id = t.integration_id AND i.deleted_at IS NULL
    LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
"""
_SELECT = f"SELECT {_COLUMNS} FROM {_SOURCE} WHERE t.environment_id = :environment_id"

FIND_CONNECTION = sql(f"{_SELECT} AND t.identifier = :identifier")
LOCK_CONNECTION = sql(f"{_SELECT} AND t.identifier = :identifier {{for_update_of_t}}")
FIND_SUBSCRIBERS_CONNECTION = sql(f"""
    {_SELECT} AND t.integration_id = :integration_id AND t.subscriber_id = :subscriber_id
    AND t.context_keys = :context_keys
""")
FIND_SHARED_CONNECTION = sql(f"""
    {_SELECT} AND t.integration_id = :integration_id AND t.subscriber_id IS NULL AND t.context_keys = :context_keys
""")
INSERT_CONNECTION = sql("""
    INSERT INTO channel_connections (
        environment_id, id, identifier, integration_id, subscriber_id, context_keys, workspace, auth,
        created_at, updated_at
    ) VALUES (
        :environment_id, :id, :identifier, :integration_id, :subscriber_id, :context_keys, :workspace, :auth,
        :created_at, :updated_at
    )
    ON CONFLICT (environment_id, identifier) DO NOTHING
    RETURNING id
""")
UPDATE_CONNECTION = sql("""
    UPDATE channel_connections SET workspace = :workspace, auth = :auth, updated_at = :updated_at,
        trouble = NULL, renewing_until = NULL
    WHERE environment_id = :environment_id AND id = :id
""")
DETACH_ENDPOINTS = sql("""
    UPDATE channel_endpoints SET connection_id = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND connection_id = :id
""")
DELETE_CONNECTION = sql("DELETE FROM channel_connections WHERE environment_id = :environment_id AND id = :id")
DELETE_OF_INTEGRATION = sql("""
    DELETE FROM channel_connections WHERE environment_id = :environment_id AND integration_id = :integration_id
""")


def connections_listing(environment_id: EnvironmentId, wanted: AddressFilter) -> Listing:
    return select_addresses(environment_id, wanted, columns=_COLUMNS, source=_SOURCE)


async def find_connection(
    db: Connection, environment_id: EnvironmentId, identifier: str, vault: Vault, *, for_update: bool = False
) -> ChannelConnection | None:
    query = LOCK_CONNECTION if for_update else FIND_CONNECTION
    row = await db.fetch_one(query, environment_id=environment_id, identifier=identifier)
    return None if row is None else connection_of(row, vault)


async def get_connection(
    db: Connection, environment_id: EnvironmentId, identifier: str, vault: Vault, *, for_update: bool = False
) -> ChannelConnection:
    connection = await find_connection(db, environment_id, identifier, vault, for_update=for_update)
    if connection is None:
        raise NotFound("Channel connection", identifier)
    return connection


async def find_connection_of(
    db: Connection,
    environment_id: EnvironmentId,
    integration_id: IntegrationId,
    owner: tuple[SubscriberId | None, Sequence[str]],
    vault: Vault,
) -> ChannelConnection | None:
    """Return the connection of a person, or the shared one of a context, at an integration."""
    subscriber_id, context_keys = owner
    query = FIND_SHARED_CONNECTION if subscriber_id is None else FIND_SUBSCRIBERS_CONNECTION
    of_person = {} if subscriber_id is None else {"subscriber_id": subscriber_id}
    row = await db.fetch_one(
        query,
        environment_id=environment_id,
        integration_id=integration_id,
        context_keys=json_text(list(context_keys)),
        **of_person,
    )
    return None if row is None else connection_of(row, vault)


async def insert_connection(db: Connection, connection: ChannelConnection, vault: Vault) -> bool:
    """Insert a connection; returns False if its identifier is taken."""
    row = await db.fetch_one(
        INSERT_CONNECTION,
        identifier=connection.identifier,
        integration_id=connection.integration.id,
        subscriber_id=connection.subscriber_id,
        context_keys=json_text(list(connection.context_keys)),
        created_at=connection.created_at,
        **_stored(connection, vault),
    )
    return row is not None


async def update_connection(db: Connection, connection: ChannelConnection, vault: Vault) -> None:
    """Write the workspace and the authorisation, which ends what trouble there was with another one."""
    await db.execute(UPDATE_CONNECTION, **_stored(connection, vault))


async def delete_connection(
    db: Connection, environment_id: EnvironmentId, connection_id: ConnectionId, now: Millis
) -> None:
    """Delete a connection; its endpoints stay, without a connection."""
    await db.execute(DETACH_ENDPOINTS, environment_id=environment_id, id=connection_id, now=now)
    await db.execute(DELETE_CONNECTION, environment_id=environment_id, id=connection_id)


async def delete_of_integration(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    await db.execute(DELETE_OF_INTEGRATION, environment_id=environment_id, integration_id=integration_id)


def connection_of(row: Row, vault: Vault) -> ChannelConnection:
    return ChannelConnection(
        environment_id=row["environment_id"],
        id=row["id"],
        identifier=row["identifier"],
        integration=integration_of_row(row),
        subscriber_id=row["subscriber_id"],
        subscriber_key=row["subscriber_key"],
        context_keys=tuple(json_value(row["context_keys"])),
        workspace=json_value(row["workspace"]),
        auth=json_value(vault.open(row["auth"], context=row["environment_id"] + row["id"])),
        trouble=read_trouble(row["trouble"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _stored(connection: ChannelConnection, vault: Vault) -> dict[str, Any]:
    context = connection.environment_id + connection.id
    return {
        "environment_id": connection.environment_id,
        "id": connection.id,
        "workspace": json_text(connection.workspace),
        "auth": vault.seal(json_text(connection.auth), context=context),
        "updated_at": connection.updated_at,
    }
