"""A lane is decided by one worker at a time, even if another believes that it is its own.

On PostgreSQL alone: SQLite runs units of work one after the other.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Connection, Database, Row
from clarion.db.query import Insert, Query, sql
from clarion.engine.cancel import continue_cancel
from clarion.engine.unit import run_unit
from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LaneSet, lane_of
from clarion.triggers.store import LIST_BATCHES_BESIDE, LIST_WAITING
from tests.engine.support import Interrupted, World, in_app, step

DIGEST = step("digest", "Digest", type="regular", amount=1, unit="hours")
PEOPLE = ["ada", "bob"]
THEIR_LANES = LaneSet.of(lane_of(SubscriberKey(one)) for one in PEOPLE)
CANCEL_LATER = sql("""
    UPDATE triggers SET state = 'canceling' WHERE environment_id = :environment_id AND transaction_key = 't'
""")
SUMMARY = in_app("{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}")

pytestmark = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)


class Paused:
    """A connection that waits before a query, or before it inserts into a table, and says so."""

    def __init__(self, db: Connection, place: str | Query, may_go_on: asyncio.Event, waits: asyncio.Event) -> None:
        self._db, self._place = db, place
        self._may_go_on, self._waits = may_go_on, waits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def fetch(self, query: Query, **parameters: Any) -> Sequence[Row]:
        await self._wait_at(query)
        return await self._db.fetch(query, **parameters)

    async def insert_many(self, into: Insert, rows: Any) -> int:
        await self._wait_at(into.table)
        return await self._db.insert_many(into, rows)

    async def _wait_at(self, place: str | Query) -> None:
        if place == self._place:
            self._waits.set()
            await self._may_go_on.wait()


@asynccontextmanager
async def unit_under_way(world: World, database: Database, place: str | Query = "messages") -> AsyncIterator[None]:
    """A unit of work that has come to a place, by default where it writes; it goes on when the block is left."""
    may_go_on, waits, now = asyncio.Event(), asyncio.Event(), world.clock.now()

    async def work(db: Connection) -> None:
        paused: Any = Paused(db, place, may_go_on, waits)
        await run_unit(paused, world.api.environment.id, now, lanes=THEIR_LANES, source=world.engine.source)

    unit = asyncio.create_task(database.transaction(work))
    await waits.wait()
    try:
        yield
    finally:
        may_go_on.set()
        await unit


async def give_time_to(task: "asyncio.Task[Any]") -> None:
    """Let a task go as far as it gets: to its end, or to where it waits for the unit that is under way."""
    await asyncio.wait([task], timeout=0.3)


async def trigger_in_parts(world: World, **fields: Any) -> None:
    """Trigger for two people; another worker splits the trigger and leaves their parts alone."""
    await world.trigger(PEOPLE, **fields)
    world.engine.membership.lanes = ALL_LANES - THEIR_LANES
    await world.engine.work_lanes()
    world.engine.membership.lanes = ALL_LANES


async def test_an_event_that_joins_a_window_while_it_comes_due_is_told(world: World, database: Database) -> None:
    await world.make_workflow(in_app("start"), DIGEST, SUMMARY)
    await world.trigger("ada", payload={"n": 1})
    await world.work()
    world.clock.move(HOUR - MINUTE)
    await trigger_in_parts(world, payload={"n": 2})

    async with unit_under_way(world, database):
        world.clock.move(MINUTE)
        closing = asyncio.create_task(world.engine.work_lanes())
        await give_time_to(closing)
    await closing
    await world.work()
    await world.work(after=HOUR)

    assert [one for one in await world.feed("ada") if one != "start"] == ["12"]


async def test_two_workers_do_not_let_more_pass_a_throttle_than_it_allows(world: World, database: Database) -> None:
    throttle = step("throttle", type="fixed", amount=1, unit="hours", threshold=1)
    delay = step("delay", type="dynamic", dynamicKey="payload.wait", skip={"!!": [{"var": "payload.wait"}]})
    await world.make_workflow(in_app("start"), delay, throttle, in_app("pass"))
    await world.trigger("ada", payload={"wait": {"amount": 1, "unit": "minutes"}})
    await world.work()
    await trigger_in_parts(world)

    async with unit_under_way(world, database):
        world.clock.move(MINUTE)
        other = asyncio.create_task(world.engine.work_lanes())
        await give_time_to(other)
    await other
    await world.work()

    assert [one for one in await world.feed("ada") if one != "start"] == ["pass"]


async def test_a_cancel_waits_for_the_unit_that_starts_its_runs(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    await trigger_in_parts(world, transactionId="t")

    async with unit_under_way(world, database, "notifications"):
        cancel = asyncio.create_task(_cancel_and_count(world))
        await give_time_to(cancel)
    at_the_answer = await cancel
    await world.work()

    assert len(await world.messages(transactionId="t")) == at_the_answer


async def test_the_rest_of_a_cancel_waits_for_the_unit_that_closes_the_window_of_a_person(
    world: World, database: Database
) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await world.trigger("ada", payload={"n": 1}, transactionId="t")
    await world.work()
    await world.trigger("ada", payload={"n": 2})
    await world.work()
    world.clock.move(HOUR)
    scope: dict[str, Any] = {"environment_id": world.api.environment.id}

    async with unit_under_way(world, database):
        # As the first part of a cancel leaves a large crowd.
        await database.transaction(lambda db: db.execute(CANCEL_LATER, **scope))
        cancel = asyncio.create_task(database.transaction(partial(continue_cancel, now=world.clock.now(), **scope)))
        await give_time_to(cancel)
    await cancel
    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["12"]


async def test_what_another_worker_splits_meanwhile_does_not_overtake_an_earlier_trigger(
    world: World, database: Database
) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))

    async with unit_under_way(world, database, LIST_BATCHES_BESIDE):
        await world.trigger("ada", payload={"n": 1})
        await trigger_in_parts(world, payload={"n": 2})
    await world.work()

    assert await world.feed("ada") == ["1", "2"]
    assert await world.feed("bob") == ["2"]


async def test_a_trigger_does_not_overtake_one_that_is_split_while_both_are_listed(
    world: World, database: Database
) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    await trigger_in_parts(world, payload={"n": 1})

    async def trigger_one(_: Connection) -> None:
        await world.trigger("ada", payload={"n": 2})

    async def trigger_more(_: Connection) -> None:
        await trigger_in_parts(world, payload={"n": 3})
        await world.trigger("ada", payload={"n": 4})

    async def work(db: Connection) -> None:
        interrupted: Any = Interrupted(db, {LIST_BATCHES_BESIDE: trigger_one, LIST_WAITING: trigger_more})
        await run_unit(
            interrupted, world.api.environment.id, world.clock.now(), lanes=THEIR_LANES, source=world.engine.source
        )
        assert interrupted.actions == {}

    await database.transaction(work)
    await world.work()

    assert await world.feed("ada") == ["1", "2", "3", "4"]


async def test_deleting_a_person_waits_for_the_unit_that_serves_them(world: World, database: Database) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("x"))
    await world.trigger()
    await world.work()
    world.clock.move(HOUR)

    async with unit_under_way(world, database):
        delete = asyncio.create_task(world.api.delete("/v2/subscribers/ada"))
        await give_time_to(delete)
    assert (await delete).status_code == 200
    await world.work()

    assert await world.messages() == []
    assert await world.events() == []


async def _cancel_and_count(world: World) -> int:
    await world.api.delete("/v1/events/trigger/t")
    return len(await world.messages(transactionId="t"))
