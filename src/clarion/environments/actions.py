"""Creates organizations and API keys, for the API, the command line and the first start."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.environments import store
from clarion.environments.model import ApiKey, Environment, hash_key, make_identifier, make_key_text
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId, new_id
from clarion.vault import Vault
from clarion.vocabulary import Scope

_KINDS = (("Development", "dev"), ("Production", "prod"))
_RESEAL_BATCH = 100


class KeyRequest(Struct, frozen=True, kw_only=True):
    """A key to create; `text` is the secret if the operator chose it."""

    name: str
    scopes: frozenset[Scope] = frozenset({Scope.ALL})
    expires_at: Millis | None = None
    text: str | None = None


class NewKey(Struct, frozen=True, kw_only=True):
    """A new key with its secret, which is shown once."""

    record: ApiKey
    text: str


async def create_organization(
    db: Connection, *, name: str, identifiers: dict[str, str | None], now: Millis
) -> list[Environment]:
    """Create an organization with Development and Production; `identifiers` are by name, None generates one."""
    organization_id = OrganizationId(new_id(now))
    await store.insert_organization(db, organization_id, name, now)
    created: list[Environment] = []
    for environment_name, kind in _KINDS:
        environment = Environment(
            id=EnvironmentId(new_id(now)),
            organization_id=organization_id,
            parent_id=created[0].id if created else None,
            name=environment_name,
            kind=kind,
            identifier=identifiers.get(environment_name) or make_identifier(),
            created_at=now,
            updated_at=now,
        )
        await store.insert_environment(db, environment)
        created.append(environment)
    return created


async def create_api_key(
    db: Connection, environment_id: EnvironmentId, request: KeyRequest, *, vault: Vault, now: Millis
) -> NewKey:
    """Create an API key: its hash is stored to authenticate callers, and the key itself sealed, to check hashes."""
    secret = request.text or make_key_text()
    key = ApiKey(
        environment_id=environment_id,
        id=ApiKeyId(new_id(now)),
        hash=hash_key(secret),
        name=request.name,
        hint=secret[-4:],
        scopes=request.scopes,
        created_at=now,
        expires_at=request.expires_at,
        last_used_at=None,
        revoked_at=None,
    )
    await store.insert_api_key(db, key, secret, vault)
    return NewKey(record=key, text=secret)


async def reencrypt_api_keys(database: Database, vault: Vault) -> int:
    """Encrypt with the vault's current key all API keys that use another; returns how many there were."""
    resealed = 0
    while batch := await database.transaction(lambda db: store.reseal_api_keys(db, vault, limit=_RESEAL_BATCH)):
        resealed += batch
    return resealed
