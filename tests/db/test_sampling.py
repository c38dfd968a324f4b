"""Counts of very many rows: exact for few, near for many, and never more work than allowed."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

import pytest

from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.db.sampling import Counted, SampledRange, count_ranges

START = Millis(1_767_225_600_000)
MONTH = 30 * DAY
LIMIT, PROBES = 1_000, 150


class Table:
    """Rows at given moments, which counts how often it is asked."""

    def __init__(self, moments: Sequence[int]) -> None:
        self.moments = sorted(moments)
        self.probes = 0

    async def probe(self, wanted: SampledRange) -> Counted:
        self.probes += 1
        first, last = bisect_left(self.moments, wanted.first), bisect_right(self.moments, wanted.last)
        if last - first <= LIMIT:
            return Counted(range=wanted, count=last - first)
        times = Millis(self.moments[first]), Millis(self.moments[first + LIMIT - 1])
        return Counted(range=wanted, count=LIMIT, reached=times)

    async def count(self) -> list[Counted]:
        whole = SampledRange(key="rows", first=START, last=Millis(START + MONTH - 1))
        return await count_ranges(self.probe, [whole], max_probes=PROBES)


def spread_evenly(count: int) -> list[int]:
    return [START + MONTH * number // count for number in range(count)]


def burst(at: int, count: int, length: int) -> list[int]:
    return [START + at + length * number // count for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, LIMIT, LIMIT + 1, 5_000])
async def test_few_rows_are_counted_exactly(count: int) -> None:
    parts = await Table(spread_evenly(count)).count()

    assert all(one.reached is None for one in parts)
    assert sum(one.estimate for one in parts) == count


@pytest.mark.parametrize(
    "moments",
    [
        pytest.param(spread_evenly(500_000), id="even"),
        pytest.param(burst(3 * DAY, 100_000, 5 * MINUTE), id="one burst"),
        pytest.param(burst(2 * DAY, 20_000, HOUR) + spread_evenly(5_000), id="a burst in a trickle"),
        pytest.param(
            [one for day in range(30) for one in burst(day * DAY + 8 * HOUR, 5_000, 10 * HOUR)], id="office hours"
        ),
        pytest.param([one for day in range(25) for one in burst(day * DAY, 900, MINUTE)], id="many small bursts"),
    ],
)
async def test_the_estimate_is_near_and_the_work_is_bounded(moments: list[int]) -> None:
    table = Table(moments)

    parts = await table.count()

    estimate = sum(one.estimate for one in parts)
    assert len(moments) * 0.7 <= estimate <= len(moments) * 1.6
    assert table.probes <= PROBES


async def test_parts_cover_the_time_without_gaps_and_overlaps() -> None:
    parts = await Table(spread_evenly(50_000)).count()

    ranges = sorted((one.range.first, one.range.last) for one in parts)

    assert (ranges[0][0], ranges[-1][1]) == (START, START + MONTH - 1)
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ranges))


async def test_more_rows_in_a_millisecond_than_a_probe_counts_end_the_search() -> None:
    table = Table([START + 5] * 5_000)

    parts = await count_ranges(
        table.probe, [SampledRange(key="rows", first=START, last=Millis(START + 63))], max_probes=PROBES
    )

    assert sum(one.estimate for one in parts) == LIMIT + 1
    assert table.probes < 20


async def test_every_range_is_probed_even_if_there_are_more_than_probes() -> None:
    table = Table(spread_evenly(10_000))
    ranges = [
        SampledRange(key=day, first=Millis(START + day * DAY), last=Millis(START + day * DAY)) for day in range(30)
    ]

    parts = await count_ranges(table.probe, ranges, max_probes=10)

    assert {one.range.key for one in parts} == set(range(30))
