"""API keys in the vault: sealed beside their hashes, to check hashes that were made with them."""

import base64
from pathlib import Path

import pytest

from clarion.clock import DAY, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments import store
from clarion.environments.bootstrap import check_vault
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId
from clarion.settings.model import Settings
from clarion.vault import Vault, sealing_key_id
from tests.support import Api, Site

OLD_KEY = f"test:{base64.b64encode(bytes(range(32))).decode()}"
NEW_KEY = f"new_key:{base64.b64encode(bytes(32)).decode()}"
KEYS = "/v1/environments/api-keys"


async def list_secrets(database: Database, api: Api, vault: Vault, clock: ManualClock) -> list[str]:
    return await database.read(lambda db: store.list_secrets(db, api.environment.id, vault, clock.now()))


async def list_stored(database: Database, environment_id: EnvironmentId) -> list[str | None]:
    query = sql("SELECT sealed FROM api_keys WHERE environment_id = :environment_id ORDER BY id")
    return [row["sealed"] for row in await database.read(lambda db: db.fetch(query, environment_id=environment_id))]


async def test_a_new_key_is_sealed_and_not_stored_in_clear(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    made = (await api.post(KEYS, json={"name": "CI"})).json()["key"]

    assert await list_secrets(database, api, vault, clock) == [api.key, made]
    assert all(text and text.startswith("v1.test.") for text in await list_stored(database, api.environment.id))


async def test_revoked_and_expired_keys_are_not_listed_and_a_revoked_one_is_forgotten(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    revoked = (await api.post(KEYS, json={"name": "revoked"})).json()["apiKey"]["_id"]
    await api.post(KEYS, json={"name": "expired", "expiresAt": "2026-01-02T00:00:00.000Z"})
    await api.delete(f"{KEYS}/{revoked}")
    clock.move(DAY)

    assert await list_secrets(database, api, vault, clock) == [api.key]
    assert [one is None for one in await list_stored(database, api.environment.id)] == [False, True, False]


async def test_rotation_seals_api_keys_with_the_new_key(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    rotating, only_new = Vault.parse(f"{NEW_KEY},{OLD_KEY}"), Vault.parse(NEW_KEY)

    first = await store.reencrypt_api_keys(database, rotating)
    second = await store.reencrypt_api_keys(database, rotating)
    samples = await database.read(store.list_samples)
    opened = await list_secrets(database, api, only_new, clock)
    back = await store.reencrypt_api_keys(database, Vault.parse(f"{OLD_KEY},{NEW_KEY}"))

    assert first >= 1
    assert (second, back) == (0, first)
    assert [sealing_key_id(one.text) for one in samples] == ["new_key"]
    assert opened == [api.key]


@pytest.mark.usefixtures("api", "site")
async def test_a_vault_without_the_key_of_the_store_seals_nothing(database: Database, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="which this process does not have"):
        await database.read(lambda db: check_vault(db, Settings(data_dir=tmp_path), Vault.parse(NEW_KEY)))


async def test_a_key_of_an_older_version_is_left_out(
    api: Api, database: Database, site: Site, vault: Vault, clock: ManualClock
) -> None:
    forget = sql("UPDATE api_keys SET sealed = NULL WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(forget, environment_id=site.development.id))

    assert await list_secrets(database, api, vault, clock) == []
    assert (await api.get(KEYS)).status_code == 200
