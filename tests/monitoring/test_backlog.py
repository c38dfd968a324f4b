"""The backlog: what waits, since when, and that counting it stays cheap."""

import re
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import Insert, Query, sql
from clarion.ids import new_id
from clarion.monitoring import backlog
from clarion.monitoring.backlog import MAX_COUNTED, Queue, QueueBacklog, count_sends_under_way, read_backlog
from clarion.monitoring.store_state import DEAD_LETTERS, OPEN_WINDOWS
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import in_app, step
from tests.monitoring.conftest import WatchedWorld
from tests.plans import explain
from tests.webhooks.support import make_endpoint

TRIGGERS = Insert(
    "triggers",
    *("environment_id", "id", "transaction_key", "workflow_id", "version_id", "payload", "created_at", "state"),
)
LIST_SENDS = sql("SELECT id FROM jobs WHERE environment_id = :environment_id AND queue = 2")
SET_STATUS = sql("""
    UPDATE jobs SET status = :status, due_at = :due_at WHERE environment_id = :environment_id AND id = :id
""")


async def read(world: WatchedWorld, database: Database) -> dict[Queue, QueueBacklog]:
    return await database.scan(lambda db: read_backlog(db, world.clock.now()))


async def test_a_trigger_waits_for_a_lane_since_it_was_accepted(world: WatchedWorld, database: Database) -> None:
    await world.make_workflow(in_app())
    accepted_at = world.clock.now()
    await world.trigger("ada")
    await world.trigger(["bob", "carl"])
    world.clock.move(5 * SECOND)

    waiting = (await read(world, database))[Queue.LANE]
    await world.work()
    done = (await read(world, database))[Queue.LANE]

    assert waiting == QueueBacklog(count=2, since=accepted_at)
    assert waiting.seconds(world.clock.now()) == 5
    assert done == QueueBacklog()


async def test_a_run_waits_from_the_end_of_its_delay_on(world: WatchedWorld, database: Database) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app())
    await world.trigger("ada")
    await world.work()
    delayed = (await read(world, database))[Queue.LANE]
    world.clock.move(HOUR + MINUTE)

    due = (await read(world, database))[Queue.LANE]
    await world.work()

    assert delayed == QueueBacklog()
    assert due == QueueBacklog(count=1, since=Millis(world.clock.now() - MINUTE))


async def test_sends_wait_until_they_are_claimed_and_again_when_a_retry_is_due(
    world: WatchedWorld, database: Database
) -> None:
    async with account(world, "mail") as mail:
        await world.make_workflow(EMAIL)
        await world.trigger([ADA])
        await world.engine.work_lanes()
        queued = (await read(world, database))[Queue.SEND]
        mail.break_down(503)
        await world.work()
        put_off = (await read(world, database))[Queue.SEND]
        world.clock.move(HOUR)
        due = (await read(world, database))[Queue.SEND]
        mail.come_back()
        await world.work()

    assert queued.count == 1
    assert put_off == QueueBacklog()
    assert due.count == 1
    assert due.since is not None
    assert due.since < world.clock.now()


async def test_sends_are_under_way_while_they_are_claimed(world: WatchedWorld, database: Database) -> None:
    """Of three sends one is due, one is claimed, and one waits for another attempt."""
    async with account(world, "mail"):
        await world.make_workflow(EMAIL)
        await world.trigger([{**ADA, "subscriberId": f"ada-{n}"} for n in range(3)])
        await world.engine.work_lanes()
    jobs = await database.read(lambda db: db.fetch(LIST_SENDS, environment_id=world.api.environment.id))
    later = {"environment_id": world.api.environment.id, "due_at": world.clock.now() + HOUR}
    for job, status in zip(jobs[:2], ("running", "queued"), strict=True):
        values = {**later, "id": job["id"], "status": status}
        await database.transaction(lambda db, values=values: db.execute(SET_STATUS, **values))  # type: ignore[misc]

    under_way = await database.scan(lambda db: count_sends_under_way(db, world.clock.now()))

    assert (len(jobs), under_way) == (3, 1)


async def test_events_wait_for_their_endpoint(world: WatchedWorld, database: Database) -> None:
    await make_endpoint(world.api, "http://127.0.0.1:9/hook")
    await world.make_workflow(in_app())

    waiting = (await read(world, database))[Queue.WEBHOOK]

    assert waiting.count == 1


async def test_counting_stops_at_the_limit_and_the_oldest_is_found_all_the_same(
    world: WatchedWorld, database: Database
) -> None:
    now, scope = world.clock.now(), world.api.environment.id

    async def insert(db: Connection) -> None:
        rows: list[tuple[Any, ...]] = [
            (scope, new_id(Millis(now - HOUR + n)), f"t{n}", scope, scope, "{}", now - HOUR + n, "queued")
            for n in range(MAX_COUNTED + 100)
        ]
        await db.insert_many(TRIGGERS, rows)

    await database.transaction(insert)

    waiting = (await read(world, database))[Queue.LANE]

    assert waiting == QueueBacklog(count=MAX_COUNTED, since=Millis(now - HOUR))
    assert waiting.is_capped


@pytest.mark.parametrize("name", ["QUEUED_TRIGGERS", "SPLITTING_TRIGGERS", "PARTS", "DUE_SENDS", "SENDS_UNDER_WAY"])
async def test_what_waits_is_found_by_the_index_of_its_queue(database: Database, name: str) -> None:
    query: Query = getattr(backlog, name)
    bound = {"limit": 10, "now": 10}

    plan = await explain(database, query, **{one: bound[one] for one in query.names})

    assert re.findall(r"Seq Scan on (?:triggers|trigger_parts|jobs)", plan) == []
    assert re.findall(r"(?m)^SCAN (?:triggers|trigger_parts|jobs)$", plan) == []
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("query", [OPEN_WINDOWS, DEAD_LETTERS], ids=["open windows", "dead letters"])
async def test_jobs_are_counted_in_the_order_of_an_index(database: Database, query: Query) -> None:
    plan = await explain(database, query, limit=10)

    assert re.search(r"(?:USING|using)(?: COVERING)?(?: INDEX)? jobs_(?:decide|dead)", plan), plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan
