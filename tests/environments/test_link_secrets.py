"""Secrets of links: one for each environment, the same for as long as it lives, whichever key seals it."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clarion.clock import ManualClock
from clarion.content.environment import load_environment_content
from clarion.content.links import LinkSecret
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments import link_secrets
from clarion.environments.bootstrap import prepare_store
from clarion.environments.deletion import delete_environment
from clarion.ids import EnvironmentId
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.conftest import VAULT_KEYS, open_store
from tests.support import Site

NEW_KEY = f"new_key:{base64.b64encode(bytes(32)).decode()}"
FORGET = sql("UPDATE environments SET link_secret = NULL WHERE id = :environment_id")
FIND_SEALED = sql("SELECT link_secret FROM environments WHERE id = :environment_id")


@pytest.fixture(scope="module")
async def database(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A store of its own: a process that starts checks all secrets, and other tests seal theirs with other keys."""
    async with open_store(backend, request, tmp_path_factory) as opened:
        yield opened


async def load(database: Database, environment_id: EnvironmentId, vault: Vault) -> LinkSecret | None:
    content = await database.read(lambda db: load_environment_content(db, environment_id, vault=vault))
    return content.link_secret


async def test_each_environment_has_a_sealed_secret_of_its_own(database: Database, site: Site, vault: Vault) -> None:
    secrets = [await load(database, one.id, vault) for one in (site.development, site.production)]
    row = await database.read(lambda db: db.fetch_one(FIND_SEALED, environment_id=site.development.id))

    assert all(one is not None and len(one.key) == 32 for one in secrets)
    assert secrets[0] != secrets[1]
    assert row is not None
    assert row["link_secret"].startswith("v1.test.")


async def test_rotation_of_the_encryption_key_leaves_secrets_as_they_are(
    database: Database, site: Site, vault: Vault
) -> None:
    before = await load(database, site.development.id, vault)

    first = await link_secrets.reencrypt_link_secrets(database, Vault.parse(f"{NEW_KEY},{VAULT_KEYS}"))
    after = await load(database, site.development.id, Vault.parse(NEW_KEY))
    samples = await database.read(link_secrets.list_samples)
    back = await link_secrets.reencrypt_link_secrets(database, Vault.parse(f"{VAULT_KEYS},{NEW_KEY}"))

    assert before is not None
    assert after == before
    assert first == back >= 2
    assert all(Vault.parse(NEW_KEY).can_open(one) for one in samples)


async def test_processes_that_start_at_once_give_an_older_environment_one_secret(
    database: Database, site: Site, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    environment_id = site.development.id
    kept = await load(database, site.production.id, vault)
    await database.transaction(lambda db: db.execute(FORGET, environment_id=environment_id))
    settings = Settings(data_dir=tmp_path, encryption_keys=Secret(VAULT_KEYS))

    lacking = await load(database, environment_id, vault)
    await asyncio.gather(*(prepare_store(database, settings, clock) for _ in range(3)))
    made = await load(database, environment_id, vault)
    await prepare_store(database, settings, clock)

    assert lacking is None
    assert made is not None
    assert await load(database, environment_id, vault) == made
    assert await load(database, site.production.id, vault) == kept


async def test_the_secret_goes_with_its_environment(
    database: Database, site: Site, vault: Vault, clock: ManualClock
) -> None:
    await database.transaction(lambda db: delete_environment(db, site.production, clock.now()))

    assert await load(database, site.production.id, vault) is None
