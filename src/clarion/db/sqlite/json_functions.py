"""Matching of JSON documents as SQL functions of SQLite; migrations define the same ones in PostgreSQL."""

from typing import Any

import msgspec


def json_matches(document: str | None, pattern: str) -> bool:
    """Returns whether `document` contains `pattern`: objects by containment, arrays and scalars by equality."""
    return document is not None and _contains(msgspec.json.decode(document), msgspec.json.decode(pattern))


def json_has_values(document: str | None, conditions: str) -> bool:
    """Return whether `document` meets all conditions: an array of pairs, each a path and the values allowed there.

    An array at the end of a path needs to contain one of the values.
    """
    if document is None:
        return False
    value = msgspec.json.decode(document)
    return all(_has_value(value, path, wanted) for path, wanted in msgspec.json.decode(conditions))


def _has_value(value: Any, path: list[str], wanted: list[Any]) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    found = value if isinstance(value, list) else [value]
    return any(_equal(one, other) for one in found for other in wanted)


def _contains(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(key in value and _contains(value[key], pattern[key]) for key in pattern)
    return _equal(value, pattern)


def _equal(left: Any, right: Any) -> bool:
    # In JSON true differs from 1, in Python it does not.
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return (type(left) is type(right) and left == right) or (_are_numbers(left, right) and left == right)


def _are_numbers(left: Any, right: Any) -> bool:
    return isinstance(left, int | float) and isinstance(right, int | float)
