"""Spans of time: exact ones up to hours, steps of the calendar from days on."""

import calendar
import math
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.schedules.zones import local_time, moment_of, zone_of

MAX_AHEAD: Final = Millis(3660 * DAY)
"""Ten years: no schedule reaches further."""


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
    """When a span ends: days, weeks and months at the same time of day in the zone, a month at most at its last day.

    A fraction of a day, week or month is counted in hours behind the whole ones.
    """
    last = Millis(start + MAX_AHEAD)
    if not math.isfinite(amount):
        return last
    if unit in _EXACT:
        return min(Millis(int(start + amount * _EXACT[unit])), last)
    if amount * (DAY if unit is Unit.DAYS else 7 * DAY) > MAX_AHEAD:
        return last
    where = zone_of(zone)
    whole = moment_of(_step(local_time(start, where), int(amount), unit), where)
    return min(Millis(int(whole + amount % 1 * _LENGTH[unit])), last)


def _step(local: datetime, amount: int, unit: Unit) -> datetime:
    if unit is not Unit.MONTHS:
        return local + timedelta(days=amount * (7 if unit is Unit.WEEKS else 1))
    year, month = divmod(local.year * 12 + local.month - 1 + amount, 12)
    return local.replace(year=year, month=month + 1, day=min(local.day, calendar.monthrange(year, month + 1)[1]))
