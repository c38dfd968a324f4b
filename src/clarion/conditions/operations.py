"""The operators of JSON-logic over evaluated values, which never raise; and how large a rule may be."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from clarion.conditions.values import MISSING, as_list, find_number, is_absent, is_between, is_equal, order
from clarion.work import MAX_DECISION_WORK, MAX_SEGMENT_WORK

# They repeat a part of the rule for each item of a list, or make texts and lists of any length.
_REPEATING: Final = ("map", "filter", "reduce", "all", "some", "none", "merge", "cat", "substr")

MAX_TEXT: Final = 1 << 20
MANY: Final = 1000

Operation = Callable[..., Any]


class RuleLimits(Struct, frozen=True, kw_only=True):
    max_depth: int
    max_parts: int
    """Operators, lists and values."""
    max_work: int
    """Of one decision."""
    max_bytes: int | None = None
    """As JSON."""
    refused: tuple[str, ...] = ()
    """Operators that a rule must not have."""


OF_WORKFLOWS: Final = RuleLimits(max_depth=32, max_parts=2_000, max_work=MAX_DECISION_WORK)
OF_SUBSCRIBERS: Final = RuleLimits(
    max_depth=8, max_parts=40, max_work=100, max_bytes=1_000, refused=(*_REPEATING, "segment")
)
"""What people set themselves is decided at every trigger, at the expense of everybody."""
OF_SEGMENTS: Final = RuleLimits(
    max_depth=16,
    max_parts=200,
    max_work=MAX_SEGMENT_WORK,
    max_bytes=8 * 1024,
    refused=("map", "filter", "reduce", "merge", "cat", "substr", "missing", "missing_some"),
)
"""A segment is decided for each person of an environment, one after the other."""


def is_truthy(value: Any) -> bool:
    """Return the truth of a value in JSON-logic: an empty list is false, the text "0" is true."""
    return bool(value) or isinstance(value, dict)


def text_of(value: Any) -> str:
    if value is None or value is MISSING:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _strictly_equal(first: Any, second: Any) -> bool:
    numbers = not isinstance(first, bool | str) and not isinstance(second, bool | str)
    return bool(first == second) and (type(first) is type(second) or numbers)


def _ordered(accepts: Callable[[int], bool]) -> Operation:
    """Compare each value with the next one; absent values, and those without an order, never pass."""

    def compare(*values: Any) -> bool:
        found = [order(first, second) for first, second in pairwise(values)]
        return all(one is not None and accepts(one) for one in found)

    return compare


def _is_in(needle: Any, haystack: Any) -> bool:
    if is_absent(needle):
        return False
    if isinstance(haystack, str):
        return not isinstance(needle, list | dict) and text_of(needle) in haystack
    return isinstance(haystack, list) and any(is_equal(needle, item) for item in haystack)


def _is_one_of(actual: Any, expected: Any) -> bool:
    return _is_in(actual, as_list(expected) or [expected])


def _contains(actual: Any, expected: Any) -> bool:
    return _is_in(expected, actual)


def _contains_any(actual: Any, expected: Any) -> bool:
    wanted = expected if isinstance(expected, list) else as_list(expected) or [expected]
    return any(_is_in(one, actual) for one in wanted)


def _starts(actual: Any, expected: Any) -> bool:
    return isinstance(actual, str) and isinstance(expected, str) and actual.startswith(expected)


def _ends(actual: Any, expected: Any) -> bool:
    return isinstance(actual, str) and isinstance(expected, str) and actual.endswith(expected)


def _between(actual: Any, *expected: Any) -> bool:
    bounds = as_list(expected[0]) or () if len(expected) == 1 else expected
    return len(bounds) == 2 and is_between(actual, bounds[0], bounds[1])


def _is_empty(value: Any) -> bool:
    return is_absent(value) or (isinstance(value, str | list | dict) and not value)


def _not(operation: Operation) -> Operation:
    def denied(*values: Any) -> bool:
        return not operation(*values)

    return denied


def _numbers(operation: Callable[[list[int | float]], int | float]) -> Operation:
    """Make an arithmetic operator; the result is null if a value or the result is no number."""

    def calculate(*values: Any) -> int | float | None:
        operands = [find_number(value) for value in values]
        numbers = [number for number in operands if number is not None]
        if not numbers or len(numbers) < len(operands):
            return None
        try:
            return _narrow(operation(numbers))
        except (ArithmeticError, ValueError):
            # The remainder of a division by zero is a ValueError where one of the numbers is a float.
            return None

    return calculate


def _narrow(number: float) -> float | None:
    """Turn a number that JSON cannot represent exactly into a float, so that repeated squaring ends with null."""
    if abs(number) < 1 << 53:
        return number
    return float(number) if math.isfinite(float(number)) else None


def _minus(numbers: list[int | float]) -> int | float:
    return -numbers[0] if len(numbers) == 1 else numbers[0] - numbers[1]


def _divide(numbers: list[int | float]) -> int | float:
    quotient = numbers[0] / numbers[1]
    return int(quotient) if quotient.is_integer() else quotient


def _substr(text: Any, start: Any, length: Any = None) -> str:
    source, at = text_of(text), int(find_number(start) or 0)
    at = max(len(source) + at, 0) if at < 0 else at
    if length is None:
        return source[at:]
    count = int(find_number(length) or 0)
    return source[at : at + count] if count >= 0 else source[at:count]


def _cat(*values: Any) -> str:
    return "".join(map(text_of, values))


def _merge(*values: Any) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _remainder(numbers: list[int | float]) -> int | float:
    """Return the remainder with the sign of the dividend, as JavaScript does."""
    dividend, divisor = numbers
    if isinstance(dividend, float) or isinstance(divisor, float):
        return math.fmod(dividend, divisor)
    return (abs(dividend) % abs(divisor)) * (-1 if dividend < 0 else 1)


OPERATIONS: Final[dict[str, tuple[int, int, Operation]]] = {
    # Each with the minimum and maximum number of values.
    "==": (2, 2, is_equal),
    "=": (2, 2, is_equal),
    "!=": (2, 2, _not(is_equal)),
    "===": (2, 2, _strictly_equal),
    "!==": (2, 2, _not(_strictly_equal)),
    ">": (2, 3, _ordered(lambda found: found > 0)),
    ">=": (2, 3, _ordered(lambda found: found >= 0)),
    "<": (2, 3, _ordered(lambda found: found < 0)),
    "<=": (2, 3, _ordered(lambda found: found <= 0)),
    "!": (1, 1, _not(is_truthy)),
    "!!": (1, 1, is_truthy),
    "in": (2, 2, _is_in),
    "notIn": (2, 2, _not(_is_one_of)),
    "contains": (2, 2, _contains),
    "doesNotContain": (2, 2, _not(_contains)),
    "notContains": (2, 2, _not(_contains)),
    "containsAny": (2, 2, _contains_any),
    "doesNotContainAny": (2, 2, _not(_contains_any)),
    "startsWith": (2, 2, _starts),
    "beginsWith": (2, 2, _starts),
    "doesNotBeginWith": (2, 2, _not(_starts)),
    "doesNotStartWith": (2, 2, _not(_starts)),
    "endsWith": (2, 2, _ends),
    "doesNotEndWith": (2, 2, _not(_ends)),
    "between": (2, 3, _between),
    "notBetween": (2, 3, _not(_between)),
    "null": (1, 2, lambda value, *_: is_absent(value)),
    "notNull": (1, 2, lambda value, *_: not is_absent(value)),
    "isEmpty": (1, 2, lambda value, *_: _is_empty(value)),
    "isNonEmpty": (1, 2, lambda value, *_: not _is_empty(value)),
    "max": (1, MANY, _numbers(max)),
    "min": (1, MANY, _numbers(min)),
    "+": (1, MANY, _numbers(sum)),
    "-": (1, 2, _numbers(_minus)),
    "*": (1, MANY, _numbers(math.prod)),
    "/": (2, 2, _numbers(_divide)),
    "%": (2, 2, _numbers(_remainder)),
    "cat": (0, MANY, _cat),
    "substr": (2, 3, _substr),
    "merge": (0, MANY, _merge),
}
