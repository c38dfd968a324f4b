"""Operators for dates relative to now, such as "more than 3 days ago"."""

import calendar
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.conditions.values import find_date, find_number

_EXACT: Final = {"minutes": MINUTE, "hours": HOUR, "days": DAY, "weeks": Millis(7 * DAY)}
_MONTHS: Final = {"months": 1, "years": 12}
_TOLERANCES: Final = {**_EXACT, "weeks": DAY, "months": DAY, "years": Millis(7 * DAY)}
_MAX_AMOUNT: Final = 100_000


def compare_dates(operator: str, actual: Any, span: Any, *, now: Millis) -> bool:
    """Return whether a date passes the operator; a malformed date or span never does."""
    moment, since = _moment(actual), _since(span, now=now)
    return moment is not None and since is not None and DATE_OPERATORS[operator](moment, since, now, span["unit"])


def _moment(value: Any) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if abs(value) < 1 << 53 else None
    return find_date(value)


def _since(span: Any, *, now: Millis) -> int | None:
    """Return the moment that lies `span` before now, by the calendar for months and years."""
    if not isinstance(span, dict):
        return None
    amount, unit = find_number(span.get("amount")), span.get("unit")
    if amount is None or not 0 < amount <= _MAX_AMOUNT or not isinstance(unit, str):
        return None
    if unit in _EXACT:
        return now - int(amount * _EXACT[unit])
    return _months_before(now, int(amount) * _MONTHS[unit]) if unit in _MONTHS else None


def _months_before(now: Millis, months: int) -> int | None:
    moment = datetime.fromtimestamp(now // 1000, UTC)
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    if year < 1:
        return None
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return now - (moment - moment.replace(year=year, month=month + 1, day=day)) // timedelta(milliseconds=1)


DATE_OPERATORS: Final[dict[str, Callable[[int, int, int, str], bool]]] = {
    "moreThanXAgo": lambda moment, since, _now, _unit: moment < since,
    "lessThanXAgo": lambda moment, since, _now, _unit: moment >= since,
    "withinLast": lambda moment, since, now, _unit: since <= moment <= now,
    "notWithinLast": lambda moment, since, now, _unit: not since <= moment <= now,
    "exactlyXAgo": lambda moment, since, _now, unit: abs(moment - since) <= _TOLERANCES[unit],
}
