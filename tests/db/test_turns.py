"""Turns of sandboxes: who works, who waits, and who rests."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from clarion.db import sandbox as rules
from clarion.db.sandbox import Turns
from clarion.errors import Busy, RateLimited
from clarion.ids import EnvironmentId

TENANT, NEIGHBOUR = (EnvironmentId(bytes([number] * 16)) for number in range(2))


class Time:
    """Seconds that pass only while somebody works or rests."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def seconds() -> Time:
    return Time()


@pytest.fixture
def turns(seconds: Time) -> Turns:
    return Turns(read_time=seconds, sleep=seconds.sleep)


async def work(turns: Turns, seconds: Time, environment_id: EnvironmentId, took: float) -> float:
    """Work for some seconds; returns how long that had to wait for its turn."""
    asked = seconds.now
    async with turns.take(environment_id) as turn:
        waited = seconds.now - asked
        with turn.working():
            seconds.now += took
    return waited


async def test_the_short_ones_of_an_environment_rest_so_that_they_take_a_small_share(
    turns: Turns, seconds: Time
) -> None:
    waited = [await work(turns, seconds, TENANT, 0.0625) for _ in range(100)]

    # The allowance, and the one that exceeds it, need no rest.
    assert waited[:17] == [0.0] * 17
    assert 0.0625 / (0.0625 + waited[-1]) == pytest.approx(rules.SHARE)


@pytest.mark.parametrize(("took", "rest"), [(0.5, rules.LONGEST_REST), (1.0, 3.0), (5.0, 15.0)])
async def test_long_ones_rest_for_two_seconds_or_three_times_as_long_as_the_last(
    turns: Turns, seconds: Time, took: float, rest: float
) -> None:
    waited = [await work(turns, seconds, TENANT, took) for _ in range(10)]

    assert waited[-1] == pytest.approx(rest)


@pytest.mark.parametrize("took", [0.15, 0.5, 1.0, 5.0])
async def test_one_environment_that_always_asks_lets_no_other_wait(turns: Turns, seconds: Time, took: float) -> None:
    for _ in range(20):
        await work(turns, seconds, TENANT, took)
        assert await work(turns, seconds, NEIGHBOUR, 0.001) == 0.0


async def test_many_environments_together_rest_too(turns: Turns, seconds: Time) -> None:
    for number in range(200):
        await work(turns, seconds, EnvironmentId(number.to_bytes(16)), 0.2)

    assert (200 * 0.2 - rules.ALLOWANCE_OF_ALL) / seconds.now == pytest.approx(rules.SHARE_OF_ALL, rel=0.05)


async def hold(turns: Turns, environment_id: EnvironmentId, until: asyncio.Event, begun: list[EnvironmentId]) -> None:
    async with turns.take(environment_id):
        begun.append(environment_id)
        await until.wait()


async def test_an_environment_works_once_at_a_time_and_others_beside_it(turns: Turns) -> None:
    end, begun = asyncio.Event(), list[EnvironmentId]()
    async with asyncio.TaskGroup() as tasks:
        for one in (TENANT, TENANT, TENANT, NEIGHBOUR):
            tasks.create_task(hold(turns, one, end, begun))
        for _ in range(20):
            await asyncio.sleep(0)
        together = list(begun)
        end.set()

    assert together == [TENANT, NEIGHBOUR]
    assert begun == [TENANT, NEIGHBOUR, TENANT, TENANT]


async def test_a_bounded_number_waits_in_an_environment_and_in_all(turns: Turns) -> None:
    end, begun = asyncio.Event(), list[EnvironmentId]()
    async with asyncio.TaskGroup() as tasks:
        for number in range(rules.MAX_WAITING // rules.MAX_WAITING_OF_ONE):
            for _ in range(rules.MAX_WAITING_OF_ONE):
                tasks.create_task(hold(turns, EnvironmentId(number.to_bytes(16)), end, begun))
            await asyncio.sleep(0)
            with pytest.raises(RateLimited, match="of this environment"):
                await hold(turns, EnvironmentId(number.to_bytes(16)), end, begun)
        with pytest.raises(Busy, match="Too many simulations"):
            await hold(turns, EnvironmentId(b"y" * 16), end, begun)
        end.set()

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(turns.take(TENANT))
