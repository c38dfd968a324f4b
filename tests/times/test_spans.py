"""The ends of spans of time."""

import calendar
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import HOUR, Millis, find_moment, iso_text
from clarion.times import MAX_AHEAD, Unit, end_of
from clarion.times.spans import local_time, moment_of, zone_of

ZONES = [
    "UTC",
    "Europe/London",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Pacific/Apia",
]
MOMENTS = st.integers(1_262_304_000_000, 2_051_222_400_000).map(Millis)


def at(text: str) -> Millis:
    moment = find_moment(text)
    assert moment is not None
    return moment


@pytest.mark.parametrize(
    ("start", "amount", "unit", "zone", "expected"),
    [
        ("2026-03-28T12:00:00Z", 1, Unit.DAYS, "Europe/London", "2026-03-29T11:00:00.000Z"),
        ("2026-03-28T12:00:00Z", 24, Unit.HOURS, "Europe/London", "2026-03-29T12:00:00.000Z"),
        ("2026-03-28T01:30:00Z", 1, Unit.DAYS, "Europe/London", "2026-03-29T01:30:00.000Z"),
        ("2026-10-24T00:30:00Z", 1, Unit.DAYS, "Europe/London", "2026-10-25T00:30:00.000Z"),
        ("2026-01-31T12:00:00Z", 1, Unit.MONTHS, "UTC", "2026-02-28T12:00:00.000Z"),
        ("2028-01-31T12:00:00Z", 1, Unit.MONTHS, "UTC", "2028-02-29T12:00:00.000Z"),
        ("2028-02-29T12:00:00Z", 12, Unit.MONTHS, "UTC", "2029-02-28T12:00:00.000Z"),
        ("2026-11-30T12:00:00Z", 3, Unit.MONTHS, "UTC", "2027-02-28T12:00:00.000Z"),
        ("2026-03-01T12:00:00.123Z", 2, Unit.WEEKS, "America/New_York", "2026-03-15T11:00:00.123Z"),
        ("2026-04-03T20:00:00Z", 1, Unit.DAYS, "Australia/Lord_Howe", "2026-04-04T20:30:00.000Z"),
        ("2011-12-29T20:00:00Z", 1, Unit.DAYS, "Pacific/Apia", "2011-12-30T20:00:00.000Z"),
        ("2026-03-28T12:00:00Z", 0.5, Unit.DAYS, "UTC", "2026-03-29T00:00:00.000Z"),
        ("2026-03-28T12:00:00Z", 1.5, Unit.WEEKS, "UTC", "2026-04-08T00:00:00.000Z"),
        ("2026-01-31T12:00:00Z", 1.5, Unit.MONTHS, "UTC", "2026-03-15T12:00:00.000Z"),
        ("2026-01-01T00:00:00Z", 90, Unit.SECONDS, "UTC", "2026-01-01T00:01:30.000Z"),
        ("2026-01-01T00:00:00Z", 1, Unit.DAYS, "Nowhere/Land", "2026-01-02T00:00:00.000Z"),
        ("2026-01-01T00:00:00Z", 1, Unit.DAYS, "../etc/passwd", "2026-01-02T00:00:00.000Z"),
        ("2026-01-01T00:00:00Z", 1, Unit.DAYS, None, "2026-01-02T00:00:00.000Z"),
    ],
)
def test_a_span_ends_where_the_calendar_says(start: str, amount: float, unit: Unit, zone: str, expected: str) -> None:
    assert iso_text(end_of(at(start), amount, unit, zone)) == expected


@given(MOMENTS, st.integers(1, 400), st.sampled_from(Unit), st.sampled_from(ZONES))
def test_a_span_ends_after_it_starts(start: Millis, amount: int, unit: Unit, zone: str) -> None:
    assert start < end_of(start, amount, unit, zone) <= start + MAX_AHEAD


@given(MOMENTS, st.integers(1, 50), st.sampled_from([Unit.DAYS, Unit.WEEKS]), st.sampled_from(ZONES))
def test_days_and_weeks_keep_the_time_of_day(start: Millis, amount: int, unit: Unit, zone: str) -> None:
    where = zone_of(zone)
    expected = local_time(start, where) + timedelta(days=amount * (7 if unit is Unit.WEEKS else 1))

    found = local_time(end_of(start, amount, unit, zone), where)

    # Only a time that a clock change skips may differ: by an hour, or by the day that Apia never had.
    assert found == expected or (found > expected and moment_of(expected, where) == moment_of(found, where))


@given(MOMENTS, st.integers(1, 100), st.sampled_from(ZONES))
def test_months_keep_the_day_or_end_with_the_month(start: Millis, amount: int, zone: str) -> None:
    where = zone_of(zone)
    before, found = local_time(start, where), local_time(end_of(start, amount, Unit.MONTHS, zone), where)

    months = (found.year - before.year) * 12 + found.month - before.month
    last = calendar.monthrange(found.year, found.month)[1]
    assert months == amount or found.day == 1
    assert found.day in (before.day, last) or found - before > timedelta(days=1)


@given(MOMENTS, st.integers(1, 10**12), st.sampled_from(Unit))
def test_no_span_reaches_beyond_ten_years(start: Millis, amount: int, unit: Unit) -> None:
    assert end_of(start, amount, unit, "UTC") <= start + MAX_AHEAD


@given(MOMENTS, st.sampled_from(ZONES))
def test_the_wall_clock_is_read_back_as_the_first_moment_that_shows_it(moment: Millis, zone: str) -> None:
    where = zone_of(zone)

    first = moment_of(local_time(moment, where), where)

    assert first in (moment, moment - HOUR, moment - HOUR // 2)
    assert local_time(first, where) == local_time(moment, where)


def test_moments_before_the_epoch_have_wall_clocks_too() -> None:
    assert local_time(Millis(-1), zone_of("UTC")) == datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC).replace(
        tzinfo=None
    )
