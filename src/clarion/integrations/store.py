"""SQL of integrations, and their cache; credentials are encrypted on writing and decrypted on reading."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from clarion.cache import CacheSlot
from clarion.db.port import Connection, Row
from clarion.db.query import columns_of, sql
from clarion.db.sealed import SealedColumn
from clarion.environments.configuration import Versioned, get_or_load
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.integrations.variables import with_variables
from clarion.jsontext import json_text, json_value
from clarion.vault import Vault
from clarion.vocabulary import Channel

INTEGRATIONS: CacheSlot[EnvironmentId, Versioned[list[Integration]]] = CacheSlot(limit=1_000)


INTEGRATION_COLUMNS = columns_of(Integration)
INSERT_INTEGRATION = sql("""
    INSERT INTO integrations (
        environment_id, id, provider_id, channel, name, identifier, credentials, conditions,
        active, is_primary, priority, weight, rate_limit, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :provider_id, :channel, :name, :identifier, :credentials, :conditions,
        :active, :is_primary, :priority, :weight, :rate_limit, :created_at, :updated_at
    )
    ON CONFLICT (environment_id, identifier) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id
""")
LIST_INTEGRATIONS = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id
""")
FIND_INTEGRATION = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL
""")
FIND_LAST_DELETED = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND channel = :channel AND deleted_at IS NOT NULL
    ORDER BY deleted_at DESC, id DESC LIMIT 1
""")
LIST_RATE_LIMITS = sql("""
    SELECT id, rate_limit FROM integrations WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id
""")
LIST_KINDS = sql("SELECT id, channel, provider_id FROM integrations WHERE environment_id = :environment_id")
UPDATE_INTEGRATION = sql("""
    UPDATE integrations
    SET name = :name, identifier = :identifier, credentials = :credentials, conditions = :conditions,
        active = :active, is_primary = :is_primary, priority = :priority, weight = :weight, rate_limit = :rate_limit,
        updated_at = :updated_at, deleted_at = :deleted_at, deleted_by = :deleted_by
    WHERE environment_id = :environment_id AND id = :id
""")

DELETE_HEALTH = sql("""
    DELETE FROM integration_health WHERE environment_id = :environment_id AND integration_id = :integration_id
""")

RESET_HEALTH = sql("""
    UPDATE integration_health SET failures = 0, open_until = NULL, allowance = 0, refilled_at = 0
    WHERE environment_id = :environment_id AND integration_id = :integration_id
""")

CLEAR_RECEIPTS_SOURCE = sql("""
    UPDATE integrations SET reports_from = NULL WHERE environment_id = :environment_id AND id = :id
""")

SEALED = SealedColumn("integrations", "credentials")
"""Also of deleted integrations: an old key can be thrown away only when no row needs it."""
list_samples = SEALED.list_samples
reencrypt_credentials = SEALED.reencrypt


class IntegrationCache:
    """Caches the integrations of each environment until one of them changes."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._load = partial(_list_resolved, vault=vault)

    async def list(self, db: Connection, environment_id: EnvironmentId, version: int) -> Sequence[Integration]:
        """List the live integrations of the environment at this version, as providers are called, oldest first."""
        return await get_or_load(db, INTEGRATIONS, environment_id, version, self._load)


async def insert_integration(db: Connection, integration: Integration, vault: Vault) -> bool:
    """Insert an integration; returns False if its identifier is taken."""
    row = await db.fetch_one(
        INSERT_INTEGRATION,
        provider_id=integration.provider_id,
        channel=integration.channel,
        created_at=integration.created_at,
        **_stored(integration, vault),
    )
    return row is not None


async def list_integrations(db: Connection, environment_id: EnvironmentId, vault: Vault) -> list[Integration]:
    """List the live integrations of the environment, oldest first."""
    rows = await db.fetch(LIST_INTEGRATIONS, environment_id=environment_id)
    return [integration_of(row, vault) for row in rows]


async def get_integration(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, vault: Vault
) -> Integration:
    """Return a live integration of the environment."""
    row = await db.fetch_one(FIND_INTEGRATION, environment_id=environment_id, id=integration_id)
    if row is None:
        raise NotFound("Integration", id_text(integration_id))
    return integration_of(row, vault)


async def find_last_deleted(
    db: Connection, environment_id: EnvironmentId, channel: Channel, vault: Vault
) -> Integration | None:
    """Return the integration of a channel that was deleted last."""
    row = await db.fetch_one(FIND_LAST_DELETED, environment_id=environment_id, channel=channel)
    return None if row is None else integration_of(row, vault)


async def list_rate_limits(db: Connection, environment_id: EnvironmentId) -> dict[IntegrationId, float | None]:
    """Return the live integrations of the environment with their rate limits, oldest first; nothing is decrypted."""
    rows = await db.fetch(LIST_RATE_LIMITS, environment_id=environment_id)
    return {IntegrationId(row["id"]): row["rate_limit"] for row in rows}


async def list_kinds(db: Connection, environment_id: EnvironmentId) -> dict[IntegrationId, tuple[Channel, str]]:
    """Return the channel and the provider of each integration, deleted ones included."""
    rows = await db.fetch(LIST_KINDS, environment_id=environment_id)
    return {row["id"]: (Channel(row["channel"]), row["provider_id"]) for row in rows}


async def update_integration(db: Connection, integration: Integration, vault: Vault) -> None:
    await db.execute(
        UPDATE_INTEGRATION,
        deleted_at=integration.deleted_at,
        deleted_by=integration.deleted_by,
        **_stored(integration, vault),
    )


async def reset_health(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    """Reset the state of sending: failures, pauses, the remaining rate limit; the last errors stay."""
    await db.execute(RESET_HEALTH, environment_id=environment_id, integration_id=integration_id)


async def delete_health(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    await db.execute(DELETE_HEALTH, environment_id=environment_id, integration_id=integration_id)


async def clear_receipts_source(db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId) -> None:
    """Accept receipts of any customer of the provider again; the next one that reports is stored as the source."""
    await db.execute(CLEAR_RECEIPTS_SOURCE, environment_id=environment_id, id=integration_id)


def integration_of(row: Row, vault: Vault) -> Integration:
    return Integration(
        **{
            **dict(row),
            "channel": Channel(row["channel"]),
            "credentials": json_value(vault.open(row["credentials"], context=row["environment_id"] + row["id"])),
            "conditions": json_value(row["conditions"]),
            "active": bool(row["active"]),
            "is_primary": bool(row["is_primary"]),
        }
    )


async def _list_resolved(db: Connection, environment_id: EnvironmentId, vault: Vault) -> list[Integration]:
    return [await with_variables(db, one, vault) for one in await list_integrations(db, environment_id, vault)]


def _stored(integration: Integration, vault: Vault) -> dict[str, Any]:
    # The context binds an envelope to its row: copied to another row it cannot be decrypted.
    context = integration.environment_id + integration.id
    return {
        "environment_id": integration.environment_id,
        "id": integration.id,
        "name": integration.name,
        "identifier": integration.identifier,
        "credentials": vault.seal(json_text(integration.credentials), context=context),
        "conditions": json_text(integration.conditions),
        "active": integration.active,
        "is_primary": integration.is_primary,
        "priority": integration.priority,
        "weight": integration.weight,
        "rate_limit": integration.rate_limit,
        "updated_at": integration.updated_at,
    }
