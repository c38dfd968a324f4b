"""Which worker works on which lanes: an even division among the live ones, and stealing where work waits for long."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.app import Application
from clarion.background import Supervisor
from clarion.bus import Signal
from clarion.clock import ManualClock
from clarion.db.migrations.migrate import migrate_postgres
from clarion.db.port import Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.engine.membership import LIFETIME, Membership, divide_lanes
from clarion.engine.worker import STEAL_AFTER
from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LANES, LaneSet, lane_of
from tests.engine.support import World, in_app, step
from tests.sending.test_sender import Unsteady

LIST_WORKERS = sql("SELECT id FROM workers")
# As if the worker had died that long ago; heartbeats are dated by the database's clock.
AGE = sql("UPDATE workers SET seen_at = seen_at - :age WHERE id = :id")

ids = st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=3 * LANES, unique=True)


@given(alive=ids)
def test_the_lanes_of_all_workers_cover_each_lane_once(alive: list[bytes]) -> None:
    shares = [divide_lanes(alive, one) for one in alive]

    assert sorted(lane for share in shares for lane in share) == list(range(LANES))


@given(alive=ids)
def test_the_lanes_of_a_worker_are_contiguous_and_as_many_as_those_of_others(alive: list[bytes]) -> None:
    shares = [list(divide_lanes(alive, one)) for one in alive]

    assert all(share == list(range(share[0], share[0] + len(share))) for share in shares if share)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(alive=ids)
def test_a_worker_that_is_not_listed_works_on_all_lanes(alive: list[bytes]) -> None:
    assert divide_lanes(alive, b"another") == ALL_LANES


@pytest.fixture
async def members(fresh_postgres_url: str) -> AsyncIterator[Database]:
    await migrate_postgres(fresh_postgres_url)
    database = await PostgresDatabase.connect(fresh_postgres_url, pool_size=4)
    yield database
    await database.close()


async def count_workers(database: Database) -> int:
    return len(await database.read(lambda db: db.fetch(LIST_WORKERS)))


async def die(database: Database, member: Membership, *, since: int) -> None:
    await database.transaction(lambda db: db.execute(AGE, age=since, id=member._id))


async def test_workers_share_the_lanes_as_soon_as_each_has_sent_a_heartbeat(
    members: Database, clock: ManualClock
) -> None:
    first, second = Membership(members, clock.now()), Membership(members, clock.now())

    await first.beat()
    assert first.lanes == ALL_LANES

    await second.beat()
    await first.beat()
    assert sorted([*first.lanes, *second.lanes]) == list(ALL_LANES)
    assert len(list(first.lanes)) == len(list(second.lanes))


async def test_the_lanes_of_a_dead_worker_are_taken_over(members: Database, clock: ManualClock) -> None:
    first, second = Membership(members, clock.now()), Membership(members, clock.now())
    for one in (first, second, first):
        await one.beat()

    await die(members, second, since=LIFETIME)
    await first.beat()

    assert first.lanes == ALL_LANES


async def test_a_worker_that_was_taken_for_dead_gets_its_share_again(members: Database, clock: ManualClock) -> None:
    first, second = Membership(members, clock.now()), Membership(members, clock.now())
    for one in (first, second):
        await one.beat()
    await die(members, second, since=11 * LIFETIME)
    await first.beat()
    assert await count_workers(members) == 1

    await second.beat()
    await first.beat()

    assert sorted([*first.lanes, *second.lanes]) == list(ALL_LANES)


async def test_a_worker_that_is_shut_down_leaves_at_once(members: Database, clock: ManualClock) -> None:
    stopping, staying = Membership(members, clock.now()), Membership(members, clock.now())
    running = asyncio.create_task(Supervisor().run(stopping.list_services()))
    async with asyncio.timeout(30):
        while not await count_workers(members):  # noqa: ASYNC110 - heartbeats have no event
            await asyncio.sleep(0.01)

    running.cancel()
    await asyncio.wait([running])

    assert await count_workers(members) == 0
    await staying.beat()
    assert staying.lanes == ALL_LANES


@pytest.mark.parametrize("lane", [0, 1, LANES - 1])
async def test_work_in_the_lanes_of_others_is_stolen_when_it_has_waited_for_long(world: World, lane: int) -> None:
    await world.make_workflow(in_app("Hello"))
    key = next(key for key in map("person-{}".format, range(10_000)) if lane_of(SubscriberKey(key)) == lane)
    world.engine.membership.lanes = ALL_LANES - LaneSet.of([lane])
    await world.trigger(key)

    assert not await world.engine.work_lanes()
    world.clock.move(STEAL_AFTER - 1)
    assert not await world.engine.work_lanes()
    assert await world.feed(key) == []
    world.clock.move(1)
    assert await world.engine.work_lanes()
    assert await world.feed(key) == ["Hello"]


async def test_work_that_another_worker_did_in_time_is_not_waited_for_any_more(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    others = LaneSet.of([lane_of(SubscriberKey("ada"))])
    membership = world.engine.membership
    membership.lanes = ALL_LANES - others
    await world.trigger("ada")
    await world.engine.work_lanes()

    # Its worker does it, and this one looks again.
    membership.lanes = others
    assert await world.engine.work_lanes()
    membership.lanes = ALL_LANES - others
    await world.engine.work_lanes()

    world.clock.move(STEAL_AFTER)
    await world.trigger("ada")
    assert not await world.engine.work_lanes()


async def test_a_worker_does_the_work_of_its_own_lanes_without_waiting(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("ada"))])
    await world.trigger("ada")

    assert await world.engine.work_lanes()
    assert await world.feed() == ["Hello"]


async def test_recipients_in_other_lanes_are_announced_to_their_workers(world: World, application: Application) -> None:
    await world.make_workflow(in_app("Hello"))
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("ada"))])
    await world.trigger([f"person-{number}" for number in range(8)])
    announced: list[Signal] = []
    application.services.bus.listen(Signal.WORK, lambda: announced.append(Signal.WORK))

    await world.engine.work_lanes()

    assert announced


async def test_a_run_that_goes_on_after_a_send_is_announced_to_its_worker(
    world: World, application: Application
) -> None:
    body = {"providerId": "svc-email", "channel": "email", "active": True}
    assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
    await world.make_workflow(step("email", subject="Hello", body="Hello"), in_app("Hello"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.engine.work_lanes()
    announced: list[Signal] = []
    application.services.bus.listen(Signal.WORK, lambda: announced.append(Signal.WORK))

    await world.engine.sender.work()

    assert announced


@pytest.mark.parametrize("is_alone", [True, False])
async def test_workers_of_other_processes_are_notified_if_there_are_any(
    members: Database, fresh_postgres_url: str, application: Application, clock: ManualClock, is_alone: bool
) -> None:
    woken = asyncio.Event()
    other = await PostgresDatabase.connect(fresh_postgres_url, pool_size=1)
    await other.listen_for_work(woken.set)
    member = Membership(members, clock.now())
    if not is_alone:
        await Membership(other, clock.now()).beat()
    await member.beat()
    mine = msgspec.structs.replace(application, database=members)
    announcing = asyncio.create_task(Supervisor().run([mine.announce_work(unless=lambda: member.is_alone)]))

    application.services.bus.publish(Signal.WORK)
    if is_alone:
        await asyncio.sleep(0.05)
        assert not woken.is_set()
    else:
        async with asyncio.timeout(30):
            await woken.wait()

    announcing.cancel()
    await other.close()


async def test_heartbeats_go_on_after_the_store_was_out_for_a_moment(
    members: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clarion.engine.membership.HEARTBEAT", 10)
    store = Unsteady(members)
    store.failures = 2
    services = Membership(store, clock.now()).list_services()
    running = asyncio.create_task(Supervisor(pause_seconds=0).run(services))

    async with asyncio.timeout(30):
        while not await count_workers(members):  # noqa: ASYNC110 - heartbeats have no event
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])

    assert store.failures == 0
    assert await count_workers(members) == 0


async def test_a_worker_that_cannot_reach_the_store_ends_all_the_same(members: Database, clock: ManualClock) -> None:
    store = Unsteady(members)
    running = asyncio.create_task(Supervisor().run(Membership(store, clock.now()).list_services()))
    async with asyncio.timeout(30):
        while not await count_workers(members):  # noqa: ASYNC110 - heartbeats have no event
            await asyncio.sleep(0.01)
    store.failures = 1

    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
