"""Rates of completed backlogs."""

import pytest

from bench.workloads.scaling import rate_of, workload_name


def test_the_first_tenth_does_not_count() -> None:
    slow_start = [0, *range(1000, 1090, 10)]

    assert rate_of(slow_start) == pytest.approx(100)


def test_a_slow_end_counts() -> None:
    assert rate_of([0, 0, 1000, 4000]) < 1


def test_one_worker_is_singular() -> None:
    assert [workload_name("backlog", workers) for workers in (1, 4)] == ["backlog, 1 worker", "backlog, 4 workers"]
