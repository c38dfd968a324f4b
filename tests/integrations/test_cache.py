"""The cache of integrations: entries expire, and a change in this process clears them."""

from clarion.bus import Bus, Signal
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.integrations.cache import CACHED_FOR, IntegrationCache
from clarion.vault import Vault
from tests.support import Api


async def list_names(database: Database, cache: IntegrationCache, api: Api) -> list[str]:
    async def look(db: Connection) -> list[str]:
        return [one.name for one in await cache.list(db, api.environment.id)]

    return await database.transaction(look)


async def add_integration(api: Api, name: str) -> None:
    """Add an integration as another process would, without a message on this bus."""
    body = {"providerId": "svc-email", "channel": "email", "name": name}
    assert (await api.post("/v1/integrations", json=body)).status_code == 201


async def test_they_are_read_anew_when_one_has_changed(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    bus = Bus()
    cache = IntegrationCache(vault, clock, bus)
    known = await list_names(database, cache, api)
    await add_integration(api, "Mail")

    assert await list_names(database, cache, api) == known
    bus.publish(Signal.INTEGRATION_CHANGED)

    assert await list_names(database, cache, api) == [*known, "Mail"]


async def test_what_another_process_changes_is_known_after_two_seconds(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    cache = IntegrationCache(vault, clock, Bus())
    known = await list_names(database, cache, api)
    await add_integration(api, "Mail")
    clock.move(CACHED_FOR - 1)

    assert await list_names(database, cache, api) == known
    clock.move(1)

    assert await list_names(database, cache, api) == [*known, "Mail"]
