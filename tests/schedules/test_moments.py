"""When schedules trigger."""

import zoneinfo
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR, MINUTE, Millis, iso_text
from clarion.schedules import moments
from clarion.schedules.model import OF_PERSON, CatchUp, Timing
from clarion.schedules.moments import DueMoment, find_wake, has_close_moments, list_due, list_moments
from clarion.times.spans import offset_at, zone_of
from tests.times.test_spans import at

ZONES = ("Europe/Berlin", "Asia/Tokyo", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Chatham")


def make_timing(**fields: Any) -> Timing:
    given_rule = {"cron": None} if "rrule" in fields else {"cron": "0 9 * * *"}
    usual = {"rrule": None, "timezone": "Europe/Berlin", "fallback_timezone": "UTC", "starts_at": None, "ends_at": None}
    return Timing(**{"anchor": at("2026-01-01T00:00Z"), **usual, **given_rule, **fields})


def list_texts(timing: Timing, after: str, zone: str = "Europe/Berlin", count: int = 4) -> list[str]:
    return [iso_text(one)[:16] for one in islice(list_moments(timing, at(after), zone), count)]


def list_due_texts(
    timing: Timing, catch_up: CatchUp, since: str, now: str, zones: tuple[str, ...] = ("",)
) -> list[str]:
    due = list_due(timing, catch_up, zones, done_until=at(since), now=at(now))
    return [f"{iso_text(one.moment)[:16]} {one.zone}".strip() for one in due]


def test_its_bounds_are_moments_that_are_possible() -> None:
    timing = make_timing(starts_at=at("2026-02-01T08:00Z"), ends_at=at("2026-02-03T08:00Z"))

    assert list_texts(timing, "2026-01-01T00:00Z") == ["2026-02-01T08:00", "2026-02-02T08:00", "2026-02-03T08:00"]


def test_bounds_in_the_zones_of_people_are_what_their_clocks_show() -> None:
    bounds = {"starts_at": at("2026-02-01T09:00Z"), "ends_at": at("2026-02-02T09:00Z")}
    timing = make_timing(timezone=OF_PERSON, **bounds)

    assert list_texts(timing, "2026-01-01T00:00Z", "Asia/Tokyo") == ["2026-02-01T00:00", "2026-02-02T00:00"]
    assert list_texts(timing, "2026-01-01T00:00Z", "America/New_York") == ["2026-02-01T14:00", "2026-02-02T14:00"]


def test_a_rule_in_the_zones_of_people_begins_at_the_same_local_time() -> None:
    start = at("2026-02-01T07:30Z")
    timing = make_timing(
        rrule="FREQ=WEEKLY;INTERVAL=2", timezone=OF_PERSON, fallback_timezone="Europe/Berlin", anchor=start
    )

    assert list_texts(timing, "2026-01-30T00:00Z", "Asia/Kathmandu", 2) == ["2026-02-01T02:45", "2026-02-15T02:45"]


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        (CatchUp.ONE, ["2026-01-08T08:00"]),
        (CatchUp.NONE, []),
        (CatchUp.ALL, ["2026-01-06T08:00", "2026-01-07T08:00", "2026-01-08T08:00"]),
    ],
)
def test_what_was_missed_in_three_days(catch_up: CatchUp, expected: list[str]) -> None:
    assert list_due_texts(make_timing(), catch_up, "2026-01-05T12:00Z", "2026-01-08T12:00Z") == expected


@pytest.mark.parametrize("catch_up", [CatchUp.ONE, CatchUp.NONE])
def test_a_moment_that_is_on_time_stands_for_those_that_were_missed(catch_up: CatchUp) -> None:
    due = list_due_texts(make_timing(), catch_up, "2026-01-05T12:00Z", "2026-01-08T08:10Z")

    assert due == ["2026-01-08T08:00"]


def test_a_short_delay_loses_nothing() -> None:
    timing = make_timing(cron="* * * * *")

    due = list_due_texts(timing, CatchUp.NONE, "2026-01-05T12:00:30Z", "2026-01-05T12:05:30Z")

    assert [one[-5:] for one in due] == ["12:01", "12:02", "12:03", "12:04", "12:05"]


def test_a_long_downtime_of_a_frequent_schedule_is_made_up_for_up_to_a_limit() -> None:
    timing = make_timing(cron="* * * * *")

    due = list_due_texts(timing, CatchUp.ALL, "2025-01-05T12:00Z", "2026-01-05T12:00:30Z")

    assert (len(due), due[0], due[-1]) == (100, "2026-01-05T10:21", "2026-01-05T12:00")


def test_each_zone_has_its_moments() -> None:
    timing = make_timing(timezone=OF_PERSON, fallback_timezone="Europe/Athens")

    due = list_due_texts(timing, CatchUp.NONE, "2026-01-05T00:01Z", "2026-01-05T00:05Z", ("", *ZONES))
    later = list_due_texts(timing, CatchUp.ALL, "2026-01-05T00:05Z", "2026-01-05T08:00Z", ("", *ZONES))

    assert due == []
    assert later == ["2026-01-05T03:15 Asia/Kathmandu", "2026-01-05T07:00", "2026-01-05T08:00 Europe/Berlin"]


def test_what_is_due_comes_in_order() -> None:
    assert sorted([DueMoment(Millis(2), ""), DueMoment(Millis(1), "b"), DueMoment(Millis(1), "a")]) == [
        DueMoment(Millis(1), "a"),
        DueMoment(Millis(1), "b"),
        DueMoment(Millis(2), ""),
    ]


@pytest.mark.parametrize(
    "rule",
    [
        {"cron": "0 9 * * *"},
        {"cron": "30 2 * * *"},
        {"cron": "0 0 1 * *"},
        {"rrule": "FREQ=WEEKLY;BYDAY=SU;BYHOUR=2,7;BYMINUTE=15"},
    ],
)
@settings(max_examples=25, deadline=None)
@given(after=st.integers(at("2026-01-01T00:00Z"), at("2028-01-01T00:00Z")), zone=st.sampled_from(ZONES))
def test_it_is_looked_at_whenever_a_moment_comes_in_any_zone(rule: dict[str, str], after: int, zone: str) -> None:
    timing = make_timing(timezone=OF_PERSON, **rule)
    moment = next(list_moments(timing, Millis(after), zone))

    wake = find_wake(timing, Millis(after))
    while wake is not None and wake < moment:
        wake = find_wake(timing, wake)

    assert wake == moment


def test_the_offsets_of_all_zones_are_known() -> None:
    found = {
        offset_at(Millis(at("2026-01-01T00:00Z") + days * DAY), zone_of(zone))
        for zone in zoneinfo.available_timezones()
        for days in range(0, 1500, 30)
    }

    assert found <= set(moments._OFFSETS)


@settings(max_examples=100, deadline=None)
@given(
    since=st.integers(at("2026-01-01T00:00Z"), at("2027-01-01T00:00Z")),
    passed=st.integers(MINUTE, 30 * HOUR),
    zone=st.sampled_from(ZONES),
)
def test_whatever_the_steps_each_moment_comes_once(since: int, passed: int, zone: str) -> None:
    timing = make_timing(cron="30 2,9 * * *", timezone=OF_PERSON)
    middle = Millis(since + passed // 3)
    end = Millis(since + passed)

    parts = [
        one
        for start, until in ((Millis(since), middle), (middle, end))
        for one in list_due(timing, CatchUp.ALL, [zone], done_until=start, now=until)
    ]

    expected = [one for one in islice(list_moments(timing, Millis(since), zone), 10) if one <= end]
    assert [one.moment for one in parts] == expected


def test_close_moments_are_found() -> None:
    assert has_close_moments(make_timing(cron="0 9,11 * * *"))
    assert has_close_moments(make_timing(cron="0,1 9 1 1 *"))
    assert not has_close_moments(make_timing(cron="0 9,12 * * *"))
