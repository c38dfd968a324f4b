"""What a tenant makes Clarion store: once, and no more than is needed."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.digests import MAX_EVENT_BYTES, MAX_EVENTS
from clarion.engine.worker import Engine
from tests.engine.support import World, in_app, step
from tests.support import Api

DIGEST = step("digest", type="regular", amount=1, unit="minutes")
DELAY = step("delay", type="regular", amount=1, unit="minutes")
COUNTS = in_app("{{steps.digest.eventCount}} {{steps.digest.events.size}} {{step.total_count}} {{step.events.size}}")
LEADER = "first"
LARGEST_JOB = sql("""
    SELECT max(coalesce(octet_length(digest), 0) + coalesce(octet_length(outputs), 0)) AS size FROM jobs
    WHERE environment_id = :environment_id
""")


@pytest.fixture
def world(api: Api, application: Application, clock: ManualClock) -> World:
    engine = Engine(
        application.database,
        clock=clock,
        vault=application.vault,
        bus=application.services.bus,
        gateway=application.services.gateway,
    )
    return World(api, engine, clock)


async def measure(database: Database, world: World, query: Any) -> int:
    async def read(db: Connection) -> int:
        row = await db.fetch_one(query, environment_id=world.api.environment.id)
        return 0 if row is None else int(row["size"] or 0)

    return await database.read(read)


async def trigger_many(world: World, count: int, payload: dict[str, Any]) -> None:
    for first in range(0, count, 100):
        numbers = range(first, min(first + 100, count))
        events = [{"name": "welcome", "to": "ada", "payload": payload | {"n": n}} for n in numbers]
        if not first:
            events[0]["transactionId"] = LEADER
        response = await world.api.post("/v1/events/trigger/bulk", json={"events": events})
        assert response.status_code == 201, response.text


async def test_a_digest_of_many_events_shows_the_first_and_counts_all(world: World, database: Database) -> None:
    await world.make_workflow(DIGEST, COUNTS, DELAY, COUNTS)
    await trigger_many(world, MAX_EVENTS + 30, {"text": "x" * 50})

    await world.work()
    await world.work(after=60_000)
    await world.work(after=60_000)
    (leader,) = await world.events(transactionId=LEADER)
    digest = leader["jobs"][0]["digest"]

    total = MAX_EVENTS + 30
    assert await world.feed() == [f"{total} {MAX_EVENTS} {total} {MAX_EVENTS}"] * 2
    assert [event["payload"]["n"] for event in digest["events"]] == list(range(MAX_EVENTS))
    assert digest["eventCount"] == total


async def test_a_digest_of_large_payloads_stays_small(world: World, database: Database) -> None:
    await world.make_workflow(DIGEST, COUNTS)
    await trigger_many(world, 20, {"text": "x" * 250_000})

    await world.work()
    await world.work(after=60_000)

    shown = MAX_EVENT_BYTES // 250_000
    assert await world.feed() == [f"20 {shown} 20 {shown}"]
    assert await measure(database, world, LARGEST_JOB) < 10_000


async def test_the_payload_of_a_crowd_is_not_copied_into_their_digests(world: World, database: Database) -> None:
    look_back = step(
        "digest", type="regular", amount=1, unit="minutes", lookBackWindow={"amount": 5, "unit": "minutes"}
    )
    text = "{% for event in steps.digest.events %}{{event.payload.text | size}}{% endfor %}"
    await world.make_workflow(look_back, DELAY, in_app(text))
    people = [f"p{n}" for n in range(20)]

    await world.trigger(people, payload={"text": "x" * 100_000})
    await world.work()
    await world.work(after=60_000)

    assert await world.feed("p7") == ["100000"]
    assert await measure(database, world, LARGEST_JOB) < 1_000


async def test_a_digest_of_an_earlier_time_is_not_read_again(world: World) -> None:
    await world.make_workflow(DIGEST, COUNTS)

    for start in ("a", "b", "c"):
        for number in range(4):
            await world.trigger(transactionId=f"{start}{number}")
        await world.work()
        await world.work(after=60_000)

    assert await world.feed() == ["4 4 4 4"] * 3


async def test_a_digest_that_shows_one_event_of_many_outlives_the_cancel_of_that_one(world: World) -> None:
    await world.make_workflow(DIGEST, DELAY, COUNTS)
    transactions = [
        (await world.trigger(payload={"text": "x" * 250_000}, transactionId=f"t{n}"))["transactionId"] for n in range(4)
    ]
    await world.work()
    await world.work(after=60_000)

    await world.api.delete(f"/v1/events/trigger/{transactions[0]}")
    await world.work()
    await world.work(after=60_000)

    (text,) = await world.feed()
    assert text.split()[0] == text.split()[2] == "3"
