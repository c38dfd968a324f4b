"""SQL of variables; values are encrypted on writing and decrypted on reading."""

from collections.abc import Iterable, Mapping

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.sealed import SealedColumn
from clarion.environments.configuration import raise_configuration_version
from clarion.environments.variables.model import EnvironmentVariable
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, OrganizationId, VariableId
from clarion.vault import Vault

LIST_VARIABLES = sql("""
    SELECT id, organization_id, key, is_secret, for_credentials, created_at, updated_at FROM environment_variables
    WHERE organization_id = :organization_id ORDER BY id DESC
""")
LIST_KEYS = sql("""
    SELECT v.key FROM environments AS e JOIN environment_variables AS v ON v.organization_id = e.organization_id
    WHERE e.id = :environment_id AND v.for_credentials IS NOT TRUE
""")
LIST_VALUES = sql("""
    SELECT x.environment_id, x.variable_id, x.value FROM environments AS e
    JOIN environment_variable_values AS x ON x.environment_id = e.id
    WHERE e.organization_id = :organization_id AND e.deleted_at IS NULL
""")
INSERT_VARIABLE = sql("""
    INSERT INTO environment_variables (organization_id, id, key, is_secret, for_credentials, created_at, updated_at)
    VALUES (:organization_id, :id, :key, :is_secret, :for_credentials, :now, :now)
""")
UPDATE_VARIABLE = sql("""
    UPDATE environment_variables
    SET key = :key, is_secret = :is_secret, for_credentials = :for_credentials, updated_at = :now
    WHERE organization_id = :organization_id AND id = :id
""")
DELETE_VARIABLE = sql("DELETE FROM environment_variables WHERE organization_id = :organization_id AND id = :id")
PUT_VALUE = sql("""
    INSERT INTO environment_variable_values (environment_id, variable_id, value)
    VALUES (:environment_id, :variable_id, :value)
    ON CONFLICT (environment_id, variable_id) DO UPDATE SET value = excluded.value
""")
DELETE_VALUE = sql("""
    DELETE FROM environment_variable_values WHERE environment_id = :environment_id AND variable_id = :variable_id
""")
LIST_KEYS_LACKING = sql("""
    SELECT v.key FROM environment_variable_values AS x JOIN environments AS e ON e.id = x.environment_id
    JOIN environment_variables AS v ON v.organization_id = e.organization_id AND v.id = x.variable_id
    WHERE x.environment_id = :source_id AND NOT EXISTS (
        SELECT 1 FROM environment_variable_values AS y
        WHERE y.environment_id = :target_id AND y.variable_id = x.variable_id
    )
    ORDER BY v.key
""")
SEALED = SealedColumn("environment_variable_values", "value", keys=("environment_id", "variable_id"))
list_samples = SEALED.list_samples
reencrypt_values = SEALED.reencrypt


async def list_variables(db: Connection, organization_id: OrganizationId, vault: Vault) -> list[EnvironmentVariable]:
    """The variables of an organization with their values, newest first."""
    rows = await db.fetch(LIST_VARIABLES, organization_id=organization_id)
    values: dict[VariableId, dict[EnvironmentId, str]] = {}
    for row in await db.fetch(LIST_VALUES, organization_id=organization_id) if rows else ():
        values.setdefault(row["variable_id"], {})[row["environment_id"]] = vault.open(row["value"], context=_owner(row))
    return [_variable_of(row, values.get(row["id"], {})) for row in rows]


async def get_variable(db: Connection, organization_id: OrganizationId, key: str, vault: Vault) -> EnvironmentVariable:
    for variable in await list_variables(db, organization_id, vault):
        if variable.key == key:
            return variable
    raise NotFound("EnvironmentVariable", key)


async def list_keys(db: Connection, environment_id: EnvironmentId) -> list[str]:
    """The keys of the variables of the organization of an environment that texts see."""
    return [row["key"] for row in await db.fetch(LIST_KEYS, environment_id=environment_id)]


async def list_keys_lacking(db: Connection, *, source_id: EnvironmentId, target_id: EnvironmentId) -> list[str]:
    """The keys of the variables that have a value in the source and none in the target."""
    rows = await db.fetch(LIST_KEYS_LACKING, source_id=source_id, target_id=target_id)
    return [row["key"] for row in rows]


async def insert_variable(db: Connection, variable: EnvironmentVariable, vault: Vault) -> None:
    await db.execute(
        INSERT_VARIABLE,
        organization_id=variable.organization_id,
        id=variable.id,
        key=variable.key,
        is_secret=variable.is_secret,
        for_credentials=variable.for_credentials,
        now=variable.created_at,
    )
    await put_values(db, variable.id, variable.values, vault)


async def update_variable(db: Connection, variable: EnvironmentVariable, now: Millis) -> None:
    """Write the key, and who sees it; not the values."""
    await db.execute(
        UPDATE_VARIABLE,
        organization_id=variable.organization_id,
        id=variable.id,
        key=variable.key,
        is_secret=variable.is_secret,
        for_credentials=variable.for_credentials,
        now=now,
    )


async def put_values(
    db: Connection, variable_id: VariableId, values: Mapping[EnvironmentId, str], vault: Vault
) -> None:
    for environment_id, value in values.items():
        sealed = vault.seal(value, context=environment_id + variable_id)
        await db.execute(PUT_VALUE, environment_id=environment_id, variable_id=variable_id, value=sealed)


async def delete_variable(db: Connection, variable: EnvironmentVariable) -> None:
    for environment_id in variable.values:
        await db.execute(DELETE_VALUE, environment_id=environment_id, variable_id=variable.id)
    await db.execute(DELETE_VARIABLE, organization_id=variable.organization_id, id=variable.id)


async def raise_versions(db: Connection, environment_ids: Iterable[EnvironmentId]) -> None:
    """Note that environments have other variables; in one order, so that two changes do not wait for each other."""
    for environment_id in sorted(environment_ids):
        await raise_configuration_version(db, environment_id)


def _owner(row: Row) -> bytes:
    owner: bytes = row["environment_id"] + row["variable_id"]
    return owner


def _variable_of(row: Row, values: Mapping[EnvironmentId, str]) -> EnvironmentVariable:
    return EnvironmentVariable(
        organization_id=row["organization_id"],
        id=row["id"],
        key=row["key"],
        is_secret=bool(row["is_secret"]),
        for_credentials=bool(row["for_credentials"]),
        values=values,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
