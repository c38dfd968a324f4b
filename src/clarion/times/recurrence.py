"""Recurrence rules (RRULE of RFC 5545), evaluated in a time zone.

Days and longer are local times: one that a clock change skips moves forward, and of one that occurs twice the first
counts. Hours and minutes are exact spans from the start. The parts that are known suffice for most rules; in return, no
rule takes more than a few milliseconds, also one that never comes.
"""

import calendar
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import count, islice
from typing import Final

from msgspec import Struct

from clarion.clock import HOUR, MINUTE, Millis
from clarion.times.spans import MAX_AHEAD, has_day, local_time, moment_of, zone_of

MAX_RULE: Final = 500
MAX_COUNT: Final = 1000
MAX_INTERVAL: Final = 1000
_AHEAD: Final = timedelta(milliseconds=MAX_AHEAD)
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NUMBERED: Final = {False: "", True: ", or numbered such as 1MO or -1FR"}
_PARTS: Final = frozenset(
    ("FREQ", "INTERVAL", "COUNT", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYSETPOS", "WKST")
)


class Frequency(StrEnum):
    MINUTELY = "MINUTELY"
    HOURLY = "HOURLY"
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


_EXACT: Final = {Frequency.MINUTELY: MINUTE, Frequency.HOURLY: HOUR}


class Recurrence(Struct, frozen=True, kw_only=True):
    frequency: Frequency
    interval: int = 1
    count: int | None = None
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    """Negative ones count from the end of the month."""
    week_days: tuple[tuple[int, int], ...] = ()
    """Which one of the month or year (0: each, negative: from the end), and the day, 0 for Monday."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    """Which of the occurrences of a period."""
    week_start: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether it is a span of time from the start, whatever the clocks say."""
        return self.frequency in _EXACT


def check_recurrence(text: str) -> str | None:
    """Return what is wrong with a rule, or None."""
    try:
        rule = parse_recurrence(text)
    except ValueError as problem:
        return str(problem)
    # A rule that has no occurrence from here on, not even in a leap year, has none.
    start = datetime(2024, 1, 1)  # noqa: DTZ001 - a local time
    if not rule.is_exact and next(_local_times(rule, start, start - timedelta(days=1)), None) is None:
        return "is a rule that never comes within ten years"
    return None


@lru_cache(maxsize=1024)
def parse_recurrence(text: str) -> Recurrence:
    """Read a rule; raises ValueError with what is wrong."""
    if len(text) > MAX_RULE:
        raise ValueError(f"must have at most {MAX_RULE} characters")
    parts = _split(text)
    try:
        frequency = Frequency(parts.pop("FREQ", ""))
    except ValueError:
        known = ", ".join(Frequency)
        raise ValueError(f"must begin with a FREQ that is one of {known}, such as FREQ=DAILY;BYHOUR=9") from None
    by_parts = sorted(name for name in parts if name.startswith("BY"))
    if frequency in _EXACT and by_parts:
        raise ValueError(f"has {by_parts[0]}, which FREQ={frequency} does not take; use FREQ=DAILY with BYHOUR")
    if frequency is Frequency.WEEKLY and "BYMONTHDAY" in parts:
        raise ValueError("has BYMONTHDAY, which FREQ=WEEKLY does not take")
    rule = Recurrence(
        frequency=frequency,
        interval=_number(parts, "INTERVAL", 1, MAX_INTERVAL) or 1,
        count=_number(parts, "COUNT", 1, MAX_COUNT),
        months=_numbers(parts, "BYMONTH", 1, 12),
        month_days=_numbers(parts, "BYMONTHDAY", 1, 31, or_negative=True),
        week_days=_week_days(parts.get("BYDAY"), frequency),
        hours=_numbers(parts, "BYHOUR", 0, 23),
        minutes=_numbers(parts, "BYMINUTE", 0, 59),
        positions=_numbers(parts, "BYSETPOS", 1, 366, or_negative=True),
        week_start=_week_start(parts.get("WKST", "MO")),
    )
    if rule.positions and not any(name != "BYSETPOS" for name in by_parts):
        raise ValueError("has BYSETPOS, which needs another BY part to choose from")
    return rule


def next_recurrence(rule: Recurrence, start: datetime, after: Millis, zone: str | None) -> Millis | None:
    """Return the next moment strictly after `after`; None if there is none within ten years.

    `start` is the first local time that is possible; what the rule leaves open follows from it.
    """
    start = start.replace(second=0, microsecond=0)
    zone_info = zone_of(zone)
    earliest: Millis | None = None
    # From a day before: a time that the clocks skip comes later than its local time says.
    for local in _list_times(rule, start, local_time(after, zone_info) - timedelta(days=1)):
        if earliest is not None and local >= local_time(earliest, zone_info):
            break
        moment = moment_of(local, zone_info)
        if moment > after and has_day(local.date(), zone_info) and (earliest is None or moment < earliest):
            earliest = moment
    return None if earliest is None or earliest > after + MAX_AHEAD else earliest


def next_of_span(rule: Recurrence, start: Millis, after: Millis) -> Millis | None:
    """Return the next moment strictly after `after` of a rule in hours or minutes, which are counted from the start."""
    start = Millis(start // MINUTE * MINUTE)
    length = _EXACT[rule.frequency] * rule.interval
    place = max((after - start) // length + 1, 0)
    return None if rule.count is not None and place >= rule.count else Millis(start + place * length)


def _list_times(rule: Recurrence, start: datetime, after: datetime) -> Iterator[datetime]:
    """The local times behind one, in order."""
    if rule.count is None:
        return _local_times(rule, start, max(after, start - timedelta(minutes=1)))
    return (local for local in _counted_times(rule, start) if local > after)


@lru_cache(maxsize=256)
def _counted_times(rule: Recurrence, start: datetime) -> tuple[datetime, ...]:
    return tuple(islice(_local_times(rule, start, start - timedelta(minutes=1)), rule.count))


def _local_times(rule: Recurrence, start: datetime, after: datetime) -> Iterator[datetime]:
    last = (max(after, start) + _AHEAD).date()
    times = [time(hour, minute) for hour in rule.hours or (start.hour,) for minute in rule.minutes or (start.minute,)]
    for days in _list_periods(rule, start.date(), after.date(), last):
        times_of_period = [datetime.combine(day, at) for day in days for at in times]
        if rule.positions:
            places = {place - 1 if place > 0 else len(times_of_period) + place for place in rule.positions}
            times_of_period = [local for place, local in enumerate(times_of_period) if place in places]
        yield from (local for local in times_of_period if local > after and local >= start)


def _list_periods(rule: Recurrence, start: date, after: date, last: date) -> Iterator[list[date]]:
    """Yield the days of each period of the rule, from the one that has the day `after` on."""
    for number in count(max(_count_periods(rule, start, after) // rule.interval, 0)):
        first, following = _bounds_of(rule, start, number * rule.interval)
        if first > last:
            return
        yield [day for day in _days_between(first, following) if _has_day(rule, start, day)]


def _count_periods(rule: Recurrence, start: date, day: date) -> int:
    """How many days, weeks, months or years lie between the periods of two days."""
    if rule.frequency is Frequency.DAILY:
        return (day - start).days
    if rule.frequency is Frequency.WEEKLY:
        return (_week_of(rule, day) - _week_of(rule, start)).days // 7
    months = (day.year - start.year) * 12 + day.month - start.month
    return months if rule.frequency is Frequency.MONTHLY else day.year - start.year


def _bounds_of(rule: Recurrence, start: date, number: int) -> tuple[date, date]:
    """The first day of a period, and that of the one behind it."""
    if rule.frequency is Frequency.DAILY:
        first = start + timedelta(days=number)
        return first, first + timedelta(days=1)
    if rule.frequency is Frequency.WEEKLY:
        first = _week_of(rule, start) + timedelta(weeks=number)
        return first, first + timedelta(weeks=1)
    if rule.frequency is Frequency.YEARLY:
        return date(start.year + number, 1, 1), date(start.year + number + 1, 1, 1)
    months = start.year * 12 + start.month - 1 + number
    return _first_of_month(months), _first_of_month(months + 1)


def _first_of_month(months: int) -> date:
    return date(months // 12, months % 12 + 1, 1)


def _week_of(rule: Recurrence, day: date) -> date:
    return day - timedelta(days=(day.weekday() - rule.week_start) % 7)


def _days_between(first: date, following: date) -> Iterator[date]:
    return (first + timedelta(days=number) for number in range((following - first).days))


def _has_day(rule: Recurrence, start: date, day: date) -> bool:
    months, month_days, week_days = _defaults(rule, start)
    if months and day.month not in months:
        return False
    if month_days and not {day.day, day.day - _length_of_month(day) - 1} & set(month_days):
        return False
    return not week_days or any(_is_week_day(rule, day, *one) for one in week_days)


def _defaults(rule: Recurrence, start: date) -> tuple[tuple[int, ...], tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The months and days of the rule; those that it leaves open are those of the start."""
    if rule.month_days or rule.week_days or rule.frequency is Frequency.DAILY:
        return rule.months, rule.month_days, rule.week_days
    if rule.frequency is Frequency.WEEKLY:
        return rule.months, (), ((0, start.weekday()),)
    if rule.frequency is Frequency.YEARLY:
        return rule.months or (start.month,), (start.day,), ()
    return rule.months, (start.day,), ()


def _is_week_day(rule: Recurrence, day: date, which: int, week_day: int) -> bool:
    if day.weekday() != week_day:
        return False
    if not which:
        return True
    if rule.frequency is Frequency.YEARLY and not rule.months:
        place, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
    else:
        place, length = day.day, _length_of_month(day)
    return which == ((place - 1) // 7 + 1 if which > 0 else -((length - place) // 7 + 1))


def _length_of_month(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _split(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in filter(None, text.strip().upper().removeprefix("RRULE:").split(";")):
        name, _, value = part.partition("=")
        if name in parts:
            raise ValueError(f"has {name} twice")
        if name == "UNTIL":
            raise ValueError("has UNTIL; say that in the field `until` instead")
        if name not in _PARTS:
            raise ValueError(f"has '{name[:20]}', which is not supported; known are {', '.join(sorted(_PARTS))}")
        parts[name] = value
    return parts


def _number(parts: dict[str, str], name: str, low: int, high: int) -> int | None:
    numbers = _numbers(parts, name, low, high)
    if len(numbers) > 1:
        raise ValueError(f"has several numbers in {name}")
    return numbers[0] if numbers else None


def _numbers(parts: dict[str, str], name: str, low: int, high: int, *, or_negative: bool = False) -> tuple[int, ...]:
    if name not in parts:
        return ()
    numbers = set()
    for text in parts[name].split(","):
        number = int(text) if text.removeprefix("-").isdecimal() and len(text) < 6 else high + 1
        if not low <= (abs(number) if or_negative else number) <= high:
            also = f", or -{high} to -{low} from the end" if or_negative else ""
            raise ValueError(f"has {name}={text[:20]}, which must be {low} to {high}{also}")
        numbers.add(number)
    return tuple(sorted(numbers))


def _week_days(text: str | None, frequency: Frequency) -> tuple[tuple[int, int], ...]:
    if text is None:
        return ()
    days = []
    limit = {Frequency.MONTHLY: 5, Frequency.YEARLY: 53}.get(frequency, 0)
    for entry in text.split(","):
        which, day = entry[:-2], entry[-2:]
        number = int(which) if which.lstrip("+-").isdecimal() and len(which) < 4 else 0
        if day not in _DAYS or (which and not number) or abs(number) > limit:
            raise ValueError(f"has BYDAY={entry[:20]}, which must be one of {', '.join(_DAYS)}{_NUMBERED[bool(limit)]}")
        days.append((number, _DAYS.index(day)))
    return tuple(days)


def _week_start(text: str) -> int:
    if text not in _DAYS:
        raise ValueError(f"has WKST={text[:20]}, which must be one of {', '.join(_DAYS)}")
    return _DAYS.index(text)
