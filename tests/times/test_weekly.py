"""Weekly schedules."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, MINUTE, Millis, iso_text
from clarion.times import is_within, next_within
from clarion.times.weekly import WEEKDAYS
from tests.times.test_spans import MOMENTS, ZONES, at


def make_day(*hours: tuple[str, str], enabled: bool = True) -> dict[str, Any]:
    return {"isEnabled": enabled, "hours": [{"start": start, "end": end} for start, end in hours]}


def make_schedule(enabled: bool = True, **days: dict[str, Any]) -> dict[str, Any]:
    return {"isEnabled": enabled, "weeklySchedule": days}


OFFICE = make_schedule(monday=make_day(("09:00 AM", "05:00 PM")), tuesday=make_day(("09:00 AM", "12:00 PM")))
NIGHTS = make_schedule(monday=make_day(("10:00 PM", "06:00 AM")), tuesday=make_day(enabled=False))


@pytest.mark.parametrize(
    "schedule", [None, {}, {"isEnabled": False}, make_schedule(enabled=False), {"isEnabled": True}]
)
def test_without_an_enabled_schedule_every_moment_is_welcome(schedule: dict[str, Any] | None) -> None:
    assert is_within(schedule, at("2026-07-13T03:00:00Z"), "UTC")
    assert next_within(schedule, at("2026-07-13T03:00:00Z"), "UTC") == at("2026-07-13T03:00:00Z")


@pytest.mark.parametrize(
    ("schedule", "moment", "expected"),
    [
        (OFFICE, "2026-07-13T08:59:59Z", False),
        (OFFICE, "2026-07-13T09:00:00Z", True),
        (OFFICE, "2026-07-13T16:59:59Z", True),
        (OFFICE, "2026-07-13T17:00:00Z", False),
        (OFFICE, "2026-07-14T12:00:00Z", False),
        (OFFICE, "2026-07-15T10:00:00Z", False),
        (NIGHTS, "2026-07-13T21:00:00Z", False),
        (NIGHTS, "2026-07-13T23:00:00Z", True),
        (NIGHTS, "2026-07-14T05:59:00Z", True),
        (NIGHTS, "2026-07-14T06:00:00Z", False),
        (NIGHTS, "2026-07-13T05:00:00Z", False),
        (make_schedule(monday={"isEnabled": True}), "2026-07-13T23:59:59Z", True),
        (make_schedule(monday=make_day(("12:00 AM", "11:59 PM"))), "2026-07-13T23:59:30Z", True),
        (make_schedule(monday=make_day(("12:00 AM", "12:00 AM"))), "2026-07-13T23:59:30Z", True),
        (make_schedule(monday=make_day(("nine", "five"))), "2026-07-13T10:00:00Z", False),
    ],
)
def test_a_moment_is_welcome_within_the_hours_of_its_day(schedule: dict[str, Any], moment: str, expected: bool) -> None:
    assert is_within(schedule, at(moment), "UTC") is expected


def test_hours_are_those_of_the_person() -> None:
    assert is_within(OFFICE, at("2026-07-13T13:00:00Z"), "America/New_York")
    assert not is_within(OFFICE, at("2026-07-13T12:59:00Z"), "America/New_York")


@pytest.mark.parametrize(
    ("schedule", "moment", "expected"),
    [
        (OFFICE, "2026-07-13T10:00:00Z", "2026-07-13T10:00:00.000Z"),
        (OFFICE, "2026-07-13T08:00:00Z", "2026-07-13T09:00:00.000Z"),
        (OFFICE, "2026-07-13T18:00:00Z", "2026-07-14T09:00:00.000Z"),
        (OFFICE, "2026-07-14T13:00:00Z", "2026-07-20T09:00:00.000Z"),
        (NIGHTS, "2026-07-14T06:00:00Z", "2026-07-20T22:00:00.000Z"),
    ],
)
def test_the_next_welcome_moment_is_now_or_the_next_start(schedule: dict[str, Any], moment: str, expected: str) -> None:
    found = next_within(schedule, at(moment), "UTC")

    assert found is not None
    assert iso_text(found) == expected


def test_a_week_without_hours_has_no_welcome_moment() -> None:
    assert next_within(make_schedule(monday=make_day(enabled=False)), at("2026-07-13T10:00:00Z"), "UTC") is None


TIMES = st.sampled_from(["12:00 AM", "01:30 AM", "02:30 AM", "09:00 AM", "12:00 PM", "05:45 PM", "11:59 PM"])
DAYS = st.fixed_dictionaries(
    {"isEnabled": st.booleans()},
    optional={"hours": st.lists(st.fixed_dictionaries({"start": TIMES, "end": TIMES}), max_size=3)},
)
WEEKS = st.dictionaries(st.sampled_from(WEEKDAYS), DAYS).map(lambda week: {"isEnabled": True, "weeklySchedule": week})


# Half of the moments are within a day of a clock change.
CHANGES = [
    at("2026-03-29T01:00:00Z"),
    at("2026-10-25T01:00:00Z"),
    at("2026-03-08T07:00:00Z"),
    at("2026-11-01T06:00:00Z"),
]
NEAR = st.builds(lambda change, by: Millis(change + by), st.sampled_from(CHANGES), st.integers(-DAY, DAY))


@settings(deadline=None, max_examples=300)
@given(WEEKS, MOMENTS | NEAR, st.sampled_from(ZONES))
def test_the_next_welcome_moment_is_welcome_and_none_before_it_is(
    schedule: dict[str, Any], moment: Millis, zone: str
) -> None:
    found = next_within(schedule, moment, zone)

    if found is None:
        assert not any(is_within(schedule, Millis(moment + hour * 37 * MINUTE), zone) for hour in range(250))
    else:
        assert found >= moment
        assert is_within(schedule, found, zone)
        assert found == moment or not is_within(schedule, Millis(found - 1), zone)
        steps = range(0, min(found - moment, 400 * 23 * MINUTE), 23 * MINUTE)
        assert found == moment or not any(is_within(schedule, Millis(moment + step), zone) for step in steps)
