"""What a process may admit under a limit: time is counted once, and portions expire."""

from typing import Any

import pytest

from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.limits.allowances import PORTION_VALID, LocalAllowance, SharedAllowance
from clarion.limits.buckets import Portion, PortionRequest, take_portion
from clarion.settings.rate_limits import LimitCategory, RateLimit
from tests.support import Site

LIMIT = RateLimit(per_second=10, burst=10)
START = Millis(1_767_225_600_000)


def at(seconds: float) -> Millis:
    return Millis(START + int(seconds * SECOND))


def count_taken(allowance: LocalAllowance, now: Millis) -> int:
    return sum(allowance.take(1, now) for _ in range(100))


@pytest.mark.parametrize(
    ("moments", "taken"),
    [
        ((0, 0.5, 0.5, 1), [10, 5, 0, 5]),
        ((1, 0, 1, 1.5), [10, 0, 0, 5]),
        ((0, 5, 5.1, 5.2), [10, 10, 1, 1]),
    ],
    ids=["the same moment twice", "a clock that is set back", "no more than the burst"],
)
def test_a_bucket_of_one_process_counts_all_time_once(moments: tuple[float, ...], taken: list[int]) -> None:
    allowance = LocalAllowance(LIMIT, at(moments[0]))

    assert [count_taken(allowance, at(one)) for one in moments] == taken


async def take(database: Database, site: Site, seconds: float) -> float:
    """Take all that the shared bucket has at a moment of the clock of some process."""
    request = PortionRequest(
        environment_id=site.development.id,
        category=LimitCategory.TRIGGER,
        limit=LIMIT,
        cost=1,
        wanted=100.0,
        returned=0.0,
        now=at(seconds),
    )
    portion = await database.transaction(lambda db: take_portion(db, request))
    return portion.tokens


@pytest.mark.parametrize(
    ("moments", "taken"),
    [((0, 0.5, 0.5, 1), [10, 5, 0, 5]), ((1, 0, 1, 0.5, 1.5), [10, 0, 0, 0, 5])],
    ids=["the same moment twice", "processes whose clocks differ"],
)
async def test_a_bucket_of_several_processes_counts_all_time_once(
    database: Database, site: Site, moments: tuple[float, ...], taken: list[float]
) -> None:
    assert [await take(database, site, one) for one in moments] == taken


class Bucket:
    """A store that grants five tokens and has three left, and records what is asked."""

    def __init__(self) -> None:
        self.returned: list[float] = []

    async def take_portion(self, *amounts: Any) -> Portion:
        _, _, returned, _ = amounts
        self.returned.append(returned)
        return Portion(5.0, 3.0)


async def test_a_portion_can_be_used_for_a_second_and_is_then_gone() -> None:
    clock, bucket = ManualClock(START), Bucket()
    allowance = SharedAllowance(LIMIT, clock, bucket.take_portion)
    assert await allowance.obtain(1)

    clock.move(PORTION_VALID - 1)
    assert allowance.take(1, clock.now())
    assert allowance.tokens_at(clock.now()) == 3 + 10
    clock.move(1)

    assert not allowance.take(1, clock.now())
    assert allowance.tokens_at(clock.now()) == 10
    assert await allowance.obtain(1)
    assert bucket.returned == [0.0, 0.0]


async def test_what_is_left_of_a_portion_that_is_valid_is_given_back_for_the_next() -> None:
    clock, bucket = ManualClock(START), Bucket()
    allowance = SharedAllowance(LIMIT, clock, bucket.take_portion)
    assert await allowance.obtain(1)

    clock.move(PORTION_VALID - 1)
    assert await allowance.obtain(5)

    assert bucket.returned == [0.0, 4.0]
