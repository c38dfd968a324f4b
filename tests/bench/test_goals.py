"""Comparing measured values with the goals."""

import pytest

from bench.figures import Figure, summarize
from bench.goals import Verdict, judge


def judge_only(text: str, *figures: Figure) -> Verdict:
    (verdict,) = [one for one in judge(summarize(figures)) if text in one.goal.text]
    return verdict


@pytest.mark.parametrize(("milliseconds", "word"), [(0.25, "met"), (0.27, "met, narrow"), (0.3, "missed")])
def test_a_trigger_costs_at_most_a_fiftieth_of_the_baselines(milliseconds: float, word: str) -> None:
    verdict = judge_only(
        "trigger on SQLite: times less CPU",
        Figure("trigger", "sqlite", "cpu_ms", milliseconds, "ms"),
        Figure("trigger", "baseline", "cpu_ms", 14.0, "ms"),
    )

    assert verdict.word == word


def test_the_median_of_the_rounds_is_judged() -> None:
    values = [10.0, 20.0, 900.0]

    verdict = judge_only(
        "half load on PostgreSQL: median", *(Figure("latency", "postgres", "half_p50_ms", one, "ms") for one in values)
    )

    assert (verdict.value, verdict.word) == (20.0, "met")


def test_a_rate_must_reach_its_limit() -> None:
    verdict = judge_only(
        "PostgreSQL: times the baseline's rate",
        Figure("trigger", "postgres", "per_second", 2900.0, "1/s"),
        Figure("trigger", "baseline", "per_second", 100.0, "1/s"),
    )

    assert (verdict.value, verdict.word) == (29.0, "missed")


def test_a_goal_without_a_measured_value_is_not_measured() -> None:
    verdict = judge_only("trigger on SQLite: times less CPU", Figure("trigger", "sqlite", "cpu_ms", 0.2, "ms"))

    assert (verdict.value, verdict.word) == (None, "not measured")


def test_the_slowest_page_decides() -> None:
    verdict = judge_only(
        "Lists at a million messages",
        Figure("pages", "sqlite", "feed: p95 ratio", 1.1, "x"),
        Figure("pages", "postgres", "messages: p95 ratio", 2.5, "x"),
    )

    assert (verdict.value, verdict.word) == (2.5, "missed")


@pytest.mark.parametrize(("rate", "word"), [(3800.0, "met"), (3500.0, "met, narrow"), (3300.0, "missed")])
def test_four_workers_are_compared_with_one(rate: float, word: str) -> None:
    verdict = judge_only(
        "Fan-out: times the rate of one worker with 4",
        Figure("fan-out, 1 worker", "postgres", "per_second", 1000.0, "1/s"),
        Figure("fan-out, 4 workers", "postgres", "per_second", rate, "1/s"),
    )

    assert (verdict.value, verdict.word) == (rate / 1000, word)


def test_twenty_environments_are_compared_with_one_in_each_round() -> None:
    rounds = [(0.4, 0.5), (0.2, 0.3), (0.1, 0.11)]

    verdict = judge_only(
        "20 environments, bulk on SQLite",
        *(Figure("20 environments, bulk", "sqlite", "alone_cpu_ms", alone, "ms") for alone, _ in rounds),
        *(Figure("20 environments, bulk", "sqlite", "shared_cpu_ms", shared, "ms") for _, shared in rounds),
    )

    assert verdict.value == pytest.approx(1.25)
    assert verdict.word == "met, narrow"


@pytest.mark.parametrize(("broken", "word"), [(0.0, "met"), (1.0, "missed")])
def test_a_limit_of_zero_is_never_narrow(broken: float, word: str) -> None:
    verdict = judge_only("Lost or repeated work", Figure("membership", "postgres", "broken_rules", broken, ""))

    assert verdict.word == word


@pytest.mark.parametrize(("milliseconds", "word"), [(26.9, "met"), (27.1, "met, narrow"), (30.1, "missed")])
def test_a_value_within_a_tenth_of_an_upper_limit_is_narrow(milliseconds: float, word: str) -> None:
    verdict = judge_only("half load on SQLite: median", Figure("latency", "sqlite", "half_p50_ms", milliseconds, "ms"))

    assert verdict.word == word
