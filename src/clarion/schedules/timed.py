"""Digests at fixed times: every given number of days, weeks or months, at a time of day."""

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from clarion.clock import DAY, Millis
from clarion.schedules.spans import MAX_AHEAD, Unit, end_of
from clarion.schedules.zones import has_day, local_time, moment_of, zone_of

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_KINDS: Final = {"day": range(7), "weekday": range(5), "weekend": range(5, 7)}
_TIME: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


def next_timed(timed: Mapping[str, Any], amount: int, unit: Unit, after: Millis, zone: str | None) -> Millis:
    """Return the next time strictly after `after`, whose day, week (from Monday) or month counts as the first.

    Without `atTime` it is the time of day of `after`; without days it is the weekday or day of the month of `after`.
    """
    if unit in (Unit.SECONDS, Unit.MINUTES, Unit.HOURS):
        return end_of(after, max(amount, 1), unit, zone)
    zone_info = zone_of(zone)
    start = local_time(after, zone_info)
    at_time = _time(timed.get("atTime")) or start.time()
    for day in _days(timed, max(amount, 1), unit, start.date()):
        moment = moment_of(datetime.combine(day, at_time), zone_info)
        if moment > after and has_day(day, zone_info):
            return moment
    return Millis(after + MAX_AHEAD)


def _days(timed: Mapping[str, Any], amount: int, unit: Unit, start: date) -> Iterator[date]:
    days = (start + timedelta(days=ahead) for ahead in range(MAX_AHEAD // DAY))
    if unit is Unit.DAYS:
        return (day for day in days if (day - start).days % amount == 0)
    if unit is Unit.WEEKS:
        wanted = {WEEKDAYS.index(name) for name in _list(timed.get("weekDays")) if name in WEEKDAYS}
        wanted = wanted or {start.weekday()}
        monday = start - timedelta(days=start.weekday())
        return (day for day in days if day.weekday() in wanted and (day - monday).days // 7 % amount == 0)
    return (day for day in days if _months_between(start, day) % amount == 0 and _is_monthly(timed, day, start))


def _months_between(start: date, day: date) -> int:
    return (day.year - start.year) * 12 + day.month - start.month


def _is_monthly(timed: Mapping[str, Any], day: date, start: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if timed.get("monthlyType", "on" if timed.get("ordinal") else "each") == "on":
        return day.day == _ordinal_day(timed, day, length)
    days = [int(text) for text in map(str, _list(timed.get("monthDays"))) if text.isdecimal() and len(text) <= 2]
    return day.day in {min(one, length) for one in days or [start.day]}


def _ordinal_day(timed: Mapping[str, Any], day: date, length: int) -> int | None:
    """Return the day of the month of "the second weekday" or "the last friday"; None if the month has no fifth."""
    name, ordinal = str(timed.get("ordinalValue") or "day"), str(timed.get("ordinal") or "1")
    kinds = [WEEKDAYS.index(name)] if name in WEEKDAYS else _KINDS.get(name, range(7))
    matching = [one for one in range(1, length + 1) if day.replace(day=one).weekday() in kinds]
    if ordinal == "last":
        return matching[-1]
    number = int(ordinal) if ordinal.isdecimal() and len(ordinal) == 1 else 1
    return matching[number - 1] if 1 <= number <= len(matching) else None


def _time(text: Any) -> time | None:
    found = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    return time(int(found[1]), int(found[2])) if found else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
