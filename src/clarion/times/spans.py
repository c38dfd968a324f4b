"""Moments and local times of a time zone, and spans of time.

Seconds to hours are exact; days and longer follow the calendar.
"""

import calendar
import math
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MAX_AHEAD: Final = Millis(3660 * DAY)
"""Ten years: the limit of all schedules."""


@lru_cache(maxsize=1024)
def zone_of(name: str | None) -> ZoneInfo:
    """Return the zone of that name, or UTC if there is none."""
    try:
        return ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def local_time(moment: Millis, zone: ZoneInfo) -> datetime:
    """Return the local time of a moment, as a datetime without a zone."""
    return (_EPOCH + timedelta(milliseconds=moment)).astimezone(zone).replace(tzinfo=None, fold=0)


def moment_of(local: datetime, zone: ZoneInfo, *, again: bool = False) -> Millis:
    """Return the moment of a local time; of two, the first, or the second with `again`.

    A time that a clock change skips moves forward by the length of the gap.
    """
    return Millis((local.replace(tzinfo=zone, fold=int(again)) - _EPOCH) // timedelta(milliseconds=1))


def has_day(day: date, zone: ZoneInfo) -> bool:
    """Return whether a zone has a day: zones that moved across the date line lack one."""
    noon = datetime.combine(day, time(12))
    return local_time(moment_of(noon, zone), zone).date() == day


def offset_at(moment: Millis, zone: ZoneInfo) -> Millis:
    """Return how far the clocks of a zone are ahead of UTC."""
    return Millis((_offset(moment, zone) or timedelta()) // timedelta(milliseconds=1))


def find_shift(start: Millis, end: Millis, zone: ZoneInfo) -> Millis | None:
    """Return the first minute with another UTC offset than at the start; None if the end has the same offset."""
    before = _offset(start, zone)
    if _offset(end, zone) == before:
        return None
    low, high = start // MINUTE, -(-end // MINUTE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(Millis(middle * MINUTE), zone) == before else (low, middle)
    return Millis(high * MINUTE)


def _offset(moment: Millis, zone: ZoneInfo) -> timedelta | None:
    return (_EPOCH + timedelta(milliseconds=moment)).astimezone(zone).utcoffset()


class Unit(StrEnum):
    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


_EXACT: Final = {Unit.SECONDS: SECOND, Unit.MINUTES: MINUTE, Unit.HOURS: HOUR}
_LENGTH: Final = {Unit.DAYS: DAY, Unit.WEEKS: 7 * DAY, Unit.MONTHS: 30 * DAY}


def end_of(start: Millis, amount: float, unit: Unit, zone: str | None) -> Millis:
    """Return when a span ends; days, weeks and months end at the same time of day in the zone.

    A month ends on its last day if it lacks the day of the start. A fraction of a day, week or month is added in hours.
    """
    last = Millis(start + MAX_AHEAD)
    if not math.isfinite(amount):
        return last
    if unit in _EXACT:
        return min(Millis(int(start + amount * _EXACT[unit])), last)
    if amount * (DAY if unit is Unit.DAYS else 7 * DAY) > MAX_AHEAD:
        return last
    zone_info = zone_of(zone)
    whole = moment_of(_add(local_time(start, zone_info), int(amount), unit), zone_info)
    return min(Millis(int(whole + amount % 1 * _LENGTH[unit])), last)


def _add(local: datetime, amount: int, unit: Unit) -> datetime:
    if unit is not Unit.MONTHS:
        return local + timedelta(days=amount * (7 if unit is Unit.WEEKS else 1))
    year, month = divmod(local.year * 12 + local.month - 1 + amount, 12)
    return local.replace(year=year, month=month + 1, day=min(local.day, calendar.monthrange(year, month + 1)[1]))
