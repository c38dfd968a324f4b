"""The clock of a process follows that of the store, or that of the machine without its steps."""

import logging

import pytest

from clarion.clock import HOUR, MINUTE, SECOND, ManualClock, Millis, SteadyClock
from clarion.db.clock import LASTING, StoreClock, read_time
from clarion.db.port import Database

START = Millis(1_767_225_600_000)


class Machine:
    """A machine whose clock can be set: what passes counts for both, a step for its clock alone."""

    def __init__(self, now: Millis = START) -> None:
        self.wall = ManualClock(now)
        self._elapsed = 0

    def elapsed(self) -> int:
        return self._elapsed

    def pass_time(self, by: int) -> None:
        self._elapsed += by
        self.wall.move(by)


async def follow(opened: StoreClock, machine: Machine, seconds: int) -> None:
    for _ in range(seconds):
        machine.pass_time(SECOND)
        await opened.follow()


async def read_server_clock(database: Database) -> int:
    return await database.read(read_time)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True, scope="session")
@pytest.mark.parametrize("wrong_by", [-HOUR, 0, HOUR])
async def test_on_postgresql_the_clock_is_that_of_the_server_whatever_the_machine_says(
    database: Database, wrong_by: int
) -> None:
    machine = ManualClock(Millis(await read_server_clock(database) + wrong_by))

    before = await read_server_clock(database)
    opened = await StoreClock.open(database, machine=machine)
    now = opened.clock.now()
    await opened.follow()

    assert before - SECOND <= now <= await read_server_clock(database) + SECOND
    assert abs(opened.machine_offset - wrong_by) <= 10 * SECOND


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True, scope="session")
async def test_on_postgresql_a_clock_that_went_astray_is_set(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    opened = await StoreClock.open(database)
    opened.clock.set(Millis(opened.clock.now() + HOUR))

    with caplog.at_level(logging.WARNING):
        await opened.follow()

    assert abs(opened.clock.now() - await read_server_clock(database)) <= SECOND
    assert "Clock of the store was set" in caplog.messages


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True, scope="session")
class TestSqlite:
    async def test_a_step_and_back_is_passed_over(self, database: Database) -> None:
        machine = Machine()
        opened = await StoreClock.open(database, machine=machine.wall, elapsed=machine.elapsed)

        machine.wall.move(HOUR)
        await follow(opened, machine, 30)
        during = opened.clock.now()
        machine.wall.move(-HOUR)
        await follow(opened, machine, 30)

        assert during == START + 30 * SECOND
        assert opened.clock.now() == START + MINUTE

    async def test_a_step_forward_that_lasts_is_followed(self, database: Database) -> None:
        machine = Machine()
        opened = await StoreClock.open(database, machine=machine.wall, elapsed=machine.elapsed)

        machine.wall.move(HOUR)
        await follow(opened, machine, LASTING // SECOND + 1)

        assert opened.clock.now() == machine.wall.now()

    async def test_after_a_step_back_the_clock_never_goes_back_and_agrees_in_the_end(self, database: Database) -> None:
        machine = Machine()
        opened = await StoreClock.open(database, machine=machine.wall, elapsed=machine.elapsed)
        machine.wall.move(-MINUTE)
        moments = [opened.clock.now()]
        for _ in range(121):
            await follow(opened, machine, 1)
            moments.append(opened.clock.now())

        assert moments == sorted(moments)
        assert abs(moments[60] - START - 30 * SECOND) <= SECOND
        assert abs(moments[-1] - machine.wall.now()) <= SECOND

    async def test_drift_is_corrected(self, database: Database) -> None:
        machine = Machine()
        opened = await StoreClock.open(database, machine=machine.wall, elapsed=machine.elapsed)

        machine.wall.move(300)
        await follow(opened, machine, 1)

        assert opened.clock.now() == machine.wall.now()

    async def test_a_wrong_clock_of_the_machine_is_told_once(
        self, database: Database, caplog: pytest.LogCaptureFixture
    ) -> None:
        machine = Machine()
        opened = await StoreClock.open(database, machine=machine.wall, elapsed=machine.elapsed)

        with caplog.at_level(logging.WARNING):
            machine.wall.move(HOUR)
            await follow(opened, machine, 10)
            told, offset = list(caplog.messages), opened.machine_offset
            machine.wall.move(-HOUR)
            await follow(opened, machine, 10)

        assert (told, offset) == (["Clock of the machine is wrong"], HOUR)
        assert caplog.messages == ["Clock of the machine is wrong", "Clock of the machine is right again"]


def test_a_steady_clock_counts_what_passes() -> None:
    machine = Machine()
    clock = SteadyClock(START, machine.elapsed)

    machine.pass_time(5 * SECOND)

    assert clock.now() == START + 5 * SECOND
