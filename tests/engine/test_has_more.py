"""A unit of work knows whether the next one will find work at once, and how much it did itself."""

import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from clarion.engine.unit import UnitResult, run_unit
from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LaneSet, lane_of
from tests.engine.support import World, in_app, step

PEOPLE = [f"p{number}" for number in range(40)]
SOME_LANES = ALL_LANES - LaneSet.of([0])
HERE = [key for key in PEOPLE if lane_of(SubscriberKey(key)) in list(SOME_LANES)]


async def work(world: World, database: Database, *, limit: int, lanes: LaneSet = ALL_LANES) -> UnitResult:
    environment_id, now = world.api.environment.id, world.clock.now()
    return await database.transaction(
        lambda db: run_unit(
            db, environment_id=environment_id, now=now, lanes=lanes, source=world.engine.source, limit=limit
        )
    )


@pytest.mark.parametrize("lanes", [ALL_LANES, SOME_LANES], ids=["all lanes", "some lanes"])
@pytest.mark.parametrize(("limit", "has_more"), [(2, True), (3, True), (4, False)])
async def test_more_triggers_than_the_limit_or_as_many_are_left_to_the_next_unit(
    world: World, database: Database, lanes: LaneSet, limit: int, has_more: bool
) -> None:
    await world.make_workflow(in_app("x"))
    for key in HERE[:3]:
        await world.trigger(key)

    done = await work(world, database, limit=limit, lanes=lanes)

    assert done.has_more is has_more
    assert len(await world.events()) == min(limit, 3)
    assert not done.has_sends
    assert not done.has_batches


@pytest.mark.parametrize(("limit", "has_more"), [(2, True), (3, True), (4, False)])
async def test_more_due_runs_than_the_limit_or_as_many_are_left_to_the_next_unit(
    world: World, database: Database, limit: int, has_more: bool
) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("x"))
    for key in PEOPLE[:3]:
        await world.trigger(key)
    await world.work()
    world.clock.move(HOUR)

    done = await work(world, database, limit=limit)

    assert (done.runs, done.has_more) == (min(limit, 3), has_more)
    assert sorted(await world.statuses()).count(["completed", "completed"]) == min(limit, 3)


async def make_crowd(world: World) -> None:
    await world.make_workflow(in_app("x"))
    bulk = [{"subscriberId": key} for key in PEOPLE]
    await world.api.post("/v1/subscribers/bulk", json={"subscribers": bulk})
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": PEOPLE})
    await world.trigger([{"type": "Topic", "topicKey": "all"}])


async def test_a_crowd_is_worked_on_in_chunks_until_its_end(world: World, database: Database) -> None:
    await make_crowd(world)
    units = []
    while (done := await work(world, database, limit=8)).runs:
        units.append(done.has_more)

    assert len(units) > 2
    assert units == [True] * (len(units) - 1) + [False]
    assert [await world.feed(key) for key in PEOPLE] == [["x"]] * len(PEOPLE)


async def test_a_crowd_is_handed_to_its_lanes_where_a_worker_has_some_of_them(world: World, database: Database) -> None:
    await make_crowd(world)

    first = await work(world, database, limit=200, lanes=SOME_LANES)
    assert first.has_batches
    while (await work(world, database, limit=200, lanes=SOME_LANES)).runs:
        pass
    served = [key for key in PEOPLE if await world.feed(key)]
    assert served == HERE

    last = await work(world, database, limit=200)
    assert not last.has_batches
    assert [await world.feed(key) for key in PEOPLE] == [["x"]] * len(PEOPLE)


async def test_a_unit_without_work_says_so(world: World, database: Database) -> None:
    assert await work(world, database, limit=8) == UnitResult(delivered=[])


async def test_a_unit_says_whether_it_leaves_something_to_send(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"), step("email", subject="Hi", body="Hi"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})

    assert (await work(world, database, limit=8)).has_sends
    assert not (await work(world, database, limit=8)).has_sends
