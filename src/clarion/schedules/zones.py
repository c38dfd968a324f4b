"""Converts between moments and local times of a time zone."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from clarion.clock import MINUTE, Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
