"""The status of an environment: what waits, what failed, and who may see it."""

import re
from typing import Any

import pytest

from clarion import __version__
from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import Insert, Query
from clarion.ids import new_id
from clarion.monitoring import backlog, store_state
from clarion.monitoring.store_state import MAX_COUNTED_IN_ENVIRONMENT, EnvironmentWatch
from clarion.vocabulary import Scope
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import in_app
from tests.monitoring.conftest import WatchedWorld
from tests.plans import explain
from tests.support import Api, MakeApi
from tests.webhooks.support import make_endpoint

NOTHING = {"count": 0, "isCapped": False, "oldestSeconds": 0.0}
TRIGGERS = Insert(
    "triggers",
    *("environment_id", "id", "transaction_key", "workflow_id", "version_id", "payload", "created_at", "state"),
)


async def read(api: Api) -> dict[str, Any]:
    response = await api.get("/v1/status")
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def test_an_environment_without_work_has_no_backlog(api: Api) -> None:
    assert await read(api) == {
        "version": __version__,
        "workers": 0,
        "backlog": {"lane": NOTHING, "send": NOTHING, "webhook": NOTHING},
        "deadLetters": 0,
        "deadLettersCapped": False,
        "failingIntegrations": [],
    }


async def test_what_waits_shows_since_when(world: WatchedWorld) -> None:
    await make_endpoint(world.api, "http://127.0.0.1:9/hook")
    await world.make_workflow(in_app())
    await world.trigger("ada")
    await world.trigger(["bob", "carl"])
    world.clock.move(5 * SECOND)

    found = (await read(world.api))["backlog"]

    assert found["lane"]["count"] == 2
    assert found["lane"]["oldestSeconds"] == 5
    assert found["lane"]["since"] == "2026-01-01T00:00:00.000Z"
    assert found["webhook"]["count"] == 1


async def test_the_work_of_another_environment_is_not_shown(world: WatchedWorld, other_api: Api) -> None:
    await world.make_workflow(in_app())
    await world.trigger("ada")

    assert (await read(other_api))["backlog"]["lane"] == NOTHING


async def test_an_integration_that_fails_is_shown_until_it_works_again(
    world: WatchedWorld, database: Database, clock: ManualClock
) -> None:
    async with account(world, "mail") as mail:
        await world.make_workflow(EMAIL)
        mail.break_down(503)
        await world.trigger([ADA])
        await world.work()
        (failing,) = (await read(world.api))["failingIntegrations"]
        mail.come_back()
        world.clock.move(3600 * SECOND)
        await world.work()
        later = await EnvironmentWatch(database, clock).find(world.api.environment.id)

    assert failing["_id"] == mail.integration["_id"]
    assert (failing["identifier"], failing["channel"], failing["failures"]) == ("mail", "email", 1)
    assert later.failing == []


async def test_a_dead_letter_is_counted(world: WatchedWorld) -> None:
    async with account(world, "mail") as mail:
        await world.make_workflow(EMAIL)
        mail.break_down(400)
        await world.trigger([ADA])
        await world.work()

        assert (await read(world.api))["deadLetters"] == 1


async def test_one_reading_serves_all_who_ask_within_seconds(world: WatchedWorld) -> None:
    await world.make_workflow(in_app())
    before = await read(world.api)
    await world.trigger("ada")

    assert await read(world.api) == before


async def test_a_key_that_may_not_read_integrations_does_not_see_them(make_api: MakeApi) -> None:
    api = await make_api(scopes=[Scope.EVENTS_READ])

    assert "failingIntegrations" not in await read(api)


async def test_a_key_without_the_scope_is_refused(make_api: MakeApi) -> None:
    api = await make_api(scopes=[Scope.TOPICS_READ])

    assert (await api.get("/v1/status")).status_code == 403


async def test_counting_stops_at_the_limit(world: WatchedWorld, database: Database) -> None:
    now, scope = world.clock.now(), world.api.environment.id
    rows = [
        (scope, new_id(Millis(now - 1000 + n)), f"t{n}", scope, scope, "{}", now - 1000 + n, "queued")
        for n in range(MAX_COUNTED_IN_ENVIRONMENT + 10)
    ]

    async def insert(db: Connection) -> None:
        await db.insert_many(TRIGGERS, rows)

    await database.transaction(insert)

    found = (await read(world.api))["backlog"]["lane"]

    assert (found["count"], found["isCapped"], found["oldestSeconds"]) == (MAX_COUNTED_IN_ENVIRONMENT, True, 1)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        *((backlog, f"OWN_{one}") for one in ("QUEUED_TRIGGERS", "SPLITTING_TRIGGERS", "PARTS", "DUE_RUNS")),
        *((backlog, f"OWN_{one}") for one in ("DUE_SENDS", "DUE_DELIVERIES")),
        (store_state, "OWN_DEAD_LETTERS"),
    ],
)
async def test_what_waits_in_an_environment_is_found_by_an_index(
    database: Database, api: Api, module: Any, name: str
) -> None:
    query: Query = getattr(module, name)
    bound = {"environment_id": api.environment.id, "limit": 10, "now": 10}

    plan = await explain(database, query, **{one: bound[one] for one in query.names})

    assert re.findall(r"(?:Seq Scan on|SCAN) (?:triggers|trigger_parts|jobs|webhook_deliveries)", plan) == []
