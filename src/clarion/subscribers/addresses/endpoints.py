"""SQL of channel endpoints; their addresses are encrypted on writing and decrypted on reading."""

from collections.abc import Sequence
from typing import Any

from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EndpointId, EnvironmentId, IntegrationId, SubscriberId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.addresses.filters import AddressFilter, select_addresses
from clarion.subscribers.addresses.integrations import integration_of_row
from clarion.subscribers.addresses.model import ChannelEndpoint, EndpointType
from clarion.vault import Vault

_COLUMNS = """
    t.environment_id, t.id, t.identifier, t.integration_id, t.connection_id, t.subscriber_id, t.context_keys, t.type,
    t.endpoint, t.created_at, t.updated_at, s.key AS subscriber_key, i.identifier AS integration_identifier,
    i.provider_id AS provider_id, i.channel AS channel, c.identifier AS connection_identifier
"""
_SOURCE = """
    channel_endpoints AS t
    JOIN integrations AS i ON i.environment_id = t.environment_id AND i.id = t.integration_id AND i.deleted_at IS NULL
    LEFT JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
    LEFT JOIN channel_connections AS c ON c.environment_id = t.environment_id AND c.id = t.connection_id
"""

FIND_ENDPOINT = sql(f"""
    SELECT {_COLUMNS} FROM {_SOURCE} WHERE t.environment_id = :environment_id AND t.identifier = :identifier
""")
LOCK_ENDPOINT = sql(f"""
    SELECT {_COLUMNS} FROM {_SOURCE} WHERE t.environment_id = :environment_id AND t.identifier = :identifier
    {{for_update_of_t}}
""")
FIND_ENDPOINT_OF = sql(f"""
    SELECT {_COLUMNS} FROM {_SOURCE}
    WHERE t.environment_id = :environment_id AND t.subscriber_id = :subscriber_id
    AND t.integration_id = :integration_id AND t.type = :type AND t.context_keys = :context_keys
    ORDER BY t.id LIMIT 1
""")
COUNT_ENDPOINTS = sql("""
    SELECT count(*) AS found FROM channel_endpoints
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
INSERT_ENDPOINT = sql("""
    INSERT INTO channel_endpoints (
        environment_id, id, identifier, integration_id, connection_id, subscriber_id, context_keys, type, endpoint,
        created_at, updated_at
    ) VALUES (
        :environment_id, :id, :identifier, :integration_id, :connection_id, :subscriber_id, :context_keys, :type,
        :endpoint, :created_at, :updated_at
    )
    ON CONFLICT (environment_id, identifier) DO NOTHING
    RETURNING id
""")
UPDATE_ENDPOINT = sql("""
    UPDATE channel_endpoints SET endpoint = :endpoint, connection_id = :connection_id, updated_at = :updated_at
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_ENDPOINT = sql("DELETE FROM channel_endpoints WHERE environment_id = :environment_id AND id = :id")
DELETE_OF_INTEGRATION = sql("""
    DELETE FROM channel_endpoints WHERE environment_id = :environment_id AND integration_id = :integration_id
""")


def endpoints_listing(environment_id: EnvironmentId, wanted: AddressFilter) -> Listing:
    return select_addresses(environment_id, wanted, columns=_COLUMNS, source=_SOURCE)


async def get_endpoint(
    db: Connection, environment_id: EnvironmentId, identifier: str, vault: Vault, *, for_update: bool = False
) -> ChannelEndpoint:
    query = LOCK_ENDPOINT if for_update else FIND_ENDPOINT
    row = await db.fetch_one(query, environment_id=environment_id, identifier=identifier)
    if row is None:
        raise NotFound("Channel endpoint", identifier)
    return endpoint_of(row, vault)


async def find_endpoint_of(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_id: SubscriberId,
    integration_id: IntegrationId,
    place: tuple[EndpointType, Sequence[str]],
    vault: Vault,
) -> ChannelEndpoint | None:
    """Return the first endpoint of a person of one type and context at an integration."""
    kind, context_keys = place
    row = await db.fetch_one(
        FIND_ENDPOINT_OF,
        environment_id=environment_id,
        subscriber_id=subscriber_id,
        integration_id=integration_id,
        type=kind,
        context_keys=json_text(list(context_keys)),
    )
    return None if row is None else endpoint_of(row, vault)


async def count_endpoints(db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> int:
    row = await db.fetch_one(COUNT_ENDPOINTS, environment_id=environment_id, subscriber_id=subscriber_id)
    return 0 if row is None else int(row["found"])


async def insert_endpoint(db: Connection, endpoint: ChannelEndpoint, vault: Vault) -> bool:
    """Insert an endpoint; returns False if its identifier is taken."""
    row = await db.fetch_one(
        INSERT_ENDPOINT,
        identifier=endpoint.identifier,
        integration_id=endpoint.integration.id,
        subscriber_id=endpoint.subscriber_id,
        context_keys=json_text(list(endpoint.context_keys)),
        type=endpoint.type,
        created_at=endpoint.created_at,
        **_stored(endpoint, vault),
    )
    return row is not None


async def update_endpoint(db: Connection, endpoint: ChannelEndpoint, vault: Vault) -> None:
    """Write the address and the connection."""
    await db.execute(UPDATE_ENDPOINT, **_stored(endpoint, vault))


async def delete_endpoint(db: Connection, environment_id: EnvironmentId, endpoint_id: EndpointId) -> None:
    await db.execute(DELETE_ENDPOINT, environment_id=environment_id, id=endpoint_id)


async def delete_of_integration(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    await db.execute(DELETE_OF_INTEGRATION, environment_id=environment_id, integration_id=integration_id)


def endpoint_of(row: Row, vault: Vault) -> ChannelEndpoint:
    return ChannelEndpoint(
        environment_id=row["environment_id"],
        id=row["id"],
        identifier=row["identifier"],
        integration=integration_of_row(row),
        connection_id=None if row["connection_identifier"] is None else row["connection_id"],
        connection_identifier=row["connection_identifier"],
        subscriber_id=row["subscriber_id"],
        subscriber_key=row["subscriber_key"],
        context_keys=tuple(json_value(row["context_keys"])),
        type=EndpointType(row["type"]),
        endpoint=json_value(vault.open(row["endpoint"], context=row["environment_id"] + row["id"])),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _stored(endpoint: ChannelEndpoint, vault: Vault) -> dict[str, Any]:
    context = endpoint.environment_id + endpoint.id
    return {
        "environment_id": endpoint.environment_id,
        "id": endpoint.id,
        "connection_id": endpoint.connection_id,
        "endpoint": vault.seal(json_text(endpoint.endpoint), context=context),
        "updated_at": endpoint.updated_at,
    }
