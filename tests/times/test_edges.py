"""Spans and expressions at the end of what can be computed."""

import math

import pytest

from clarion.clock import DAY, Millis, iso_text
from clarion.times import MAX_AHEAD, Unit, check_cron, end_of, next_cron

NOW = Millis(1_784_116_800_000)
LAST = NOW + MAX_AHEAD


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("amount", [math.inf, -math.inf, math.nan, 1e300, 1e9])
def test_spans_without_an_end_are_the_longest_that_there_are(unit: Unit, amount: float) -> None:
    if amount == 1e9 and unit is Unit.SECONDS:
        amount = 1e10
    assert end_of(NOW, amount, unit, "Europe/Berlin") == LAST


@pytest.mark.parametrize(
    ("amount", "unit", "days"),
    [
        (522, Unit.DAYS, 522),
        (524, Unit.DAYS, 524),
        (3659.5, Unit.DAYS, 3659.5),
        (522, Unit.WEEKS, 3654),
        (522.5, Unit.WEEKS, 3657.5),
        (87_800, Unit.HOURS, 87_800 / 24),
    ],
)
def test_spans_that_are_long_but_not_too_long_are_exact(amount: float, unit: Unit, days: float) -> None:
    assert end_of(NOW, amount, unit, "UTC") == NOW + days * DAY


def test_ten_years_in_months_are_ten_years() -> None:
    assert iso_text(end_of(NOW, 120, Unit.MONTHS, "UTC")) == "2036-07-15T12:00:00.000Z"


@pytest.mark.parametrize(("amount", "unit"), [(3661, Unit.DAYS), (523, Unit.WEEKS), (121, Unit.MONTHS)])
def test_spans_that_are_too_long_end_with_the_longest(amount: float, unit: Unit) -> None:
    assert end_of(NOW, amount, unit, "UTC") == LAST


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("0 9 * *", "five fields"),
        ("61 9 * * *", "is not a valid cron expression"),
        ("0 0 */15 2 1#5", "never comes"),
    ],
)
def test_what_is_wrong_with_an_expression_is_said(expression: str, reason: str) -> None:
    assert reason in (check_cron(expression) or "")


def test_a_date_that_never_comes_is_as_far_ahead_as_can_be() -> None:
    assert next_cron("0 0 */15 2 1#5", NOW, "Europe/Berlin") == LAST
