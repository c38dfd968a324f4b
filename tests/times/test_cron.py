"""Cron expressions in a time zone."""

from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, Millis, iso_text
from clarion.times import MAX_AHEAD, check_cron, next_cron
from clarion.times.spans import has_day, local_time, zone_of
from tests.times.test_spans import MOMENTS, ZONES, at


@pytest.mark.parametrize(
    "expression",
    [
        "0 9 * * *",
        "*/15 * * * *",
        "0 9 * * MON-FRI",
        "0 0 29 2 *",
        "@daily",
        "0 0 L * *",
        "0 9 * * 1#2",
        " 0  9 * * * ",
    ],
)
def test_common_expressions_are_accepted(expression: str) -> None:
    assert check_cron(expression) is None


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "x",
        "0 9 * *",
        "0 0 9 * * *",
        "60 * * * *",
        "0 9 31 2 *",
        "*/0 * * * *",
        "9" * 400,
        "0 " * 5000,
        "@never",
        "a b c d e",
    ],
)
def test_what_is_no_expression_is_refused_with_a_reason(expression: str) -> None:
    assert check_cron(expression)


def test_the_length_of_an_expression_is_limited() -> None:
    assert check_cron("0 9 * * *".ljust(200)) is None
    assert check_cron("0 9 * * *".ljust(201))


@given(st.text(max_size=30) | st.from_regex(r"[0-9*/,\-#L]{1,6}( [0-9*/,\-#LW]{1,6}){4}", fullmatch=True))
def test_checking_never_fails_and_what_passes_has_a_next_moment(expression: str) -> None:
    if check_cron(expression) is None:
        assert next_cron(expression, at("2026-01-01T00:00:00Z"), "Europe/London") > at("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("expression", "after", "zone", "expected"),
    [
        ("0 9 * * *", "2026-01-01T08:59:59.999Z", "UTC", "2026-01-01T09:00:00.000Z"),
        ("0 9 * * *", "2026-01-01T09:00:00.000Z", "UTC", "2026-01-02T09:00:00.000Z"),
        ("0 9 * * *", "2026-01-01T08:00:00.000Z", "America/New_York", "2026-01-01T14:00:00.000Z"),
        ("30 1 * * *", "2026-03-29T00:00:00Z", "Europe/London", "2026-03-29T01:30:00.000Z"),
        ("30 1 * * *", "2026-10-25T00:30:00Z", "Europe/London", "2026-10-26T01:30:00.000Z"),
        ("45 1 * * *", "2026-10-25T01:10:00Z", "Europe/London", "2026-10-26T01:45:00.000Z"),
        ("*/30 * * * *", "2026-10-25T00:30:00Z", "Europe/London", "2026-10-25T01:00:00.000Z"),
        ("*/30 1 * * *", "2026-10-25T00:30:00Z", "Europe/London", "2026-10-25T01:00:00.000Z"),
        ("0 9 * * *", "2011-12-29T20:00:00Z", "Pacific/Apia", "2011-12-30T19:00:00.000Z"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "UTC", "2028-02-29T00:00:00.000Z"),
        ("0 9 * * *", "2026-01-01T00:00:00Z", "Nowhere/Land", "2026-01-01T09:00:00.000Z"),
        ("0 0 * * 0", "2026-01-01T00:00:00Z", "Asia/Kathmandu", "2026-01-03T18:15:00.000Z"),
    ],
)
def test_the_next_moment_is_on_the_wall_clock(expression: str, after: str, zone: str, expected: str) -> None:
    assert iso_text(next_cron(expression, at(after), zone)) == expected


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 23), st.integers(0, 59), st.sampled_from(ZONES), st.sampled_from([2009, 2011, 2020, 2026]))
def test_a_daily_time_comes_exactly_once_on_every_day(hour: int, minute: int, zone: str, year: int) -> None:
    where, first = zone_of(zone), date(year, 1, 2)
    moment, found = at(f"{year}-01-01T00:00:00Z"), Counter[date]()
    while len(found) < 3 * 365:
        moment = next_cron(f"{minute} {hour} * * *", moment, zone)
        found[local_time(moment, where).date()] += 1

    days = [first + timedelta(days=ahead) for ahead in range(3 * 365 - 3)]
    assert {day: found[day] for day in days if found[day] != has_day(day, where)} == {}


@settings(deadline=None)
@given(
    st.sampled_from(["*/7 * * * *", "0 * * * *", "30 2 * * *", "0 0 1 * *", "15 1,2,3 * * *", "*/30 0-4 * * *"]),
    MOMENTS,
    st.sampled_from(ZONES),
)
def test_the_next_moment_is_strictly_after_and_none_is_left_out(expression: str, after: Millis, zone: str) -> None:
    found = next_cron(expression, after, zone)

    assert after < found <= after + MAX_AHEAD
    assert next_cron(expression, Millis(found - 1), zone) == found
    assert next_cron(expression, Millis((after + found) // 2), zone) == found


def test_weekdays_in_cron_mean_local_days() -> None:
    found = next_cron("0 1 * * MON", at("2026-06-01T00:00:00Z"), "Asia/Tokyo")

    assert found - at("2026-06-01T00:00:00Z") < 7 * DAY
    assert local_time(found, zone_of("Asia/Tokyo")).weekday() == 0
