"""Measured values, and their summary over several rounds."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct


class Figure(Struct, frozen=True):
    """One value of one round: `cpu_ms` of the workload `trigger` on the system `sqlite`."""

    workload: str
    system: str
    name: str
    value: float
    unit: str


class Key(NamedTuple):
    """Identifies what a figure measures."""

    workload: str
    system: str
    name: str


class Summary(Struct, frozen=True):
    """The values of all rounds."""

    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def lowest(self) -> float:
        return min(self.values)

    @property
    def highest(self) -> float:
        return max(self.values)


def summarize(figures: Iterable[Figure]) -> dict[Key, Summary]:
    """Group the figures of all rounds by what they measure, in order of first appearance."""
    values: dict[Key, list[float]] = {}
    units: dict[Key, str] = {}
    for one in figures:
        key = Key(one.workload, one.system, one.name)
        values.setdefault(key, []).append(one.value)
        units[key] = one.unit
    return {key: Summary(units[key], tuple(found)) for key, found in values.items()}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("there is no percentile of nothing")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
