"""Spans and expressions at the end of what can be computed."""

import math

import pytest

from clarion.clock import Millis
from clarion.schedules import MAX_AHEAD, Unit, check_cron, end_of, next_cron

NOW = Millis(1_784_116_800_000)
LAST = NOW + MAX_AHEAD


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("amount", [math.inf, -math.inf, math.nan, 1e300, 1e9])
def test_spans_without_an_end_are_the_longest_that_there_are(unit: Unit, amount: float) -> None:
    if amount == 1e9 and unit is Unit.SECONDS:
        amount = 1e10
    assert end_of(NOW, amount, unit, "Europe/Berlin") == LAST


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
