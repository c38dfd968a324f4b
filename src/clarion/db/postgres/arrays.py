"""Arrays on connections to PostgreSQL, without asking the server what they are.

asyncpg asks on each new connection, whenever a statement has arrays that it has not met there yet. The server takes 5
to 10 ms for each answer, and the first units of work on a connection wait. The numbers of built-in types are fixed.
"""

from collections.abc import Iterable
from typing import Any

import asyncpg
from msgspec import Struct


class BuiltInArray(Struct, frozen=True):
    element_name: str
    element: int


BUILT_IN_ARRAYS = {
    1000: BuiltInArray("bool", 16),
    1001: BuiltInArray("bytea", 17),
    1005: BuiltInArray("int2", 21),
    1007: BuiltInArray("int4", 23),
    1016: BuiltInArray("int8", 20),
    1022: BuiltInArray("float8", 701),
    2951: BuiltInArray("uuid", 2950),
}
"""By the number of their type; asyncpg itself knows arrays of text."""


class _Statement(Struct, frozen=True):
    name: str


# A name says that the statement which is being prepared is still the server's latest one.
_NO_QUERY = _Statement("none")


class ArrayConnection(asyncpg.Connection):  # type: ignore[misc]
    """A connection that knows arrays of built-in types."""

    __slots__ = ()

    async def _introspect_types(self, typeoids: Iterable[int], *options: Any) -> tuple[Any, Any]:
        if all(number in BUILT_IN_ARRAYS for number in typeoids):
            return [_describe(number) for number in typeoids], _NO_QUERY
        return await super()._introspect_types(typeoids, *options)  # type: ignore[no-any-return]


def _describe(number: int) -> dict[str, Any]:
    """Describe an array as asyncpg's own query does, with the columns that it reads of an array."""
    array = BUILT_IN_ARRAYS[number]
    return {
        "oid": number,
        "name": f"_{array.element_name}",
        "ns": "pg_catalog",
        "elemtype": array.element,
        "elemdelim": ",",
        "range_subtype": None,
        "attrtypoids": None,
        "basetype": None,
    }
