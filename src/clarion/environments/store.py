"""SQL of organizations, environments and API keys; the keys are encrypted on writing and decrypted on reading."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import columns_of, sql
from clarion.db.sealed import SealedColumn
from clarion.environments.model import ApiKey, Environment, EnvironmentState, KeyHash, Organization
from clarion.environments.options import (
    EnvironmentOptions,
    MailOptions,
    decode_mail_options,
    decode_options,
    encode_mail_options,
    encode_options,
)
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId
from clarion.vault import Vault
from clarion.vocabulary import Role, Scope

_SCOPES = msgspec.json.Decoder(frozenset[Scope])

LOCK_FIRST_START = sql("LOCK TABLE organizations IN EXCLUSIVE MODE")
COUNT_ORGANIZATIONS = sql("SELECT count(*) AS n FROM organizations")
_KEY_COLUMNS = columns_of(ApiKey)
INSERT_ORGANIZATION = sql("INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, :now)")
# One whose environments are all deleted is being deleted itself.
LIST_ORGANIZATIONS = sql("""
    SELECT id, name, created_at FROM organizations AS o
    WHERE EXISTS (SELECT 1 FROM environments AS e WHERE e.organization_id = o.id AND e.deleted_at IS NULL)
    ORDER BY id
""")
FIND_ORGANIZATION = sql("SELECT id, name, created_at FROM organizations WHERE id = :id")
UPDATE_ORGANIZATION = sql("UPDATE organizations SET name = :name WHERE id = :id")
LOCK_ORGANIZATION = sql("SELECT id FROM organizations WHERE id = :id {for_update}")

INSERT_ENVIRONMENT = sql("""
    INSERT INTO environments (
        id, organization_id, parent_id, name, kind, identifier, options, mail_options, created_at, updated_at
    ) VALUES (
        :id, :organization_id, :parent_id, :name, :kind, :identifier, :options, :mail_options, :created_at, :updated_at
    )
""")
_ENVIRONMENT = """
    id, organization_id, parent_id, name, kind, identifier, timezone, options, mail_options, created_at, updated_at
"""
LIST_ENVIRONMENTS = sql(f"SELECT {_ENVIRONMENT} FROM environments WHERE deleted_at IS NULL ORDER BY id")
LIST_ORGANIZATION_ENVIRONMENTS = sql(f"""
    SELECT {_ENVIRONMENT} FROM environments
    WHERE organization_id = :organization_id AND deleted_at IS NULL ORDER BY id
""")
FIND_ENVIRONMENT_STATE = sql(f"""
    SELECT {_ENVIRONMENT}, session_epoch, configuration_version FROM environments
    WHERE identifier = :identifier AND deleted_at IS NULL
""")
RAISE_SESSION_EPOCH = sql("UPDATE environments SET session_epoch = session_epoch + 1 WHERE id = :environment_id")
UPDATE_ENVIRONMENT = sql("""
    UPDATE environments
    SET name = :name, parent_id = :parent_id, timezone = :timezone, options = :options,
        mail_options = :mail_options, updated_at = :updated_at, configuration_version = configuration_version + 1
    WHERE id = :id
""")

GET_OPTIONS = sql("SELECT options FROM environments WHERE id = :environment_id")
GET_MAIL_OPTIONS = sql("SELECT mail_options FROM environments WHERE id = :environment_id")

INSERT_API_KEY = sql("""
    INSERT INTO api_keys (environment_id, id, hash, name, hint, scopes, sealed, created_at, expires_at, created_by)
    VALUES (:environment_id, :id, :hash, :name, :hint, :scopes, :sealed, :created_at, :expires_at, :created_by)
""")
LIST_API_KEYS_BY_HASH = sql(f"""
    SELECT {columns_of(ApiKey, "k")}, e.organization_id, e.deleted_at AS environment_deleted_at, m.role AS maker_role
    FROM api_keys AS k JOIN environments AS e ON e.id = k.environment_id LEFT JOIN members AS m ON m.id = k.created_by
    WHERE k.hash {{any:hashes}}
""")
FIND_API_KEY = sql(f"""
    SELECT {_KEY_COLUMNS} FROM api_keys WHERE environment_id = :environment_id AND id = :id AND revoked_at IS NULL
""")
LIST_API_KEYS = sql(f"""
    SELECT {_KEY_COLUMNS} FROM api_keys WHERE environment_id = :environment_id AND revoked_at IS NULL ORDER BY id
""")
HAS_HAD_API_KEY = sql("SELECT 1 AS found FROM api_keys WHERE environment_id = :environment_id LIMIT 1")
UPDATE_API_KEY = sql("""
    UPDATE api_keys SET name = :name, expires_at = :expires_at
    WHERE environment_id = :environment_id AND id = :id AND revoked_at IS NULL
""")
REVOKE_API_KEY = sql("""
    UPDATE api_keys SET revoked_at = :now, sealed = NULL
    WHERE environment_id = :environment_id AND id = :id AND revoked_at IS NULL
""")
LIST_VALID_ENVELOPES = sql("""
    SELECT environment_id, id, sealed FROM api_keys
    WHERE environment_id = :environment_id AND sealed IS NOT NULL AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > :now)
    ORDER BY id
""")
SEALED = SealedColumn("api_keys", "sealed")
list_samples = SEALED.list_samples
reencrypt_api_keys = SEALED.reencrypt
MARK_API_KEY_USED = sql("""
    UPDATE api_keys SET last_used_at = :used_at
    WHERE environment_id = :environment_id AND id = :id AND (last_used_at IS NULL OR last_used_at < :used_at)
""")


async def lock_first_start(db: Connection) -> None:
    """Serialize processes that start at the same time on an empty database."""
    if db.dialect is Dialect.POSTGRES:
        await db.execute(LOCK_FIRST_START)


async def has_organizations(db: Connection) -> bool:
    row = await db.fetch_one(COUNT_ORGANIZATIONS)
    return row is not None and row["n"] > 0


async def insert_organization(db: Connection, organization_id: OrganizationId, name: str, now: Millis) -> None:
    await db.execute(INSERT_ORGANIZATION, id=organization_id, name=name, now=now)


async def list_organizations(db: Connection) -> list[Organization]:
    """List all organizations that are not being deleted, oldest first."""
    return [Organization(**row) for row in await db.fetch(LIST_ORGANIZATIONS)]


async def find_organization(db: Connection, organization_id: OrganizationId) -> Organization | None:
    row = await db.fetch_one(FIND_ORGANIZATION, id=organization_id)
    return None if row is None else Organization(**row)


async def update_organization(db: Connection, organization_id: OrganizationId, name: str) -> None:
    await db.execute(UPDATE_ORGANIZATION, id=organization_id, name=name)


async def lock_organization(db: Connection, organization_id: OrganizationId) -> None:
    """Serialize changes of an organization's environments, so that names stay unique."""
    await db.fetch_one(LOCK_ORGANIZATION, id=organization_id)


async def insert_environment(db: Connection, environment: Environment) -> None:
    await db.execute(
        INSERT_ENVIRONMENT,
        id=environment.id,
        organization_id=environment.organization_id,
        parent_id=environment.parent_id,
        name=environment.name,
        kind=environment.kind,
        identifier=environment.identifier,
        options=encode_options(environment.options),
        mail_options=encode_mail_options(environment.mail),
        created_at=environment.created_at,
        updated_at=environment.updated_at,
    )


async def list_environments(db: Connection, organization_id: OrganizationId | None = None) -> list[Environment]:
    """List the environments of one organization, or of all for the operator, without those that are deleted."""
    if organization_id is None:
        rows = await db.fetch(LIST_ENVIRONMENTS)
    else:
        rows = await db.fetch(LIST_ORGANIZATION_ENVIRONMENTS, organization_id=organization_id)
    return [_environment(row) for row in rows]


async def find_environment_state(db: Connection, identifier: str) -> EnvironmentState | None:
    """Find an environment by its public identifier."""
    row = await db.fetch_one(FIND_ENVIRONMENT_STATE, identifier=identifier)
    if row is None:
        return None
    values = dict(row)
    epoch, version = values.pop("session_epoch"), values.pop("configuration_version")
    return EnvironmentState(environment=_environment(values), session_epoch=epoch, configuration_version=version)


async def raise_session_epoch(db: Connection, environment_id: EnvironmentId) -> None:
    """End all sessions of subscribers of the environment."""
    await db.execute(RAISE_SESSION_EPOCH, environment_id=environment_id)


async def update_environment(db: Connection, environment: Environment) -> None:
    """Write everything of an environment that can change, and raise the version of its configuration."""
    await db.execute(
        UPDATE_ENVIRONMENT,
        id=environment.id,
        name=environment.name,
        parent_id=environment.parent_id,
        timezone=environment.timezone,
        options=encode_options(environment.options),
        mail_options=encode_mail_options(environment.mail),
        updated_at=environment.updated_at,
    )


async def get_options(db: Connection, environment_id: EnvironmentId) -> EnvironmentOptions:
    row = await db.fetch_one(GET_OPTIONS, environment_id=environment_id)
    return decode_options(None if row is None else row["options"])


async def get_mail_options(db: Connection, environment_id: EnvironmentId) -> MailOptions:
    row = await db.fetch_one(GET_MAIL_OPTIONS, environment_id=environment_id)
    return decode_mail_options(None if row is None else row["mail_options"])


async def insert_api_key(db: Connection, key: ApiKey, secret: str, vault: Vault) -> None:
    await db.execute(
        INSERT_API_KEY,
        environment_id=key.environment_id,
        id=key.id,
        hash=key.hash,
        name=key.name,
        hint=key.hint,
        scopes=msgspec.json.encode(sorted(key.scopes)).decode(),
        sealed=vault.seal(secret, context=key.environment_id + key.id),
        created_at=key.created_at,
        expires_at=key.expires_at,
        created_by=key.created_by,
    )


async def list_api_keys_by_hash(
    db: Connection, hashes: Sequence[KeyHash]
) -> dict[KeyHash, tuple[ApiKey, OrganizationId]]:
    """Find keys, revoked ones included; a key of a deleted environment is revoked, whenever it was made.

    So is one that reaches beyond its environment, if the member who made it is no owner any more.
    """
    keys: dict[KeyHash, tuple[ApiKey, OrganizationId]] = {}
    for row in await db.fetch(LIST_API_KEYS_BY_HASH, hashes=hashes):
        key = _api_key(row)
        if key.revoked_at is None:
            key = replace(key, revoked_at=row["environment_deleted_at"])
        if key.revoked_at is None and key.ends_with_maker and row["maker_role"] != Role.OWNER:
            key = replace(key, revoked_at=key.created_at)
        keys[key.hash] = key, OrganizationId(row["organization_id"])
    return keys


async def find_api_key(db: Connection, environment_id: EnvironmentId, key_id: ApiKeyId) -> ApiKey | None:
    row = await db.fetch_one(FIND_API_KEY, environment_id=environment_id, id=key_id)
    return None if row is None else _api_key(row)


async def list_api_keys(db: Connection, environment_id: EnvironmentId) -> list[ApiKey]:
    return [_api_key(row) for row in await db.fetch(LIST_API_KEYS, environment_id=environment_id)]


async def has_had_api_key(db: Connection, environment_id: EnvironmentId) -> bool:
    """Return whether there ever was an API key; revoked ones count."""
    return await db.fetch_one(HAS_HAD_API_KEY, environment_id=environment_id) is not None


async def update_api_key(
    db: Connection, environment_id: EnvironmentId, key_id: ApiKeyId, *, name: str, expires_at: Millis | None
) -> None:
    await db.execute(UPDATE_API_KEY, environment_id=environment_id, id=key_id, name=name, expires_at=expires_at)


async def revoke_api_key(db: Connection, environment_id: EnvironmentId, key_id: ApiKeyId, now: Millis) -> bool:
    return await db.execute(REVOKE_API_KEY, environment_id=environment_id, id=key_id, now=now) > 0


async def list_secrets(db: Connection, environment_id: EnvironmentId, vault: Vault, now: Millis) -> list[str]:
    """List the API keys themselves that are valid; keys made by versions that did not seal them are missing."""
    rows = await db.fetch(LIST_VALID_ENVELOPES, environment_id=environment_id, now=now)
    return [vault.open(row["sealed"], context=row["environment_id"] + row["id"]) for row in rows]


async def mark_api_keys_used(db: Connection, used: Sequence[tuple[EnvironmentId, ApiKeyId, Millis]]) -> None:
    rows: list[dict[str, Any]] = [
        {"environment_id": environment_id, "id": key_id, "used_at": used_at} for environment_id, key_id, used_at in used
    ]
    await db.execute_many(MARK_API_KEY_USED, rows)


def _api_key(row: Row) -> ApiKey:
    return ApiKey(
        environment_id=row["environment_id"],
        id=row["id"],
        hash=row["hash"],
        name=row["name"],
        hint=row["hint"],
        scopes=_SCOPES.decode(row["scopes"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
        revoked_at=row["revoked_at"],
        created_by=row["created_by"],
    )


def _environment(row: Row) -> Environment:
    values = dict(row)
    mail = decode_mail_options(values.pop("mail_options"))
    return Environment(**values | {"options": decode_options(row["options"]), "mail": mail})
