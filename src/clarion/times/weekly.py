"""Weekly schedules: the hours in which a subscriber wants to receive messages."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final

from clarion.clock import DAY, Millis
from clarion.times.spans import find_shift, local_time, moment_of, zone_of

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME: Final = re.compile(r"(0?[1-9]|1[0-2]):([0-5]\d) ?(AM|PM)", re.IGNORECASE)
_DAY_MINUTES: Final = 24 * 60


def is_within(schedule: Mapping[str, Any] | None, moment: Millis, zone: str | None) -> bool:
    """Return whether the moment is within the schedule; without an enabled schedule it always is.

    A range that ends before it starts continues into the next day, even if that day is disabled.
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
    """Return the first moment from the given one on that is within the schedule; None if the week has no hours."""
    if is_within(schedule, moment, zone):
        return moment
    found = (start for start in _starts(_week(schedule) or {}, moment, zone) if start > moment)
    return min((start for start in found if is_within(schedule, start, zone)), default=None)


def _week(schedule: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    week = schedule.get("weeklySchedule") if schedule and schedule.get("isEnabled") else None
    return week if isinstance(week, Mapping) and week else None


def _starts(week: Mapping[str, Any], moment: Millis, zone: str | None) -> Iterator[Millis]:
    """Yield the moments at which a range can begin: at its start, or where a clock change jumps into it."""
    zone_info = zone_of(zone)
    today = local_time(moment, zone_info).date()
    for ahead in range(9):
        day = today + timedelta(days=ahead)
        for start, _ in _ranges(week, day.weekday()):
            local = datetime.combine(day, time(start // 60, start % 60))
            yield moment_of(local, zone_info)
            yield moment_of(local, zone_info, again=True)
        shift = find_shift(Millis(moment + ahead * DAY), Millis(moment + (ahead + 1) * DAY), zone_info)
        if shift is not None:
            yield shift


def _ranges(week: Mapping[str, Any], weekday: int) -> list[tuple[int, int]]:
    """Return the ranges that start on a weekday, in minutes since midnight; an end after 24:00 is on the next day."""
    day = week.get(WEEKDAYS[weekday])
    if not isinstance(day, Mapping) or not day.get("isEnabled"):
        return []
    hours = day.get("hours")
    if not isinstance(hours, list) or not hours:
        return [(0, _DAY_MINUTES)]
    found = [(_minute(hour.get("start")), _minute(hour.get("end"))) for hour in hours if isinstance(hour, Mapping)]
    return [(start, _end_minute(start, end)) for start, end in found if start is not None and end is not None]


def _end_minute(start: int, end: int) -> int:
    # 11:59 PM, the last minute that can be written, means the end of the day.
    if end == _DAY_MINUTES - 1:
        return _DAY_MINUTES
    return end if end > start else end + _DAY_MINUTES


def _minute(text: Any) -> int | None:
    found = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    return int(found[1]) % 12 * 60 + int(found[2]) + (720 if found[3].upper() == "PM" else 0) if found else None
