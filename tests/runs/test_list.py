"""Slim rows of runs through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import HOUR, MINUTE, SECOND, ManualClock, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.runs.filters import read_filter
from clarion.runs.store import RunWindow, find_runs
from clarion.runs.wire import RunFilterQuery
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, in_app, step
from tests.support import Api

DELAY = step("delay", "Delay", type="regular", amount=5, unit="minutes")
DIGEST = step("digest", "Digest", type="regular", amount=10, unit="minutes")


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


async def list_runs(world: World, **query: Any) -> list[dict[str, Any]]:
    """The runs of all pages, newest first."""
    found: list[dict[str, Any]] = []
    while True:
        response = await world.api.get("/v1/runs", params=query)
        assert response.status_code == 200, response.text
        page = response.json()
        found += page["data"]
        if page["next"] is None:
            return found
        query["cursor"] = page["next"]


async def transactions(world: World, **query: Any) -> list[str]:
    return [one["transactionId"] for one in await list_runs(world, **query)]


async def test_a_row_tells_who_what_when_and_what_became_of_it(world: World) -> None:
    made = await world.make_workflow(in_app("Hi"), DELAY)
    await world.trigger({"subscriberId": "ada", "firstName": "Ada", "lastName": "Byron"}, transactionId="t-1")
    await world.work()

    (row,) = await list_runs(world)

    (event,) = await world.events()
    assert row == {
        "_id": event["_id"],
        "status": "waiting",
        "waitingUntil": iso_text(world.clock.now() + 5 * MINUTE),  # type: ignore[arg-type]
        "waitingFor": "delay",
        "transactionId": "t-1",
        "subscriber": {"subscriberId": "ada", "name": "Ada Byron"},
        "workflow": {"_id": made["_id"], "workflowId": "welcome", "name": "Welcome"},
        "steps": [
            {"type": "in_app", "status": "completed", "providerId": "svc"},
            {"type": "delay", "status": "delayed"},
        ],
        "createdAt": event["createdAt"],
        "updatedAt": event["updatedAt"],
    }


async def test_runs_are_found_by_each_filter_and_by_all_of_them_together(world: World) -> None:
    async with account(world, "a") as provider:
        await world.make_workflow(in_app("Hi"), key="inbox")
        await world.make_workflow(in_app("Hi"), EMAIL, key="mail")
        await world.make_workflow(DIGEST, in_app("Hi"), key="digest")
        await world.trigger("bob", name="inbox", transactionId="t-1")
        await world.trigger(ADA, name="mail", transactionId="t-2")
        provider.break_down(400)
        await world.work(after=SECOND)
        provider.come_back()
        await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["bob"]})
        await world.trigger(ADA, name="mail", transactionId="t-3")
        await world.trigger({"type": "Topic", "topicKey": "news"}, name="digest", transactionId="t-4")
        await world.trigger("bob", name="digest", transactionId="t-5")
        await world.work()

        assert await transactions(world) == ["t-5", "t-4", "t-3", "t-2", "t-1"]
        assert await transactions(world, status="completed") == ["t-3", "t-1"]
        assert await transactions(world, status="partly_failed") == ["t-2"]
        assert await transactions(world, status=["waiting", "partly_failed", "merged"]) == ["t-5", "t-4", "t-2"]
        assert await transactions(world, status="waiting", workflowId="digest") == ["t-4"]
        assert await transactions(world, stepType="email") == ["t-3", "t-2"]
        assert await transactions(world, stepType=["email", "digest"], status="completed") == ["t-3"]
        assert await transactions(world, providerId="email-webhook") == ["t-3", "t-2"]
        assert await transactions(world, workflowId=["mail", "inbox"]) == ["t-3", "t-2", "t-1"]
        assert await transactions(world, subscriberId="bob") == ["t-5", "t-4", "t-1"]
        assert await transactions(world, transactionId=["t-1", "t-4"]) == ["t-4", "t-1"]
        assert await transactions(world, topicKey="news") == ["t-4"]
        assert await transactions(world, subscriberId="ada", stepType="email", status="completed") == ["t-3"]
        assert await transactions(world, limit=1, subscriberId="ada") == ["t-3", "t-2"]
        for unknown in ("workflowId", "subscriberId", "transactionId", "providerId", "topicKey"):
            assert await transactions(world, **{unknown: "unknown"}) == []


async def test_runs_are_found_by_when_they_began(world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    start = world.clock.now()
    for number in range(3):
        await world.trigger(transactionId=f"t-{number}")
        await world.work()
        world.clock.move(HOUR)

    def at(hours: int) -> str:
        return iso_text(start + hours * HOUR)  # type: ignore[arg-type]

    assert await transactions(world, after=at(1)) == ["t-2", "t-1"]
    assert await transactions(world, before=at(1)) == ["t-1", "t-0"]
    assert await transactions(world, after=at(1), before=at(1)) == ["t-1"]


async def test_a_walk_that_finds_little_says_how_far_it_looked_and_goes_on_from_there(
    world: World, database: Database, application: Application
) -> None:
    await world.make_workflow(in_app("Hi"))
    people = [f"p-{number}" for number in range(30)]
    await world.trigger(people, transactionId="t-1")
    await world.work()
    names = application.services.names

    async def walk(db: Any) -> tuple[int, list[str]]:
        query = RunFilterQuery(topic_key="none")
        wanted = await read_filter(db, world.api.environment.id, query, names)
        found = await find_runs(db, wanted, RunWindow(), limit=10, max_examined=7)
        looks, ids = 1, list(found.ids)
        while found.next is not None:
            assert found.searched == found.next
            found = await find_runs(db, wanted, RunWindow(below=found.next), limit=10, max_examined=7)
            looks, ids = looks + 1, [*ids, *found.ids]
        return looks, [one.hex() for one in ids]

    assert await database.scan(walk) == (5, [])


async def test_pages_show_each_run_once_while_others_begin(world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    await world.trigger([f"p-{number}" for number in range(25)], transactionId="t-1")
    await world.work()
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await world.api.get("/v1/runs", params={"limit": 10, **cursor})).json()
        seen += [one["_id"] for one in page["data"]]
        await world.trigger(f"late-{len(seen)}")
        await world.work(after=1)
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}

    assert len(seen) == 25
    assert seen == sorted(set(seen), reverse=True)


async def test_a_waiting_run_says_for_what(world: World) -> None:
    async with account(world, "a") as provider:
        await world.make_workflow(DIGEST, key="digest")
        await world.make_workflow(EMAIL, key="mail")
        await world.make_workflow(step("delay", type="regular", amount=1, unit="hours", extendToSchedule=True), key="x")
        await world.trigger(ADA, name="digest")
        provider.break_down(503)
        await world.trigger(ADA, name="mail")
        await world.work()
        await world.set_schedule(monday=[("09:00 AM", "10:00 AM")])
        await world.trigger("ada", name="x")
        await world.work()

        found = {one["workflow"]["workflowId"]: one.get("waitingFor") for one in await list_runs(world)}
        assert found == {"digest": "digest", "x": "schedule", "mail": "retry"}
        assert all(one["waitingUntil"] > one["createdAt"] for one in await list_runs(world))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "done"}, "status"),
        ({"stepType": "pigeon"}, "stepType"),
        ({"limit": 101}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"after": "yesterday"}, "after"),
        ({"after": "2026-02-01", "before": "2026-01-01"}, "after"),
        ({"subscriberId": [str(number) for number in range(51)]}, "subscriberId"),
    ],
)
async def test_a_filter_that_is_not_valid_is_named(api: Api, query: dict[str, Any], field: str) -> None:
    refused = await api.get("/v1/runs", params=query)

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [field]


async def test_a_run_that_an_earlier_version_stored_without_a_status_is_shown_as_its_jobs_say_and_settled_by_a_change(
    world: World, database: Database
) -> None:
    """While a store is migrated, processes of the version before go on and store none."""
    await world.make_workflow(in_app("Hi"), DELAY)
    await world.trigger(ADA, transactionId="t-1")
    await world.work()
    forget = sql("UPDATE notifications SET status = NULL WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(forget, environment_id=world.api.environment.id))

    (row,) = await list_runs(world)
    by_filter = {status: await transactions(world, status=status) for status in ("completed", "waiting", "running")}
    counts = (await world.api.get("/v1/runs/counts")).json()
    response = await world.api.delete("/v1/events/trigger/t-1")

    assert row["status"] == "waiting"
    # Its own status cannot be looked up, so that it is among the completed ones, and no list leaves it out.
    assert by_filter == {"completed": ["t-1"], "waiting": [], "running": []}
    assert sum(one["statuses"].get("completed", 0) for one in counts["buckets"]) == 1
    assert response.json() is True
    assert await transactions(world, status="canceled") == ["t-1"]
    assert await transactions(world, status="completed") == []
