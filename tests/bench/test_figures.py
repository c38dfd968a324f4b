"""Summaries of measured values."""

import pytest

from bench.figures import Figure, Key, percentile, summarize


def make_figure(value: float, *, system: str = "sqlite", name: str = "cpu_ms") -> Figure:
    return Figure("trigger", system, name, value, "ms")


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]

    assert (percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1.0)) == (50.0, 99.0, 100.0)


def test_a_percentile_of_one_value_is_that_value() -> None:
    assert percentile([7.0], 0.01) == percentile([7.0], 0.99) == 7.0


def test_a_percentile_of_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_summary_has_the_median_and_the_spread_of_the_rounds() -> None:
    rounds = [make_figure(value) for value in (3.0, 1.0, 2.0)]

    summary = summarize(rounds)[Key("trigger", "sqlite", "cpu_ms")]

    assert (summary.median, summary.lowest, summary.highest, summary.unit) == (2.0, 1.0, 3.0, "ms")


def test_figures_of_other_systems_and_names_are_kept_apart() -> None:
    figures = [make_figure(1.0), make_figure(2.0, system="postgres"), make_figure(3.0, name="per_second")]

    assert [one.median for one in summarize(figures).values()] == [1.0, 2.0, 3.0]
