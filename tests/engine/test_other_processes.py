"""Two processes on one store: what is changed through one of them holds at once in the other."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct

from clarion.app import build_application
from clarion.clock import ManualClock
from clarion.db.migrations.migrate import migrate_postgres, migrate_sqlite
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.sqlite.database import SqliteDatabase
from clarion.engine.worker import Engine
from clarion.environments import actions
from clarion.integrations.actions import create_in_app_integration
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import answering
from tests.support import Api
from tests.webhooks.support import Receiver, list_deliveries, make_endpoint, receiver


class Processes(Struct, frozen=True):
    """Two applications, each with its own connections and caches; only the second one's engine works."""

    first: Api
    second: World

    async def deliver(self) -> list[dict[str, Any]]:
        """Trigger through the second process, let it work, and return the messages of that trigger."""
        answer = await self.second.trigger({"subscriberId": "ada", "email": "ada@example.com"})
        await self.second.work()
        return await self.second.messages(transactionId=[answer["transactionId"]])


@pytest.fixture(params=["sqlite", "postgresql"])
async def databases(
    request: pytest.FixtureRequest, tmp_path: Path, fresh_postgres_url: str
) -> AsyncIterator[list[Database]]:
    opened: list[Database]
    if request.param == "sqlite":
        path = tmp_path / "clarion.db"
        migrate_sqlite(path)
        opened = [SqliteDatabase(path) for _ in range(2)]
    else:
        await migrate_postgres(fresh_postgres_url)
        opened = [await PostgresDatabase.connect(fresh_postgres_url, pool_size=4) for _ in range(2)]
    yield opened
    for database in opened:
        await database.close()


@pytest.fixture
async def processes(
    databases: list[Database], settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> AsyncIterator[Processes]:
    async def set_up(db: Connection) -> str:
        environment, _ = await actions.create_without_inboxes(
            db, name="Test", identifiers={}, vault=vault, now=clock.now()
        )
        await create_in_app_integration(db, environment.id, vault=vault, now=clock.now())
        request = actions.KeyRequest(name="key", scopes=frozenset({Scope.ALL}))
        return (await actions.create_api_key(db, environment.id, request, vault=vault, now=clock.now())).text

    key = await databases[0].transaction(set_up)
    applications = [build_application(settings, one, vault, gateway, clock=clock) for one in databases]
    first, second = (
        Api(
            transport=httpx.ASGITransport(app=one.asgi),
            base_url="http://clarion.test",
            headers={"Authorization": f"ApiKey {key}"},
        )
        for one in applications
    )
    bus = applications[1].services.bus
    engine = Engine(databases[1], clock=clock, vault=vault, bus=bus, gateway=gateway)
    async with first, second:
        yield Processes(first, World(second, engine, clock))


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as made:
        yield made


async def integrate(api: Api, name: str) -> str:
    body = {"providerId": "svc-email", "channel": "email", "name": name, "active": True}
    response = await api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: str = response.json()["_id"]
    return made


async def sent_through(processes: Processes) -> str:
    """Send an email and return the name of the integration that it was sent through."""
    await processes.deliver()
    run = (await processes.second.events())[-1]
    integrations = (await processes.first.get("/v1/integrations")).json()
    names = {one["identifier"]: one["name"] for one in integrations}
    (used,) = [name for one, name in names.items() if one in str(run["jobs"][0]["executionDetails"])]
    return str(used)


async def test_a_trigger_uses_the_integrations_as_another_process_has_just_changed_them(processes: Processes) -> None:
    await processes.second.make_workflow(step("email", subject="Hello", body="Hello"))
    old = await integrate(processes.first, "Old")
    assert await sent_through(processes) == "Old"

    new = await integrate(processes.first, "New")
    await processes.first.post(f"/v1/integrations/{new}/set-primary")
    assert await sent_through(processes) == "New"

    await processes.first.put(f"/v1/integrations/{new}", json={"active": False})
    assert await sent_through(processes) == "Old"

    await processes.first.put(f"/v1/integrations/{new}", json={"active": True})
    await processes.first.delete(f"/v1/integrations/{old}")
    assert await sent_through(processes) == "New"


async def test_an_inbox_that_another_process_has_just_switched_off_gets_nothing(processes: Processes) -> None:
    await processes.second.make_workflow(in_app("Hello"))
    assert len(await processes.deliver()) == 1
    (inbox,) = (await processes.first.get("/v1/integrations")).json()

    await processes.first.put(f"/v1/integrations/{inbox['_id']}", json={"active": False})
    assert await processes.deliver() == []
    assert "Subscriber does not have an active integration" in details((await processes.second.events())[-1]["jobs"][0])

    await processes.first.put(f"/v1/integrations/{inbox['_id']}", json={"active": True})
    assert len(await processes.deliver()) == 1


@pytest.mark.parametrize("channel", ["in_app", "email"])
async def test_an_endpoint_gets_the_events_from_the_moment_another_process_has_created_it(
    processes: Processes, hook: Receiver, channel: str
) -> None:
    await integrate(processes.first, "Mail")
    content = in_app("Hello") if channel == "in_app" else step("email", subject="Hello", body="Hello")
    await processes.second.make_workflow(content)
    await processes.deliver()

    endpoint = await make_endpoint(processes.first, hook.url, "message.sent")
    await processes.deliver()
    assert len(hook.received) == 1

    path = f"/v1/webhooks/endpoints/{endpoint['_id']}"
    await processes.first.patch(path, json={"eventTypes": ["message.failed"]})
    await processes.deliver()
    assert len(hook.received) == 1

    await processes.first.patch(path, json={"eventTypes": []})
    await processes.deliver()
    assert len(hook.received) == 2

    await processes.first.delete(path)
    await processes.deliver()
    assert len(hook.received) == 2


async def test_no_events_are_written_for_an_endpoint_that_was_just_disabled(processes: Processes) -> None:
    await processes.second.make_workflow(in_app("Hello"))
    async with receiver(answering(410)) as gone:
        endpoint = await make_endpoint(processes.first, gone.url)
        await processes.deliver()

        await processes.deliver()

    assert len(await list_deliveries(processes.first, endpoint)) == 1
