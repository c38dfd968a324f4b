"""Cron expressions, evaluated in a time zone."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from clarion.clock import Millis
from clarion.times.spans import MAX_AHEAD, has_day, local_time, moment_of, zone_of

MAX_EXPRESSION: Final = 200

_NAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# An expression that has no occurrence within MAX_AHEAD of this date, not even on a leap day, has none.
_PROBE: Final = datetime(2024, 3, 1, tzinfo=UTC)


def check_cron(expression: str) -> str | None:
    """Return what is wrong with a cron expression of five fields, or None."""
    fields = _fields(expression)
    if len(expression) > MAX_EXPRESSION or len(fields) != 5:
        return "must be a cron expression of five fields: minute, hour, day, month, weekday"
    try:
        occurrence = next(CronSim(" ".join(fields), _PROBE), None)
    except (CronSimError, ValueError, AssertionError) as error:
        return f"is not a valid cron expression: {error}"
    if occurrence is None or occurrence - _PROBE > timedelta(milliseconds=MAX_AHEAD):
        return "is a cron expression that never comes"
    return None


def next_cron(expression: str, after: Millis, zone: str | None) -> Millis:
    """Return the next moment strictly after `after`, of an expression that `check_cron` accepted.

    A fixed time of day occurs once a day: a time that daylight saving skips moves forward, and of a time that occurs
    twice the first counts. Intervals such as `*/15 * * * *` follow elapsed time.
    """
    fields, zone_info = _fields(expression), zone_of(zone)
    last = Millis(after + MAX_AHEAD)
    find = _next_interval if fields[0].startswith("*") or fields[1].startswith("*") else _next_fixed
    try:
        return min(find(" ".join(fields), after, zone_info), last)
    except (StopIteration, OverflowError):
        return last


def _fields(expression: str) -> list[str]:
    return _NAMES.get(expression.strip().lower(), expression).split()


def _next_fixed(expression: str, after: Millis, zone: ZoneInfo) -> Millis:
    # Without a zone the library computes local times; starting a day earlier finds times that moved past `after`.
    times = CronSim(expression, local_time(after, zone) - timedelta(days=1))
    while True:
        local = next(times)
        moment = moment_of(local, zone)
        if moment > after and has_day(local.date(), zone):
            return moment


def _next_interval(expression: str, after: Millis, zone: ZoneInfo) -> Millis:
    # The library looks strictly after the second that it starts from, and finds whole minutes.
    times = CronSim(expression, datetime.fromtimestamp(after // 1000, UTC).astimezone(zone))
    return Millis(int(next(times).timestamp()) * 1000)
