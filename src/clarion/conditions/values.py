"""Values of payloads and subscribers: finding them by paths, and comparing them with those that a condition expects.

Nothing here raises.
"""

import calendar
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, Millis, find_moment
from clarion.conditions.lazy import LazyText
from clarion.jsontext import json_text, json_value

MAX_EXPLAINED: Final = 200
MAX_PATTERN: Final = 1_000
"""Characters of a pattern with wildcards; a longer one matches nothing."""

_EXACT: Final = {"minutes": MINUTE, "hours": HOUR, "days": DAY, "weeks": Millis(7 * DAY)}
_MONTHS: Final = {"months": 1, "years": 12}
_TOLERANCES: Final = {**_EXACT, "weeks": DAY, "months": DAY, "years": Millis(7 * DAY)}
_MAX_AMOUNT: Final = 100_000


class Missing(Enum):
    """The type of MISSING, which differs from null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

_INDEX = re.compile(r"\[(\d{1,9})\]")
_PATH = re.compile(r"[^.\[\]{}|%]+(\.[^.\[\]{}|%]+|\[\d{1,9}\])*")


def is_path(text: str) -> bool:
    """Returns whether a text is a valid path: members separated by dots, list indexes as `.0` or `[0]`."""
    return _PATH.fullmatch(text) is not None


def split_path(path: str) -> list[str]:
    return (_INDEX.sub(r".\1", path) if "[" in path else path).split(".")


def find_value(value: Any, path: str) -> Any | Literal[Missing.MISSING]:
    """The value at `path`, or MISSING; never raises."""
    return follow(value, split_path(path))


def follow(value: Any, parts: list[str]) -> Any | Literal[Missing.MISSING]:
    for part in parts:
        if isinstance(value, dict):
            if part not in value:
                return MISSING
            value = value[part]
        elif isinstance(value, list | tuple) and part.isascii() and part.isdigit() and int(part[:9]) < len(value):
            value = value[int(part[:9])]
        else:
            return MISSING
    return str(value) if isinstance(value, LazyText) else value


class ConditionResult(Struct, frozen=True, kw_only=True):
    """Whether a condition passed, and what was compared, as JSON."""

    passed: bool
    explanation: Any


def is_absent(value: Any) -> bool:
    """Return whether a value is missing or null."""
    return value is MISSING or value is None


def find_number(value: Any) -> int | float | None:
    """Return the number that a value is or spells, or None; booleans are no numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = value.strip() if isinstance(value, str) and len(value) <= 64 and value.isascii() and "_" not in value else ""
    try:
        # Integers stay integers, because identifiers can have more digits than a float.
        return int(text) if text.lstrip("+-").isdecimal() else _finite(text)
    except ValueError:
        return None


def find_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    spelled = value.strip().lower() if isinstance(value, str) else None
    return {"true": True, "false": False}.get(spelled) if spelled else None


def find_date(value: Any) -> int | None:
    """Return the moment of an ISO 8601 text, or None; a bare number is no date."""
    if not isinstance(value, str) or not 10 <= len(value.strip()) <= 40 or "-" not in value:
        return None
    return find_moment(value)


def measure(value: Any, limit: int) -> int:
    """Return the work of reading a value whole: one step for each item, at any depth, or 64 characters.

    Beyond the limit it stops, because measuring takes work itself; then it returns more than the limit.
    """
    if isinstance(value, str):
        return len(value) >> 6
    if not isinstance(value, list | dict):
        return 0
    size = len(value)
    for item in value if isinstance(value, list) else value.values():
        if size > limit:
            break
        if isinstance(item, str | list | dict):
            size += measure(item, limit - size)
    return size


def is_equal(first: Any, second: Any) -> bool:
    """Return whether values are equal by meaning: 5 and "5", true and "true", two spellings of one moment."""
    if is_absent(first) or is_absent(second):
        return is_absent(first) and is_absent(second)
    if isinstance(first, str) and isinstance(second, str):
        return first == second or _same(find_date(first), find_date(second))
    if isinstance(first, bool) or isinstance(second, bool):
        return _same(find_boolean(first), find_boolean(second))
    if isinstance(first, list | dict) or isinstance(second, list | dict):
        return bool(_parsed(first) == _parsed(second))
    return _same(find_number(first), find_number(second))


def order(first: Any, second: Any) -> int | None:
    """Return -1, 0 or 1 as `first` is less than, equal to or greater than `second`; None if they have no order."""
    for find in (find_number, find_date):
        low, high = find(first), find(second)
        if low is not None and high is not None:
            return (low > high) - (low < high)
    if isinstance(first, str) and isinstance(second, str):
        return (first > second) - (first < second)
    return None


def is_between(actual: Any, low: Any, high: Any) -> bool:
    """Return whether a value is between two others, inclusively."""
    above, below = order(actual, low), order(actual, high)
    return above is not None and below is not None and above >= 0 >= below


def as_list(expected: Any) -> list[Any] | None:
    """Return the values of a list, a JSON list or a text with commas; None for a single value."""
    if isinstance(expected, list):
        return expected
    if not isinstance(expected, str):
        return None
    if isinstance(parsed := _parsed(expected), list):
        return parsed
    return [part.strip() for part in expected.split(",")] if "," in expected else None


def is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern with `%` and `_` as in SQL, or contains one without either."""
    if "%" not in pattern and "_" not in pattern:
        return pattern in text
    if len(pattern) > MAX_PATTERN:
        return False
    # Matches part by part, each at its first position: one expression for the whole could backtrack exponentially.
    first, *rest = pattern.split("%")
    if not rest:
        return _one_part(first).fullmatch(text) is not None
    match = _one_part(first).match(text)
    for part in rest[:-1]:
        match = match and _one_part(part).search(text, match.end())
    tail = len(text) - len(rest[-1])
    return match is not None and match.end() <= tail and _one_part(rest[-1]).fullmatch(text, tail) is not None


def shorten(value: Any) -> Any:
    """Truncate a value for an explanation."""
    if value is MISSING:
        return None
    if isinstance(value, str):
        return value if len(value) <= MAX_EXPLAINED else value[:MAX_EXPLAINED] + "…"
    if isinstance(value, (list, dict)):
        text = json_text(value)
        return value if len(text) <= MAX_EXPLAINED else text[:MAX_EXPLAINED] + "…"
    return value


def describe_comparison(
    field: str, operator: str, values: Sequence[Any], place: int, *, outcome: bool
) -> dict[str, Any]:
    """What an explanation says of a comparison with the variable at `place`."""
    others = [shorten(value) for at, value in enumerate(values) if at != place]
    return {
        "field": field,
        "operator": operator,
        "actual": shorten(values[place]),
        "expected": others[0] if len(others) == 1 else others,
        "outcome": outcome,
    }


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _one_part(part: str) -> re.Pattern[str]:
    return re.compile("".join("." if letter == "_" else re.escape(letter) for letter in part), re.DOTALL)


def _same(first: Any, second: Any) -> bool:
    return first is not None and second is not None and bool(first == second)


def _parsed(value: Any) -> Any:
    """Decode a text that is a JSON list or object; other values are returned as they are."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    try:
        return json_value(value)
    except (msgspec.DecodeError, RecursionError):
        return value


def compare_dates(operator: str, actual: Any, span: Any, *, now: Millis) -> bool:
    """Return whether a date passes the operator; a malformed date or span never does."""
    moment, since = _moment(actual), find_since(span, now=now)
    return moment is not None and since is not None and DATE_OPERATORS[operator](moment, since, now, span["unit"])


def _moment(value: Any) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if abs(value) < 1 << 53 else None
    return find_date(value)


def find_since(span: Any, *, now: Millis) -> int | None:
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
