"""Partial match of JSON documents as an SQL function of SQLite; migrations define the same one in PostgreSQL."""

from typing import Any

import msgspec


def json_matches(document: str | None, pattern: str) -> bool:
    """Returns whether `document` contains `pattern`: objects by containment, arrays and scalars by equality."""
    return document is not None and _contains(msgspec.json.decode(document), msgspec.json.decode(pattern))


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
