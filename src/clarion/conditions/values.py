"""How values of payloads and people compare with what a condition expects; nothing here raises."""

import math
import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from clarion.clock import find_moment
from clarion.jsontext import json_text, json_value
from clarion.paths import MISSING

MAX_SHOWN: Final = 200


class Decision(Struct, frozen=True, kw_only=True):
    """Whether a condition passed, and what was compared, as JSON."""

    passed: bool
    explanation: Any


def is_absent(value: Any) -> bool:
    """Null is as good as absent: neither has anything to compare."""
    return value is MISSING or value is None


def find_number(value: Any) -> int | float | None:
    """The number that a value is or spells, or None; true and false are no numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = value.strip() if isinstance(value, str) and len(value) <= 64 and value.isascii() and "_" not in value else ""
    try:
        # Whole numbers stay whole: identifiers have more digits than a float can tell apart.
        return int(text) if text.lstrip("+-").isdecimal() else _finite(text)
    except ValueError:
        return None


def find_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    spelled = value.strip().lower() if isinstance(value, str) else None
    return {"true": True, "false": False}.get(spelled) if spelled else None


def find_date(value: Any) -> int | None:
    """The moment of an ISO 8601 text, or None; a bare number is none."""
    if not isinstance(value, str) or not 10 <= len(value.strip()) <= 40 or "-" not in value:
        return None
    return find_moment(value)


def is_equal(first: Any, second: Any) -> bool:
    """Equal by meaning: 5 and "5", true and "true", two spellings of one moment, the same list."""
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
    """Below zero, zero or above, as `first` stands to `second`; None where they have no order."""
    for find in (find_number, find_date):
        low, high = find(first), find(second)
        if low is not None and high is not None:
            return (low > high) - (low < high)
    if isinstance(first, str) and isinstance(second, str):
        return (first > second) - (first < second)
    return None


def is_between(actual: Any, low: Any, high: Any) -> bool:
    """Whether a value stands between two others, or is one of them."""
    above, below = order(actual, low), order(actual, high)
    return above is not None and below is not None and above >= 0 >= below


def as_list(expected: Any) -> list[Any] | None:
    """The values of a JSON list or of a text with commas; None where it is one value."""
    if isinstance(expected, list):
        return expected
    if not isinstance(expected, str):
        return None
    if isinstance(parsed := _parsed(expected), list):
        return parsed
    return [part.strip() for part in expected.split(",")] if "," in expected else None


def is_like(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern with `%` for anything and `_` for one character; without either, contains it."""
    if "%" not in pattern and "_" not in pattern:
        return pattern in text
    # Part by part, each at its first place: one expression for the whole would try all ways to share the text.
    first, *rest = pattern.split("%")
    if not rest:
        return _one_part(first).fullmatch(text) is not None
    found = _one_part(first).match(text)
    for part in rest[:-1]:
        found = found and _one_part(part).search(text, found.end())
    tail = len(text) - len(rest[-1])
    return found is not None and found.end() <= tail and _one_part(rest[-1]).fullmatch(text, tail) is not None


def shorten(value: Any) -> Any:
    """A value as explanations show it."""
    if value is MISSING:
        return None
    if isinstance(value, str):
        return value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…"
    if isinstance(value, (list, dict)):
        text = json_text(value)
        return value if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return value


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _one_part(part: str) -> re.Pattern[str]:
    return re.compile("".join("." if letter == "_" else re.escape(letter) for letter in part), re.DOTALL)


def _same(first: Any, second: Any) -> bool:
    return first is not None and second is not None and bool(first == second)


def _parsed(value: Any) -> Any:
    """What a text spells where it is a JSON list or object, else the value itself."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    try:
        return json_value(value)
    except (msgspec.DecodeError, RecursionError):
        return value
