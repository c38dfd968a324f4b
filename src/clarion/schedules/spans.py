"""Spans of time: seconds to hours are exact, days and longer follow the calendar."""

import calendar
import math
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.schedules.zones import local_time, moment_of, zone_of

MAX_AHEAD: Final = Millis(3660 * DAY)
"""Ten years: the limit of all schedules."""


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
