"""Counts of very many rows with time-ordered ids, in bounded work.

A probe counts the rows of a range of time up to a limit. A range with more is divided, the largest estimate first,
until all ranges are counted or the probes are used up; what is left is extrapolated from the density of the rows that
were counted. Few rows are counted exactly, and steady flows and some bursts come out well; very many bursts, each with
more rows than a probe counts, are overestimated.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from heapq import heappop, heappush
from math import sqrt
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis


class SampledRange(Struct, frozen=True, kw_only=True):
    """The rows of `key` whose ids are of a time, both ends included."""

    key: Hashable
    first: Millis
    last: Millis


class Counted(Struct, frozen=True, kw_only=True):
    """How many rows a range has."""

    range: SampledRange
    count: int
    reached: tuple[Millis, Millis] | None = None
    """The times of the first and of the last row that was counted, if there are more; None: these are all."""

    @property
    def estimate(self) -> float:
        if self.reached is None:
            return self.count
        first, last = self.reached
        return max(self.count + 1, self.count * (self.range.last - first + 1) / (last - first + 1))


Probe: TypeAlias = Callable[[SampledRange], Awaitable[Counted]]


async def count_ranges(probe: Probe, ranges: Iterable[SampledRange], *, max_probes: int) -> list[Counted]:
    """Count the rows of ranges; returns parts that cover them. Each range is probed, even if they are too many."""
    guesses = _Guesses()
    for one in ranges:
        guesses.add(await probe(one))
        max_probes -= 1
    while max_probes > 1 and (widest := guesses.pop_largest()) is not None:
        older, newer = _divide(widest)
        # If the rows that were counted are all in the older part, it has been probed.
        is_known = widest.reached is not None and widest.reached[1] <= older.last
        guesses.add(replace(widest, range=older) if is_known else await probe(older))
        guesses.add(await probe(newer))
        max_probes -= 1 if is_known else 2
    return guesses.parts


class _Guesses:
    """Counted ranges; those that can be divided are ordered by their estimates."""

    def __init__(self) -> None:
        self._final: list[Counted] = []
        self._divisible: list[tuple[float, int, Counted]] = []
        self._number = 0

    @property
    def parts(self) -> list[Counted]:
        return self._final + [one for _, _, one in self._divisible]

    def add(self, counted: Counted) -> None:
        if counted.reached is None or counted.reached[0] >= counted.range.last:
            self._final.append(counted)
        else:
            self._number += 1
            heappush(self._divisible, (-counted.estimate, self._number, counted))

    def pop_largest(self) -> Counted | None:
        return heappop(self._divisible)[2] if self._divisible else None


def _divide(counted: Counted) -> tuple[SampledRange, SampledRange]:
    """Divide between the rows that were counted and the end, in the middle by orders of magnitude.

    So the end of a short burst in a long range is found in few steps.
    """
    whole, (first, last) = counted.range, counted.reached or (counted.range.first, counted.range.first)
    middle = Millis(min(whole.last - 1, first + int(sqrt((last - first + 1) * (whole.last - first)))))
    older = SampledRange(key=whole.key, first=whole.first, last=middle)
    return older, SampledRange(key=whole.key, first=Millis(middle + 1), last=whole.last)
