"""Units of work: how large they are, how many an environment gets in a row, and what is left to the next one."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import HOUR, SECOND, Millis
from clarion.db.port import Database, Dialect, Work
from clarion.engine.unit import MAX_RUNS
from clarion.engine.worker import BusyEnvironment, Engine, UnitSizes
from clarion.ids import EnvironmentId
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from tests.engine.support import World, in_app, step

LONG = in_app("{% for n in (1..4000) %}{{n}}{% endfor %}")
"""A text that takes as much work as a whole unit may."""
PEOPLE = ("ada", "bo", "cy")
ONE, TWO = EnvironmentId(b"1" * 16), EnvironmentId(b"2" * 16)
NOW = Millis(1_000_000)
FIRST_GUESS = int(25 / 0.4)
"""The runs of a unit on PostgreSQL while it is not known what they take."""


async def count_served(world: World) -> int:
    return sum([len(await world.feed(key)) for key in PEOPLE])


async def trigger_each(world: World) -> None:
    for key in PEOPLE:
        await world.trigger(key)


async def test_new_runs_that_a_unit_has_no_work_left_for_are_served_by_the_next_ones(world: World) -> None:
    await world.make_workflow(LONG)
    await trigger_each(world)

    served = []
    for _ in PEOPLE:
        await world.engine.work_lanes()
        served.append(await count_served(world))
    await world.work()

    assert served == [1, 2, 3]
    assert await world.statuses() == [["completed"]] * 3


async def test_resumed_runs_that_a_unit_has_no_work_left_for_go_on_where_they_were(world: World) -> None:
    await world.make_workflow(in_app("first"), step("delay", type="regular", amount=1, unit="hours"), LONG)
    await trigger_each(world)
    await world.work()

    world.clock.move(HOUR)
    await world.engine.work_lanes()
    after_one = sorted(await world.statuses())
    await world.work()

    assert after_one == [["completed"] * 3, *[["completed", "delayed", "pending"]] * 2]
    assert await world.statuses() == [["completed"] * 3] * 3
    assert await count_served(world) == 6


async def test_an_environment_that_has_work_alone_gets_several_units_in_a_row(world: World) -> None:
    await world.make_workflow(LONG)
    await trigger_each(world)
    world.engine.wake()

    assert await world.engine.work_lanes(units_alone=2)

    assert await count_served(world) == 2
    await world.work()


async def test_units_in_a_row_end_with_the_work(world: World, database: Database) -> None:
    await world.make_workflow(LONG)
    await trigger_each(world)
    engine = world.engine
    engine._database = counting = Counting(database)

    await engine.work_lanes(units_alone=8)

    assert await count_served(world) == counting.transactions == len(PEOPLE)


async def test_an_environment_with_a_backlog_gets_no_units_in_a_row_beside_another(
    world: World, other_api: Any
) -> None:
    other = World(other_api, world.engine, world.clock)
    await world.make_workflow(LONG)
    await other.make_workflow(LONG)
    await trigger_each(world)
    await trigger_each(other)

    await world.engine.work_lanes(units_alone=8)

    assert (await count_served(world), await count_served(other)) == (1, 1)
    await world.work()


async def test_an_environment_with_a_backlog_lets_announced_work_in_after_one_unit(
    world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> None:
    counting = Counting(database)
    bus = application.services.bus
    engine = Engine(counting, clock=world.clock, vault=vault, bus=bus, gateway=gateway)
    counting.before = engine.wake
    await world.make_workflow(LONG)
    await trigger_each(world)

    await engine.work_lanes(units_alone=8)

    assert await count_served(world) == 1
    await world.work()


async def test_environments_with_work_take_turns(world: World, other_api: Any) -> None:
    other = World(other_api, world.engine, world.clock)
    await world.make_workflow(LONG)
    await other.make_workflow(LONG)
    await trigger_each(world)
    await trigger_each(other)
    order = []
    for _ in PEOPLE:
        world.clock.move(1)
        await world.engine.work_lanes()
        order.append((await count_served(world), await count_served(other)))

    assert order == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(("made", "wakes"), [(step("email", subject="Hi", body="Hi"), True), (in_app("Hi"), False)])
async def test_a_unit_wakes_the_sender_if_it_leaves_something_to_send(
    world: World, made: dict[str, Any], wakes: bool
) -> None:
    await world.make_workflow(made)
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})

    await world.engine.work_lanes()

    assert world.engine.sender._pipeline.wake_up.is_set() is wakes
    await world.work()


class Counting:
    """A database that counts its transactions, and calls something before each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.transactions = 0
        self.before: Any = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def transaction(self, work: Work[Any]) -> Any:
        self.transactions += 1
        self.before()
        return await self._database.transaction(work)


def busy(*ids: EnvironmentId) -> list[BusyEnvironment]:
    return [BusyEnvironment(environment_id=one, is_own=True, has_canceling=False) for one in ids]


def sizes_of(dialect: Dialect, *, milliseconds: float, runs: int = 100) -> UnitSizes:
    """After one unit of the first of two environments that have work."""
    sizes = UnitSizes(dialect)
    sizes.note_busy(busy(ONE, TWO), NOW)
    sizes.note_unit(ONE, runs, milliseconds)
    return sizes


@pytest.mark.parametrize(
    ("dialect", "milliseconds_per_run", "size"),
    [
        (Dialect.SQLITE, 0.1, 100),
        (Dialect.SQLITE, 1, 10),
        (Dialect.POSTGRES, 1, 25),
        (Dialect.POSTGRES, 0.5, 50),
        (Dialect.POSTGRES, 100, UnitSizes.MIN_RUNS),
        (Dialect.POSTGRES, 0, MAX_RUNS),
    ],
    ids=range(6),
)
def test_units_are_shorter_where_runs_take_longer(dialect: Dialect, milliseconds_per_run: float, size: int) -> None:
    assert sizes_of(dialect, milliseconds=100 * milliseconds_per_run).size_for(ONE) == size


def test_an_environment_that_is_busy_alone_gets_full_units() -> None:
    sizes = UnitSizes(Dialect.POSTGRES)
    assert sizes.size_for(ONE) == MAX_RUNS

    sizes.note_busy(busy(ONE), NOW)
    sizes.note_unit(ONE, 100, 10_000)
    assert sizes.size_for(ONE) == MAX_RUNS

    sizes.note_busy(busy(TWO), NOW)
    assert sizes.size_for(ONE) == UnitSizes.MIN_RUNS


def test_an_environment_counts_as_busy_for_five_seconds() -> None:
    sizes = sizes_of(Dialect.POSTGRES, milliseconds=10_000)

    sizes.note_busy(busy(ONE), Millis(NOW + 5 * SECOND))
    assert sizes.size_for(ONE) == UnitSizes.MIN_RUNS
    sizes.note_busy(busy(ONE), Millis(NOW + 5 * SECOND + 1))
    assert sizes.size_for(ONE) == MAX_RUNS


def test_what_runs_take_is_forgotten_with_the_environment() -> None:
    sizes = sizes_of(Dialect.POSTGRES, milliseconds=10_000)
    sizes.note_busy([], Millis(NOW + 6 * SECOND))

    sizes.note_busy(busy(ONE, TWO), Millis(NOW + 6 * SECOND))

    assert sizes.size_for(ONE) == FIRST_GUESS


def test_one_slow_unit_among_others_changes_the_size_in_part() -> None:
    sizes = sizes_of(Dialect.POSTGRES, milliseconds=50)
    sizes.note_unit(ONE, 100, 350)

    # 0.5 ms so far and 3.5 ms now: 0.5 + 0.3 * 3 = 1.4 ms.
    assert sizes.size_for(ONE) == int(25 / 1.4)


def test_units_of_few_runs_do_not_count() -> None:
    assert sizes_of(Dialect.POSTGRES, milliseconds=1000, runs=UnitSizes.MIN_RUNS - 1).size_for(ONE) == FIRST_GUESS
    assert sizes_of(Dialect.POSTGRES, milliseconds=8, runs=UnitSizes.MIN_RUNS).size_for(ONE) == 25
