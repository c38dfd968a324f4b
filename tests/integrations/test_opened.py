"""Integrations from memory: known for a moment, forgotten when one is changed."""

from clarion.bus import Bus, Signal
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.integrations.opened import CACHED_FOR, OpenedIntegrations
from clarion.vault import Vault
from tests.support import Api


async def list_names(database: Database, opened: OpenedIntegrations, api: Api) -> list[str]:
    async def look(db: Connection) -> list[str]:
        return [one.name for one in await opened.list(db, api.environment.id)]

    return await database.transaction(look)


async def add_integration(api: Api, name: str) -> None:
    """As another process would: the bus of this one hears nothing of it."""
    body = {"providerId": "svc-email", "channel": "email", "name": name}
    assert (await api.post("/v1/integrations", json=body)).status_code == 201


async def test_they_are_read_anew_when_one_has_changed(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    bus = Bus()
    opened = OpenedIntegrations(vault, clock, bus)
    known = await list_names(database, opened, api)
    await add_integration(api, "Mail")

    assert await list_names(database, opened, api) == known
    bus.publish(Signal.INTEGRATION_CHANGED)

    assert await list_names(database, opened, api) == [*known, "Mail"]


async def test_what_another_process_changes_is_known_after_two_seconds(
    api: Api, database: Database, vault: Vault, clock: ManualClock
) -> None:
    opened = OpenedIntegrations(vault, clock, Bus())
    known = await list_names(database, opened, api)
    await add_integration(api, "Mail")
    clock.move(CACHED_FOR - 1)

    assert await list_names(database, opened, api) == known
    clock.move(1)

    assert await list_names(database, opened, api) == [*known, "Mail"]
