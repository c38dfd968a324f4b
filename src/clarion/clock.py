"""The only place that reads the time, and the text form of timestamps."""

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NewType, Protocol

Millis = NewType("Millis", int)
"""Milliseconds since 1970 in UTC, as every timestamp is stored."""

SECOND = Millis(1_000)
MINUTE = Millis(60 * SECOND)
HOUR = Millis(60 * MINUTE)
DAY = Millis(24 * HOUR)

_DAY_MINUTES = DAY // MINUTE
# The parts of timestamps: to format them each time takes three times as long, and lists have many.
_MINUTE_TEXTS = [f"T{minute // 60:02}:{minute % 60:02}:" for minute in range(_DAY_MINUTES)]
_SECOND_TEXTS = [f"{second:02}" for second in range(60)]
_MILLI_TEXTS = [f".{milli:03}Z" for milli in range(1000)]
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    def now(self) -> Millis: ...


def boot_milliseconds() -> int:
    """Milliseconds since the machine was started, those included in which it was suspended."""
    return time.clock_gettime_ns(_BOOT) // 1_000_000


class SystemClock:
    """The clock of the machine."""

    def now(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)


class SteadyClock:
    """A clock that runs evenly whatever happens to that of the machine, and is set by whoever follows a reference.

    It counts the time of a suspended machine, too. It goes back only when it is set.
    """

    def __init__(self, now: Millis, elapsed: Callable[[], int] = boot_milliseconds) -> None:
        self._elapsed = elapsed
        self._offset = now - elapsed()
        self._last = now

    def now(self) -> Millis:
        now = Millis(self._elapsed() + self._offset)
        if now < self._last:
            return self._last
        self._last = now
        return now

    def set(self, moment: Millis) -> None:
        self._offset = moment - self._elapsed()
        self._last = moment

    def hold_back(self, by: int) -> None:
        """Let the clock stand still until so many milliseconds have passed."""
        self._offset -= by


class ManualClock:
    """A clock that stands still until it is moved, so that tests never wait."""

    def __init__(self, now: Millis) -> None:
        self._now = now

    def now(self) -> Millis:
        return self._now

    def move(self, by: int) -> None:
        self._now = Millis(self._now + by)


def wall_nanoseconds() -> int:
    """Nanoseconds since 1970 by the clock of the machine, for the spans of traces."""
    return time.time_ns()


def iso_text(moment: Millis) -> str:
    """ISO 8601 in UTC with milliseconds and Z, the only form that the API sends."""
    minutes, millis = divmod(moment, MINUTE)
    day, minute = divmod(minutes, _DAY_MINUTES)
    second, milli = divmod(millis, SECOND)
    return _date_text(day) + _MINUTE_TEXTS[minute] + _SECOND_TEXTS[second] + _MILLI_TEXTS[milli]


@functools.lru_cache(maxsize=1024)
def _date_text(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(day * (DAY // SECOND)))


def find_moment(text: str) -> Millis | None:
    """Parse an ISO 8601 text, in UTC unless it names a zone; None if it is not valid."""
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    try:
        return Millis((aware - _EPOCH) // timedelta(milliseconds=1))
    except OverflowError:
        return None
