"""Compares values of payloads and subscribers with those that a condition expects; never raises."""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from clarion.clock import find_moment
from clarion.conditions.paths import MISSING
from clarion.jsontext import json_text, json_value

MAX_EXPLAINED: Final = 200
MAX_PATTERN: Final = 1_000
"""Characters of a pattern with wildcards; a longer one matches nothing."""


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
    found = _one_part(first).match(text)
    for part in rest[:-1]:
        found = found and _one_part(part).search(text, found.end())
    tail = len(text) - len(rest[-1])
    return found is not None and found.end() <= tail and _one_part(rest[-1]).fullmatch(text, tail) is not None


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
