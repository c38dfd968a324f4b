"""The first start: creates an organization with two environments, an API key and an in-app integration for each."""

from msgspec import Struct

from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.environments import actions, store
from clarion.environments.model import Environment, hash_key
from clarion.errors import SettingsError
from clarion.integrations.actions import create_in_app_integration
from clarion.integrations.store import list_sealing_keys
from clarion.secret import Secret
from clarion.settings import Settings
from clarion.vault import Vault
from clarion.webhooks import store as webhooks


class FirstKeys(Struct, frozen=True):
    """The API keys of the first start, by environment name; shown once."""

    keys: dict[str, str]


async def prepare_store(database: Database, settings: Settings, vault: Vault, clock: Clock) -> FirstKeys | None:
    """Set up an empty store; check that the vault can open the secrets of one in use."""
    await database.transaction(lambda db: _check_vault(db, vault))
    now = clock.now()
    return await database.transaction(lambda db: _set_up(db, settings, vault, now))


async def _check_vault(db: Connection, vault: Vault) -> None:
    missing = await list_sealing_keys(db) | await webhooks.list_sealing_keys(db)
    missing -= vault.key_ids
    if missing:
        raise SettingsError(
            f"The store holds credentials sealed with key '{min(missing)}', which this process does not have; "
            "give it with CLARION_ENCRYPTION_KEYS."
        )


async def _set_up(db: Connection, settings: Settings, vault: Vault, now: Millis) -> FirstKeys | None:
    await store.lock_first_start(db)
    secrets = {"Development": settings.development_api_key, "Production": settings.production_api_key}
    if await store.has_organizations(db):
        await _add_configured_keys(db, secrets, now)
        return None
    identifiers = {"Development": settings.development_app_id, "Production": settings.production_app_id}
    environments = await actions.create_organization(db, name="Clarion", identifiers=identifiers, now=now)
    keys: dict[str, str] = {}
    for environment in environments:
        keys[environment.name] = await _create_first_key(db, environment, secrets[environment.name], now)
        await create_in_app_integration(db, environment.id, vault=vault, now=now)
    return FirstKeys(keys)


async def _create_first_key(db: Connection, environment: Environment, secret: Secret | None, now: Millis) -> str:
    request = actions.KeyRequest(name="First key", text=secret.reveal() if secret else None)
    created = await actions.create_api_key(db, environment.id, request, now)
    return created.text


async def _add_configured_keys(db: Connection, secrets: dict[str, Secret | None], now: Millis) -> None:
    """Add keys that were configured after the first start; one that was revoked stays revoked."""
    for environment in await store.list_environments(db):
        secret = secrets.get(environment.name)
        if secret and await store.find_api_key_by_hash(db, hash_key(secret.reveal())) is None:
            request = actions.KeyRequest(name="Configured key", text=secret.reveal())
            await actions.create_api_key(db, environment.id, request, now)
