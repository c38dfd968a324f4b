"""Caches of integrations: valid until any process changes the configuration of the environment."""

from typing import Any

import pytest

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.unit import get_defaults
from clarion.environments.configuration import get_configuration_version, raise_configuration_version
from clarion.integrations.store import IntegrationCache
from clarion.vault import Vault
from tests.support import Api

RENAME_SILENTLY = sql("UPDATE integrations SET name = 'Renamed' WHERE environment_id = :environment_id")


async def list_names(database: Database, vault: Vault, api: Api) -> list[str]:
    cache = IntegrationCache(vault)

    async def look(db: Connection) -> list[str]:
        version = await get_configuration_version(db, api.environment.id)
        return [one.name for one in await cache.list(db, api.environment.id, version)]

    return await database.transaction(look)


async def find_open_providers(database: Database, api: Api) -> frozenset[str]:
    async def look(db: Connection) -> frozenset[str]:
        version = await get_configuration_version(db, api.environment.id)
        return (await get_defaults(db, api.environment.id, version)).open_providers

    return await database.transaction(look)


async def create(api: Api, **fields: Any) -> dict[str, Any]:
    body = {"providerId": "svc-email", "channel": "email", "name": "Mail", **fields}
    response = await api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_integrations_are_read_again_only_when_the_version_was_raised(
    api: Api, database: Database, vault: Vault
) -> None:
    environment_id = api.environment.id
    known = await list_names(database, vault, api)

    await database.transaction(lambda db: db.execute(RENAME_SILENTLY, environment_id=environment_id))
    assert await list_names(database, vault, api) == known

    await database.transaction(lambda db: raise_configuration_version(db, environment_id))
    assert await list_names(database, vault, api) == ["Renamed"]


async def test_every_change_of_an_integration_takes_effect_at_once(api: Api, database: Database, vault: Vault) -> None:
    known = await list_names(database, vault, api)
    made = await create(api)
    assert await list_names(database, vault, api) == [*known, "Mail"]

    await api.put(f"/v1/integrations/{made['_id']}", json={"name": "Post"})
    assert await list_names(database, vault, api) == [*known, "Post"]

    await api.delete(f"/v1/integrations/{made['_id']}")
    assert await list_names(database, vault, api) == known


@pytest.mark.parametrize("path", ["set-primary", None])
async def test_promoting_and_deleting_raise_the_version(api: Api, database: Database, path: str | None) -> None:
    made = await create(api)
    before = await database.read(lambda db: get_configuration_version(db, api.environment.id))

    if path:
        response = await api.post(f"/v1/integrations/{made['_id']}/{path}")
    else:
        response = await api.delete(f"/v1/integrations/{made['_id']}")

    assert response.status_code == 200, response.text
    assert await database.read(lambda db: get_configuration_version(db, api.environment.id)) > before


async def test_a_refused_change_does_not_raise_the_version(api: Api, database: Database) -> None:
    before = await database.read(lambda db: get_configuration_version(db, api.environment.id))

    response = await api.post("/v1/integrations", json={"providerId": "nothing", "channel": "email"})

    assert response.status_code == 422
    assert await database.read(lambda db: get_configuration_version(db, api.environment.id)) == before


async def test_an_inbox_that_is_switched_off_is_no_open_provider(api: Api, database: Database) -> None:
    assert await find_open_providers(database, api) == {"svc"}
    (inbox,) = (await api.get("/v1/integrations")).json()

    await api.put(f"/v1/integrations/{inbox['_id']}", json={"active": False})

    assert await find_open_providers(database, api) == frozenset()
