"""The first start: creates an organization with two environments, an API key and an in-app integration for each."""

from msgspec import Struct

from clarion.audit.model import SERVICE, Action, Author
from clarion.audit.recording import record
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.engine import requests
from clarion.environments import actions, link_secrets, store
from clarion.environments.actions import FIRST_KEY, create_organization
from clarion.environments.model import hash_key
from clarion.environments.variables import store as variables
from clarion.errors import SettingsError
from clarion.integrations import store as integrations
from clarion.settings.model import Settings
from clarion.subscribers.addresses import sealing as addresses
from clarion.vault import KEY_FILE, Envelope, Vault, configured_keys, has_keys, open_vault, sealing_key_id
from clarion.webhooks import store as webhooks

_BY_SERVICE = Author(actor=SERVICE)


class FirstKeys(Struct, frozen=True):
    """The API keys that were generated, by environment name; shown once."""

    keys: dict[str, str]


class PreparedStore(Struct, frozen=True):
    """What a process has after its start on a store."""

    vault: Vault
    first_keys: FirstKeys | None


async def prepare_store(
    database: Database, settings: Settings, clock: Clock, *, makes_keys: bool = False
) -> PreparedStore:
    """Set up an empty store; open the vault of one in use, and check that it opens the secrets.

    API keys are generated only by a process that shows them: `makes_keys`.
    """
    now = clock.now()

    async def prepare(db: Connection) -> PreparedStore:
        # The lock comes first: of two processes with different encryption keys, one sets up the store, and the
        # other must see its secrets.
        await store.lock_first_start(db)
        vault = await _open_vault_of(db, settings)
        if not await store.has_organizations(db):
            await _set_up(db, settings, vault, now)
        await link_secrets.insert_missing_link_secrets(db, vault)
        await _add_configured_keys(db, settings, vault, now)
        return PreparedStore(vault, await _create_first_keys(db, vault, now) if makes_keys else None)

    return await database.transaction(prepare)


async def _open_vault_of(db: Connection, settings: Settings) -> Vault:
    """Open the vault of a store; only for one without secrets a file of keys is made, so that a refusal leaves none."""
    if not has_keys(settings):
        _refuse_closed(await _list_secrets(db), settings)
    vault = open_vault(configured_keys(settings), settings.data_dir)
    await check_vault(db, settings, vault)
    return vault


async def check_vault(db: Connection, settings: Settings, vault: Vault, *, is_old: bool = False) -> None:
    """Refuse a vault that cannot open the secrets of the store, before it seals others that no process can open.

    A store that `is_old`, of an earlier schema, has its secrets in integrations at least.
    """
    _refuse_closed([one for one in await _list_secrets(db, is_old=is_old) if not vault.can_open(one)], settings)


async def _list_secrets(db: Connection, *, is_old: bool = False) -> list[Envelope]:
    """A secret of the store for each encryption key."""
    credentials = await integrations.list_samples(db)
    if is_old:
        return credentials
    return [
        *credentials,
        *await webhooks.list_samples(db),
        *await store.list_samples(db),
        *await link_secrets.list_samples(db),
        *await variables.list_samples(db),
        *await addresses.list_samples(db),
        *await requests.SEALED.list_samples(db),
    ]


def _refuse_closed(closed: list[Envelope], settings: Settings) -> None:
    """Refuse a start if there are secrets that this process cannot open."""
    if not closed:
        return
    if settings.encryption_keys is None:
        remedy = f"copy the file {KEY_FILE} of the process that set up the store to {settings.data_dir}"
    else:
        remedy = "add it"
    raise SettingsError(
        f"The store holds secrets sealed with encryption key '{sealing_key_id(closed[0].text)}', which this process "
        f"does not have; {remedy}, or give all processes the same CLARION_ENCRYPTION_KEYS."
    )


async def _set_up(db: Connection, settings: Settings, vault: Vault, now: Millis) -> None:
    identifiers = {"Development": settings.development_app_id, "Production": settings.production_app_id}
    for environment in await create_organization(db, name="Clarion", identifiers=identifiers, vault=vault, now=now):
        await record(db, Action.ENVIRONMENT_CREATE, _BY_SERVICE, now, after=environment)


async def _add_configured_keys(db: Connection, settings: Settings, vault: Vault, now: Millis) -> None:
    """Add the keys of the settings to the first organization; one that was revoked stays revoked."""
    secrets = {"Development": settings.development_api_key, "Production": settings.production_api_key}
    first, *_ = await store.list_organizations(db)
    for environment in await store.list_environments(db, first.id):
        secret = secrets.get(environment.name)
        if secret and not await store.list_api_keys_by_hash(db, [hash_key(secret.reveal())]):
            request = actions.KeyRequest(name="Configured key", text=secret.reveal())
            made = await actions.create_api_key(db, environment.id, request, vault=vault, now=now)
            await record(db, Action.API_KEY_CREATE, _BY_SERVICE, now, after=made.record)


async def _create_first_keys(db: Connection, vault: Vault, now: Millis) -> FirstKeys | None:
    """Create a key for each environment that never had one, whichever process set up the store."""
    keys: dict[str, str] = {}
    for environment in await store.list_environments(db):
        if not await store.has_had_api_key(db, environment.id):
            request = actions.KeyRequest(name=FIRST_KEY)
            created = await actions.create_api_key(db, environment.id, request, vault=vault, now=now)
            await record(db, Action.API_KEY_CREATE, _BY_SERVICE, now, after=created.record)
            keys[environment.name] = created.text
    return FirstKeys(keys) if keys else None
