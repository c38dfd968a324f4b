"""Lengths of time that values tell."""

from typing import Any

import pytest

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.times import Unit, find_end, find_length
from clarion.times.durations import parse_duration

START = Millis(1_700_000_000_000)


@pytest.mark.parametrize(
    ("value", "length"),
    [
        ("PT30M", 30 * MINUTE),
        ("PT1H30M", 90 * MINUTE),
        ("P1DT12H", 36 * HOUR),
        ("P2W", 14 * DAY),
        ("PT0.5S", 500),
        ("PT0S", 0),
        (" PT10S ", 10 * SECOND),
        ({"amount": 2, "unit": "hours"}, 2 * HOUR),
        ({"amount": 0.5, "unit": "hours", "more": 1}, 30 * MINUTE),
        ({"amount": 0, "unit": "days"}, 0),
    ],
)
def test_a_length_ends_so_long_after_its_start(value: Any, length: int) -> None:
    assert find_end(START, value, "UTC") == START + length


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "P", "PT", "P1DT", "1 hour", "pt1h", "P-1D", "PT1.5H", "P1M2Y", "P" + "9" * 30 + "D", 5, True, []),
        *({"amount": 5}, {"amount": "5", "unit": "hours"}, {"amount": True, "unit": "hours"}, {"unit": "hours"}),
        *({"amount": -1, "unit": "hours"}, {"amount": 1, "unit": "years"}, {"amount": None, "unit": "hours"}),
    ],
)
def test_anything_else_is_no_length(value: Any) -> None:
    assert find_end(START, value, "UTC") is None


def test_the_parts_of_a_duration_come_from_the_longest_to_the_shortest() -> None:
    assert parse_duration("P1Y2M3W4DT5H6M7S") == [
        (14, Unit.MONTHS),
        (3, Unit.WEEKS),
        (4, Unit.DAYS),
        (5, Unit.HOURS),
        (6, Unit.MINUTES),
        (7, Unit.SECONDS),
    ]


def test_days_of_a_duration_follow_the_time_zone() -> None:
    # The night from the 29th to the 30th of March 2025 has an hour less.
    start = Millis(1_743_246_000_000)

    assert find_end(start, "P1D", "Europe/Berlin") == start + 23 * HOUR
    assert find_end(start, "PT24H", "Europe/Berlin") == start + 24 * HOUR


def test_a_length_has_an_amount_and_a_unit() -> None:
    assert find_length({"amount": 3, "unit": "days"}) == (3, Unit.DAYS)
    assert find_length("PT3M") is None
