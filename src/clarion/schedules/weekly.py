"""The hours of the week in which a person wants to hear from us."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final

from clarion.clock import DAY, Millis
from clarion.schedules.timed import WEEKDAYS
from clarion.schedules.zones import find_shift, local_time, moment_of, zone_of

_TIME: Final = re.compile(r"(0?[1-9]|1[0-2]):([0-5]\d) ?(AM|PM)", re.IGNORECASE)
_DAY_MINUTES: Final = 24 * 60


def is_within(schedule: Mapping[str, Any] | None, moment: Millis, zone: str | None) -> bool:
    """Whether a person wants to hear from us now; without an enabled schedule, always.

    A range that ends before it starts goes on into the next day, whatever that day says itself.
    """
    week = _week(schedule)
    if week is None:
        return True
    local = local_time(moment, zone_of(zone))
    minute = local.hour * 60 + local.minute
    today = any(start <= minute < end for start, end in _ranges(week, local.weekday()))
    yesterday = _ranges(week, (local.weekday() - 1) % 7)
    return today or any(minute + _DAY_MINUTES < end for _, end in yesterday)


def next_within(schedule: Mapping[str, Any] | None, moment: Millis, zone: str | None) -> Millis | None:
    """The first moment from now on at which a person wants to hear from us; None where there is none in the week."""
    if is_within(schedule, moment, zone):
        return moment
    found = (start for start in _starts(_week(schedule) or {}, moment, zone) if start > moment)
    return min((start for start in found if is_within(schedule, start, zone)), default=None)


def _week(schedule: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    week = schedule.get("weeklySchedule") if schedule and schedule.get("isEnabled") else None
    return week if isinstance(week, Mapping) and week else None


def _starts(week: Mapping[str, Any], moment: Millis, zone: str | None) -> Iterator[Millis]:
    """Where a range can begin in the days ahead: at its start, or where the clock leaps into its midst."""
    where = zone_of(zone)
    today = local_time(moment, where).date()
    for ahead in range(9):
        day = today + timedelta(days=ahead)
        for start, _ in _ranges(week, day.weekday()):
            local = datetime.combine(day, time(start // 60, start % 60))
            yield moment_of(local, where)
            yield moment_of(local, where, again=True)
        shift = find_shift(Millis(moment + ahead * DAY), Millis(moment + (ahead + 1) * DAY), where)
        if shift is not None:
            yield shift


def _ranges(week: Mapping[str, Any], weekday: int) -> list[tuple[int, int]]:
    """The ranges that start on a weekday, in minutes since its midnight; an end beyond it is on the next day."""
    day = week.get(WEEKDAYS[weekday])
    if not isinstance(day, Mapping) or not day.get("isEnabled"):
        return []
    hours = day.get("hours")
    if not isinstance(hours, list) or not hours:
        return [(0, _DAY_MINUTES)]
    found = [(_minute(hour.get("start")), _minute(hour.get("end"))) for hour in hours if isinstance(hour, Mapping)]
    return [(start, _after(start, end)) for start, end in found if start is not None and end is not None]


def _after(start: int, end: int) -> int:
    # The last minute that can be written stands for the end of the day.
    if end == _DAY_MINUTES - 1:
        return _DAY_MINUTES
    return end if end > start else end + _DAY_MINUTES


def _minute(text: Any) -> int | None:
    found = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    return int(found[1]) % 12 * 60 + int(found[2]) + (720 if found[3].upper() == "PM" else 0) if found else None
