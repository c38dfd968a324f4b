"""Recurrence rules in a time zone."""

from datetime import datetime, timedelta
from itertools import islice, takewhile

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR, MINUTE, Millis, iso_text
from clarion.times import check_recurrence, next_of_span, next_recurrence, parse_recurrence
from clarion.times.spans import local_time, zone_of
from tests.times.test_spans import at

NINE = datetime.fromisoformat("2026-01-05T09:00")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def list_next(text: str, after: Millis, zone: str, count: int = 5, start: datetime = NINE) -> list[str]:
    found = []
    for _ in range(count):
        following = next_recurrence(parse_recurrence(text), start, after, zone)
        if following is None:
            break
        after = following
        found.append(iso_text(following)[:16])
    return found


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY",
        "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=30",
        "freq=monthly;byday=-1fr",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=HOURLY;INTERVAL=36",
        "FREQ=MINUTELY;INTERVAL=90;COUNT=10",
    ],
)
def test_common_rules_are_accepted(text: str) -> None:
    assert check_recurrence(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must begin with a FREQ"),
        ("FREQ=SECONDLY", "one of MINUTELY, HOURLY, DAILY"),
        ("FREQ=DAILY;BYSECOND=1", "'BYSECOND', which is not supported"),
        ("FREQ=DAILY;UNTIL=20260101", "the field `until`"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ twice"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL=0, which must be 1 to 1000"),
        ("FREQ=DAILY;COUNT=100000", "must be 1 to 1000"),
        ("FREQ=DAILY;BYHOUR=24", "must be 0 to 23"),
        ("FREQ=DAILY;BYHOUR=x", "must be 0 to 23"),
        ("FREQ=DAILY;BYMONTHDAY=0", "1 to 31, or -31 to -1 from the end"),
        ("FREQ=DAILY;BYDAY=1MO", "must be one of MO"),
        ("FREQ=MONTHLY;BYDAY=6MO", "numbered such as 1MO"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "FREQ=WEEKLY does not take"),
        ("FREQ=HOURLY;BYMINUTE=30", "use FREQ=DAILY with BYHOUR"),
        ("FREQ=MONTHLY;BYSETPOS=1", "needs another BY part"),
        ("FREQ=WEEKLY;WKST=XX", "WKST=XX"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never comes"),
        ("FREQ=YEARLY;BYDAY=MO;BYSETPOS=366", "never comes"),
        ("FREQ=DAILY;" + "X" * 500, "at most 500 characters"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    assert problem in (check_recurrence(text) or "")


def test_a_time_that_the_clocks_skip_moves_forward() -> None:
    rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30"

    assert list_next(rule, at("2026-03-28T00:00Z"), "Europe/Berlin", 3) == [
        "2026-03-28T01:30",
        "2026-03-29T01:30",  # 03:30 there
        "2026-03-30T00:30",
    ]


def test_times_that_move_keep_their_order_and_come_once() -> None:
    rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30"

    assert list_next(rule, at("2026-03-29T00:00Z"), "Europe/Berlin", 3) == [
        "2026-03-29T01:00",
        "2026-03-29T01:30",
        "2026-03-30T00:00",
    ]


def test_of_a_time_that_comes_twice_the_first_counts() -> None:
    rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30"

    assert list_next(rule, at("2026-10-24T12:00Z"), "Europe/Berlin", 2) == ["2026-10-25T00:30", "2026-10-26T01:30"]


def test_zones_of_half_and_quarter_hours_and_with_changes_of_half_an_hour() -> None:
    rule = "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"

    assert list_next(rule, at("2026-06-01T00:00Z"), "Asia/Kathmandu", 1) == ["2026-06-01T03:15"]
    assert list_next(rule, at("2026-06-01T00:00Z"), "Asia/Kolkata", 1) == ["2026-06-01T03:30"]
    # Lord Howe changes its clocks by half an hour, on 5 April and on 4 October.
    assert list_next(rule, at("2026-04-03T12:00Z"), "Australia/Lord_Howe", 3) == [
        "2026-04-03T22:00",
        "2026-04-04T22:30",
        "2026-04-05T22:30",
    ]


def test_what_the_rule_leaves_open_follows_from_the_start() -> None:
    start = datetime.fromisoformat("2026-01-31T08:15:40")

    assert list_next("FREQ=MONTHLY", at("2026-01-01T00:00Z"), "UTC", 3, start) == [
        "2026-01-31T08:15",
        "2026-03-31T08:15",
        "2026-05-31T08:15",
    ]


def test_a_count_ends_the_rule() -> None:
    assert list_next("FREQ=WEEKLY;COUNT=3", at("2026-01-01T00:00Z"), "UTC", 9) == [
        "2026-01-05T09:00",
        "2026-01-12T09:00",
        "2026-01-19T09:00",
    ]


def test_hours_and_minutes_are_counted_from_the_start_whatever_the_clocks_say() -> None:
    rule, start = parse_recurrence("FREQ=HOURLY;INTERVAL=36;COUNT=3"), at("2026-03-28T00:00Z")

    first = next_of_span(rule, start, Millis(start - DAY))
    second = next_of_span(rule, start, Millis(start + MINUTE))
    last = next_of_span(rule, start, Millis(start + 36 * HOUR))

    assert (first, second, last) == (start, start + 36 * HOUR, start + 72 * HOUR)
    assert next_of_span(rule, start, Millis(start + 72 * HOUR)) is None


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Rules that both implementations know."""
    frequency = draw(st.sampled_from(("DAILY", "WEEKLY", "MONTHLY", "YEARLY")))
    parts = {"FREQ": frequency, "INTERVAL": str(draw(st.integers(1, 6)))}

    def add(name: str, members: st.SearchStrategy[str]) -> None:
        if draw(st.booleans()):
            parts[name] = ",".join(draw(st.lists(members, min_size=1, max_size=3, unique=True)))

    add("BYMONTH", st.integers(1, 12).map(str))
    if frequency != "WEEKLY":
        add("BYMONTHDAY", st.integers(-31, 31).filter(bool).map(str))
    # The other implementation does not take numbered days together with others.
    number = draw(st.sampled_from(("", "1", "2", "5", "-1", "-5"))) if frequency in ("MONTHLY", "YEARLY") else ""
    add("BYDAY", st.sampled_from(DAYS).map(lambda day: f"{number}{day}"))
    add("BYHOUR", st.integers(0, 23).map(str))
    add("BYMINUTE", st.integers(0, 59).map(str))
    # Of the week of the start, the other implementation counts positions from the start.
    if len(parts) > 2 and frequency != "WEEKLY":
        add("BYSETPOS", st.sampled_from(("1", "2", "-1")))
    add("WKST", st.just("SU"))
    add("COUNT", st.just("7"))
    return ";".join(f"{name}={value}" for name, value in parts.items())


@settings(max_examples=200)
@given(rule=rules(), start=st.integers(0, 365 * 24 * 60), later=st.integers(-2000, 2 * 365 * 24 * 60))
def test_it_agrees_with_another_implementation(rule: str, start: int, later: int) -> None:
    if check_recurrence(rule) is not None:
        return
    begin = NINE + timedelta(minutes=start)
    after, last = begin + timedelta(minutes=later), begin + timedelta(minutes=later, days=1500)

    expected = _list_expected(rule, begin, after, last)
    moments = list_next(rule, at(f"{after.isoformat()}Z"), "UTC", 5, begin)
    found = [one for one in moments if one <= last.isoformat()[:16]]

    assert found == expected[: len(found)]
    assert len(found) == min(len(expected), 5)


def _list_expected(rule: str, begin: datetime, after: datetime, last: datetime) -> list[str]:
    within = takewhile(lambda one: one <= last, rrulestr(rule, dtstart=begin))
    return [one.isoformat()[:16] for one in islice((one for one in within if one > after), 5)]


def test_moments_are_those_of_the_zone() -> None:
    for zone in ("Pacific/Chatham", "America/St_Johns", "Africa/Casablanca"):
        for moment in list_next("FREQ=WEEKLY;BYDAY=SU;BYHOUR=7;BYMINUTE=5", at("2026-01-01T00:00Z"), zone, 60):
            local = local_time(at(moment + "Z"), zone_of(zone))
            assert (local.weekday(), local.hour, local.minute) == (6, 7, 5)
