"""SQL of attempts that were answered: each is answered once."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, IntegrationId, id_text
from clarion.integrations.model import Integration
from clarion.integrations.store import INTEGRATION_COLUMNS, integration_of
from clarion.integrations.variables import with_variables
from clarion.subscribers.addresses.oauth.model import Attempt
from clarion.vault import Vault

DELETE_EXPIRED = sql("DELETE FROM spent_oauth_states WHERE environment_id = :environment_id AND expires_at <= :now")
INSERT_SPENT = sql("""
    INSERT INTO spent_oauth_states (environment_id, id, expires_at) VALUES (:environment_id, :id, :expires_at)
    ON CONFLICT (environment_id, id) DO NOTHING
    RETURNING id
""")
FIND_INTEGRATION = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND identifier = :identifier AND deleted_at IS NULL
""")
FIND_INTEGRATION_BY_ID = sql(f"""
    SELECT {INTEGRATION_COLUMNS} FROM integrations
    WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL
""")


async def spend_attempt(db: Connection, attempt: Attempt, now: Millis) -> bool:
    """Mark an attempt as answered; returns False if it was answered before."""
    await db.execute(DELETE_EXPIRED, environment_id=attempt.environment_id, now=now)
    row = await db.fetch_one(
        INSERT_SPENT, environment_id=attempt.environment_id, id=attempt.id, expires_at=attempt.expires_at
    )
    return row is not None


async def get_account(db: Connection, environment_id: EnvironmentId, identifier: str, vault: Vault) -> Integration:
    """Return a live integration with its credentials, as its provider is called."""
    row = await db.fetch_one(FIND_INTEGRATION, environment_id=environment_id, identifier=identifier)
    if row is None:
        raise NotFound("Integration", identifier)
    return await with_variables(db, integration_of(row, vault), vault)


async def get_account_by_id(
    db: Connection, environment_id: EnvironmentId, integration_id: IntegrationId, vault: Vault
) -> Integration:
    row = await db.fetch_one(FIND_INTEGRATION_BY_ID, environment_id=environment_id, id=integration_id)
    if row is None:
        raise NotFound("Integration", id_text(integration_id))
    return await with_variables(db, integration_of(row, vault), vault)
