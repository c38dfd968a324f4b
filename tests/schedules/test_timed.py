"""Digests at fixed times."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.clock import Millis, iso_text
from clarion.schedules import MAX_AHEAD, Unit, next_timed
from clarion.schedules.timed import WEEKDAYS
from clarion.schedules.zones import local_time, zone_of
from tests.schedules.test_spans import MOMENTS, ZONES, at


def next_text(timed: dict[str, Any], amount: int, unit: Unit, after: str, zone: str = "UTC") -> str:
    return iso_text(next_timed(timed, amount, unit, at(after), zone))


@pytest.mark.parametrize(
    ("timed", "amount", "unit", "expected"),
    [
        ({}, 5, Unit.MINUTES, "2026-07-15T12:05:00.000Z"),
        ({"atTime": "18:30"}, 1, Unit.DAYS, "2026-07-15T18:30:00.000Z"),
        ({"atTime": "09:00"}, 1, Unit.DAYS, "2026-07-16T09:00:00.000Z"),
        ({"atTime": "09:00"}, 3, Unit.DAYS, "2026-07-18T09:00:00.000Z"),
        ({"atTime": "12:00"}, 1, Unit.DAYS, "2026-07-16T12:00:00.000Z"),
        ({}, 1, Unit.DAYS, "2026-07-16T12:00:00.000Z"),
        ({"atTime": "nonsense"}, 1, Unit.DAYS, "2026-07-16T12:00:00.000Z"),
        ({"atTime": "09:00", "weekDays": ["friday", "monday"]}, 1, Unit.WEEKS, "2026-07-17T09:00:00.000Z"),
        ({"atTime": "09:00", "weekDays": ["monday"]}, 2, Unit.WEEKS, "2026-07-27T09:00:00.000Z"),
        ({"atTime": "09:00"}, 1, Unit.WEEKS, "2026-07-22T09:00:00.000Z"),
        ({"atTime": "09:00", "monthDays": ["1", 20]}, 1, Unit.MONTHS, "2026-07-20T09:00:00.000Z"),
        ({"atTime": "09:00", "monthDays": ["1"]}, 2, Unit.MONTHS, "2026-09-01T09:00:00.000Z"),
        ({"atTime": "09:00", "monthDays": ["31"]}, 7, Unit.MONTHS, "2026-07-31T09:00:00.000Z"),
        ({"atTime": "09:00"}, 1, Unit.MONTHS, "2026-08-15T09:00:00.000Z"),
        ({"ordinal": "last", "ordinalValue": "day", "atTime": "09:00"}, 1, Unit.MONTHS, "2026-07-31T09:00:00.000Z"),
        ({"ordinal": "1", "ordinalValue": "weekday", "atTime": "09:00"}, 1, Unit.MONTHS, "2026-08-03T09:00:00.000Z"),
        ({"ordinal": "2", "ordinalValue": "weekend", "atTime": "09:00"}, 1, Unit.MONTHS, "2026-08-02T09:00:00.000Z"),
        ({"ordinal": "5", "ordinalValue": "friday", "atTime": "09:00"}, 1, Unit.MONTHS, "2026-07-31T09:00:00.000Z"),
        ({"ordinal": "5", "ordinalValue": "tuesday", "atTime": "09:00"}, 1, Unit.MONTHS, "2026-09-29T09:00:00.000Z"),
        (
            {"monthlyType": "each", "ordinal": "1", "monthDays": [16], "atTime": "09:00"},
            1,
            Unit.MONTHS,
            "2026-07-16T09:00:00.000Z",
        ),
    ],
)
def test_the_next_time_follows_the_rule(timed: dict[str, Any], amount: int, unit: Unit, expected: str) -> None:
    assert next_text(timed, amount, unit, "2026-07-15T12:00:00Z") == expected


def test_a_day_that_a_month_lacks_is_its_last() -> None:
    assert next_text({"monthDays": ["31"], "atTime": "09:00"}, 1, Unit.MONTHS, "2026-02-01T00:00:00Z") == (
        "2026-02-28T09:00:00.000Z"
    )


def test_times_are_those_of_the_person() -> None:
    found = next_text({"atTime": "09:00"}, 1, Unit.DAYS, "2026-07-15T12:00:00Z", "America/New_York")

    assert found == "2026-07-15T13:00:00.000Z"


TIMED = st.fixed_dictionaries(
    {},
    optional={
        "atTime": st.sampled_from(["00:00", "02:30", "9:05", "23:59", "25:00", ""]),
        "weekDays": st.lists(st.sampled_from([*WEEKDAYS, "someday"])),
        "monthDays": st.lists(st.sampled_from(["1", "29", "31", 30, "x", "0"])),
        "ordinal": st.sampled_from(["1", "2", "3", "4", "5", "last", "x"]),
        "ordinalValue": st.sampled_from(["day", "weekday", "weekend", *WEEKDAYS, "x"]),
        "monthlyType": st.sampled_from(["each", "on"]),
    },
)


@settings(deadline=None)
@given(TIMED, st.integers(0, 13), st.sampled_from(Unit), MOMENTS, st.sampled_from(ZONES))
def test_any_rule_has_a_next_time(timed: dict[str, Any], amount: int, unit: Unit, after: Millis, zone: str) -> None:
    assert after < next_timed(timed, amount, unit, after, zone) <= after + MAX_AHEAD


@settings(deadline=None)
@given(st.sets(st.sampled_from(WEEKDAYS), min_size=1), st.integers(1, 4), MOMENTS, st.sampled_from(ZONES))
def test_weekly_times_come_on_the_named_days_within_the_interval(
    days: set[str], amount: int, after: Millis, zone: str
) -> None:
    found = next_timed({"weekDays": sorted(days), "atTime": "12:00"}, amount, Unit.WEEKS, after, zone)

    local = local_time(found, zone_of(zone))
    assert WEEKDAYS[local.weekday()] in days
    assert (local.hour, local.minute) == (12, 0)
    assert (local - local_time(after, zone_of(zone))).days <= 7 * (amount + 1)
