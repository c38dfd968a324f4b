"""SQL of deleting environments: what ends at once, and the rows that are left when all data is gone."""

from clarion.clock import Millis
from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.environments.organizations.model import DeletedEnvironment
from clarion.ids import EnvironmentId, OrganizationId, id_text

DISABLE_ENDPOINTS = sql("UPDATE webhook_endpoints SET active = FALSE WHERE environment_id = :environment_id AND active")
MARK_DELETED = sql("""
    UPDATE environments
    SET deleted_at = :now, updated_at = :now, name = :name, session_epoch = session_epoch + 1,
        configuration_version = configuration_version + 1
    WHERE id = :environment_id AND deleted_at IS NULL
""")
CLEAR_PARENT = sql("UPDATE environments SET parent_id = NULL WHERE parent_id = :environment_id")
DELETE_INTEGRATIONS = sql("""
    UPDATE integrations SET deleted_at = :now, active = FALSE, is_primary = FALSE
    WHERE environment_id = :environment_id AND deleted_at IS NULL
""")
REVOKE_API_KEYS = sql("""
    UPDATE api_keys SET revoked_at = :now, sealed = NULL WHERE environment_id = :environment_id AND revoked_at IS NULL
""")
HAS_DATA = sql("""
    SELECT COALESCE(
        (SELECT 1 FROM subscribers WHERE environment_id = :environment_id LIMIT 1),
        (SELECT 1 FROM workflows WHERE environment_id = :environment_id LIMIT 1),
        (SELECT 1 FROM triggers WHERE environment_id = :environment_id LIMIT 1)
    ) IS NOT NULL AS has_data
""")
LIST_DELETED = sql("""
    SELECT id AS environment_id, organization_id, deleted_at FROM environments
    WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id
""")
TRY_LOCK_DELETION = sql("SELECT pg_try_advisory_xact_lock(:key) AS is_locked")
REMOVE_ENVIRONMENT = sql("DELETE FROM environments WHERE id = :environment_id AND deleted_at IS NOT NULL")
REMOVE_ORGANIZATION = sql("""
    DELETE FROM organizations
    WHERE id = :organization_id AND NOT EXISTS (SELECT 1 FROM environments WHERE organization_id = :organization_id)
""")


async def mark_environment_deleted(db: Connection, environment: Environment, now: Millis) -> None:
    """End everything that an environment does, and free its name."""
    bound = {"environment_id": environment.id}
    # Endpoints before the environment, as everyone locks them.
    await db.execute(DISABLE_ENDPOINTS, **bound)
    name = f"{environment.name} (deleted {id_text(environment.id)})"
    await db.execute(MARK_DELETED, **bound, name=name, now=now)
    await db.execute(CLEAR_PARENT, **bound)
    await db.execute(DELETE_INTEGRATIONS, **bound, now=now)
    await db.execute(REVOKE_API_KEYS, **bound, now=now)


async def has_data(db: Connection, environment_id: EnvironmentId) -> bool:
    """Return whether an environment has been used: it has subscribers, workflows or triggers."""
    row = await db.fetch_one(HAS_DATA, environment_id=environment_id)
    return row is not None and bool(row["has_data"])


async def list_deleted_environments(db: Connection) -> list[DeletedEnvironment]:
    """List the environments that are deleted but whose rows may still exist."""
    return [DeletedEnvironment(**row) for row in await db.fetch(LIST_DELETED)]


async def try_lock_deletion(db: Connection, environment_id: EnvironmentId) -> bool:
    """Take the lock of deleting an environment's rows for this unit of work; False if another process has it."""
    if db.dialect is Dialect.SQLITE:
        return True
    key = int.from_bytes(environment_id[4:12], signed=True)
    row = await db.fetch_one(TRY_LOCK_DELETION, key=key)
    return row is not None and bool(row["is_locked"])


async def remove_environment(db: Connection, environment_id: EnvironmentId, organization_id: OrganizationId) -> None:
    """Delete the row of an environment whose data is gone, and of its organization if it was the last one."""
    await db.execute(REMOVE_ENVIRONMENT, environment_id=environment_id)
    await db.execute(REMOVE_ORGANIZATION, organization_id=organization_id)
