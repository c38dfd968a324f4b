"""SQL of integrations; credentials are sealed on the way in and opened on the way out."""

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.http.wire import json_text
from clarion.integrations.model import Integration
from clarion.vault import Vault, sealing_key_id

INSERT_INTEGRATION = sql("""
    INSERT INTO integrations (
        environment_id, id, provider_id, channel, name, identifier, credentials, conditions,
        active, is_primary, priority, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :provider_id, :channel, :name, :identifier, :credentials, :conditions,
        :active, :is_primary, :priority, :created_at, :updated_at
    )
    ON CONFLICT (environment_id, identifier) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id
""")

LIST_ENVELOPES = sql("SELECT credentials FROM integrations")


async def list_sealing_keys(db: Connection) -> frozenset[str]:
    """The ids of all keys that the store's credentials are sealed with."""
    return frozenset(sealing_key_id(row["credentials"]) for row in await db.fetch(LIST_ENVELOPES))


async def insert_integration(db: Connection, integration: Integration, vault: Vault) -> bool:
    """Insert it, unless its identifier is taken."""
    row = await db.fetch_one(
        INSERT_INTEGRATION,
        environment_id=integration.environment_id,
        id=integration.id,
        provider_id=integration.provider_id,
        channel=integration.channel,
        name=integration.name,
        identifier=integration.identifier,
        credentials=vault.seal(json_text(integration.credentials), context=_context(integration)),
        conditions=json_text(integration.conditions),
        active=integration.active,
        is_primary=integration.is_primary,
        priority=integration.priority,
        created_at=integration.created_at,
        updated_at=integration.updated_at,
    )
    return row is not None


def _context(integration: Integration) -> bytes:
    # An envelope opens only where it was written: copied to another row it is worthless.
    return integration.environment_id + integration.id
