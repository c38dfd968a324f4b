"""How soon a rate is back."""

import math

from bench.workloads.membership import longest_silence, rate_between, recovery_seconds
from clarion.jobs.lanes import LANES


def test_a_rate_counts_what_lies_between_two_times() -> None:
    assert rate_between([0, 400, 1000, 1500, 2000], 400, 1500) == 2 / 1.1


def test_a_rate_is_back_when_a_window_reaches_it() -> None:
    one_burst, steady = range(1000, 1500, 10), range(3000, 8000, 10)

    assert recovery_seconds([*one_burst, *steady], 0, 100) == 3


def test_a_rate_that_never_returns_takes_forever() -> None:
    assert recovery_seconds(range(0, 8000, 100), 0, 100) == math.inf


def test_the_lane_that_waits_longest_decides() -> None:
    others = [(moment, lane) for moment in range(0, 9000, 500) for lane in range(1, LANES)]
    waiting = [(0, 0), (6000, 0), (8500, 0)]

    assert longest_silence(sorted([*others, *waiting]), 0, 9000) == 6


def test_a_lane_without_anything_is_silent_all_the_time() -> None:
    arrivals = [(moment, lane) for moment in range(0, 9000, 500) for lane in range(1, LANES)]

    assert longest_silence(arrivals, 0, 9000) == 9
