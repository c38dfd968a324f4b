"""Which messages of an inbox are meant: filters as records, read from the forms that clients send."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import Invalid, Malformed
from clarion.http.limits import check_nesting
from clarion.vocabulary import Severity

MAX_FILTER_VALUES = 200
"""How many values the filter by `data` or by `tags` has in all."""

_DATA_LEVELS = 2
_OPERATORS = {"or", "and"}
_NO_OBJECT = 'must be a JSON object such as {"orderId": 7}'

Scalar = str | int | float | bool | None
TagGroups = tuple[tuple[str, ...], ...]
"""A message fits if its workflow has one tag of every group."""


class DataCondition(Struct, frozen=True, array_like=True):
    """The values that are allowed at one place in a message's data."""

    path: tuple[str, ...]
    values: tuple[Scalar, ...]


class InboxFilter(Struct, frozen=True, kw_only=True):
    """A message fits if it fits all that is given."""

    read: bool | None = None
    seen: bool | None = None
    archived: bool | None = None
    snoozed: bool | None = None
    severities: tuple[Severity, ...] = ()
    tags: TagGroups = ()
    data: tuple[DataCondition, ...] = ()
    created_gte: Millis | None = None
    created_lte: Millis | None = None
    context_keys: tuple[str, ...] | None = None
    """Of exactly these contexts, or of none if it is empty; None: of any."""

    @property
    def is_light(self) -> bool:
        """Whether an index has the messages that fit, so that few others are read."""
        has_time = self.created_gte is not None or self.created_lte is not None
        is_plain = not (self.tags or self.data or self.context_keys or has_time)
        is_unread = self.read is False and self.snoozed is False
        return is_plain and (is_unread or (self.read is None and self.seen is None and not self.severities))

    def __post_init__(self) -> None:
        if self.read is False and self.archived:
            raise Malformed("'read' false and 'archived' true exclude each other: archived messages are read")


def read_data(value: str | Mapping[str, Any] | None, name: str = "data") -> tuple[DataCondition, ...]:
    """Read a filter by `data`, an object or its JSON text; raises Invalid with the path of what is not valid."""
    if isinstance(value, str):
        value = _decode(value, name)
    conditions = tuple(_read_members(value or {}, (), name))
    if sum(len(one.values) for one in conditions) > MAX_FILTER_VALUES:
        raise Invalid.field(name, f"has more than {MAX_FILTER_VALUES} values")
    return conditions


def check_tags(groups: Sequence[Sequence[str]], name: str = "tags") -> TagGroups:
    """Return the groups that have tags; raises Invalid if there are too many."""
    if sum(len(one) for one in groups) > MAX_FILTER_VALUES:
        raise Invalid.field(name, f"has more than {MAX_FILTER_VALUES} tags")
    return tuple(tuple(one) for one in groups if one)


def _decode(text: str, name: str) -> Mapping[str, Any]:
    if not text.strip():
        return {}
    try:
        check_nesting(text.encode())
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, Malformed, ValueError):
        raise Invalid.field(name, _NO_OBJECT, text) from None
    if not isinstance(value, dict):
        raise Invalid.field(name, _NO_OBJECT, text)
    return value


def _read_members(members: Mapping[str, Any], path: tuple[str, ...], name: str) -> Iterator[DataCondition]:
    for key, value in members.items():
        where, place = f"{name}.{key}", (*path, key)
        if "\x00" in key:
            raise Invalid.field(name, "must not contain the character U+0000")
        if isinstance(value, dict) and value and value.keys() <= _OPERATORS:
            yield from _read_operators(value, place, where)
        elif isinstance(value, dict):
            if len(place) == _DATA_LEVELS:
                raise Invalid.field(where, f"is an object inside {_DATA_LEVELS} others; filters reach no deeper")
            yield from _read_members(value, place, where)
        else:
            yield from _read_choice(value, place, where)


def _read_operators(value: Mapping[str, Any], path: tuple[str, ...], name: str) -> Iterator[DataCondition]:
    if "or" in value:
        yield from _read_choice(value["or"], path, f"{name}.or", is_array=True)
    groups = value.get("and", [])
    if not isinstance(groups, list):
        raise Invalid.field(f"{name}.and", 'must be an array of objects such as {"or": ["a", "b"]}', groups)
    for number, group in enumerate(groups):
        where = f"{name}.and.{number}"
        if isinstance(group, dict) and group.keys() == {"or"}:
            yield from _read_choice(group["or"], path, f"{where}.or", is_array=True)
        else:
            yield from _read_choice(group, path, where)


def _read_choice(value: Any, path: tuple[str, ...], name: str, *, is_array: bool = False) -> Iterator[DataCondition]:
    if is_array and not isinstance(value, list):
        raise Invalid.field(name, "must be an array", value)
    values = value if isinstance(value, list) else [value]
    for one in values:
        if not isinstance(one, Scalar) or (isinstance(one, str) and "\x00" in one):
            raise Invalid.field(name, "must be text, a number, true, false, null, or an array of these", one)
    if values:
        yield DataCondition(path=path, values=tuple(values))
