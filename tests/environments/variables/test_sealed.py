"""Values are sealed with the key of the store, and take part in its rotation."""

import base64

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.bootstrap import check_vault
from clarion.environments.variables import store
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId, id_text
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.support import Api

OLD_KEY = f"test:{base64.b64encode(bytes(range(32))).decode()}"
NEW_KEY = f"new_key:{base64.b64encode(bytes(32)).decode()}"


async def list_stored(database: Database, environment_id: EnvironmentId) -> list[str]:
    query = sql("SELECT value FROM environment_variable_values WHERE environment_id = :environment_id")
    return [row["value"] for row in await database.read(lambda db: db.fetch(query, environment_id=environment_id))]


async def test_values_are_sealed_and_rotated(api: Api, database: Database, settings: Settings) -> None:
    values = [{"_environmentId": id_text(api.environment.id), "value": "canary"}]
    await api.post("/v1/environment-variables", json={"key": "PLAIN", "values": values})
    before = await list_stored(database, api.environment.id)
    only_new = Vault.parse(NEW_KEY)
    with pytest.raises(SettingsError):
        await database.read(lambda db: check_vault(db, settings, only_new))

    await store.reencrypt_values(database, Vault.parse(f"{NEW_KEY},{OLD_KEY}"))

    after = await list_stored(database, api.environment.id)
    assert [text.split(".")[1] for text in before + after] == ["test", "new_key"]
    assert "canary" not in str(before + after)
    found = await database.read(lambda db: store.list_variables(db, api.environment.organization_id, only_new))
    assert [dict(one.values) for one in found] == [{api.environment.id: "canary"}]
    assert await store.reencrypt_values(database, Vault.parse(f"{OLD_KEY},{NEW_KEY}")) >= 1
