"""Connections to PostgreSQL: the statements of a unit of work, what each connection is set to, and arrays.

asyncpg asks the server on each new connection what arrays are, whenever a statement has some that it has not met there
yet. The server takes 5 to 10 ms for each answer, and the first units of work on a connection wait. The numbers of
built-in types are fixed, so that nobody has to ask.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import asyncpg
from msgspec import Struct

from clarion.cache import Caches
from clarion.db.port import Dialect, Row
from clarion.db.query import Insert, Query, as_short_array
from clarion.errors import StoreUnavailable

UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.PostgresSystemError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)


class PostgresConnection:
    """A unit of work on a pooled connection."""

    dialect = Dialect.POSTGRES
    is_sandbox = False

    def __init__(self, connection: Any, caches: Caches) -> None:
        self._connection = connection
        self.caches = caches

    async def fetch(self, query: Query, /, **parameters: Any) -> Sequence[Row]:
        rows: Sequence[Row] = await self._connection.fetch(query.postgres, *query.arguments(parameters))
        return rows

    async def fetch_values(self, query: Query, /, **parameters: Any) -> Sequence[Sequence[Any]]:
        # Its rows are mappings and sequences at once.
        rows: Sequence[Sequence[Any]] = await self._connection.fetch(query.postgres, *query.arguments(parameters))
        return rows

    async def fetch_one(self, query: Query, /, **parameters: Any) -> Row | None:
        row: Row | None = await self._connection.fetchrow(query.postgres, *query.arguments(parameters))
        return row

    async def execute(self, query: Query, /, **parameters: Any) -> int:
        return _read_count(await self._connection.execute(query.postgres, *query.arguments(parameters)))

    async def execute_many(self, query: Query, rows: Sequence[dict[str, Any]], /) -> None:
        if query.each:
            await self._connection.execute(query.postgres, *query.postgres_columns(rows))
        else:
            await self._connection.executemany(query.postgres, map(query.arguments, rows))

    async def insert_many(self, into: Insert, rows: Sequence[tuple[Any, ...]], /) -> int:
        if into.postgres_arrays is not None:
            # One statement costs the server less than many, but an array of one value costs more than a value.
            if len(rows) == 1:
                return _read_count(await self._connection.execute(into.postgres, *rows[0]))
            columns = map(as_short_array, zip(*rows, strict=True))
            return _read_count(await self._connection.execute(into.postgres_arrays, *columns))
        if into.on_conflict:
            return len(await self._connection.fetchmany(into.postgres, rows))
        await self._connection.copy_records_to_table(into.table, columns=into.columns, records=rows)
        return len(rows)


def make_unavailable(error: BaseException) -> StoreUnavailable:
    return StoreUnavailable(f"PostgreSQL cannot be used now: {error}")


def _read_count(status: str) -> int:
    """How many rows a statement changed."""
    count = status.rpartition(" ")[2]
    return int(count) if count.isdigit() else 0


async def prepare_connection(connection: Any, *, max_idle_seconds: float) -> None:
    # Both databases return ids as 16 bytes.
    await connection.set_type_codec(
        "uuid", schema="pg_catalog", encoder=_same_bytes, decoder=_same_bytes, format="binary"
    )
    # Not parameters of the connection, which some connection poolers refuse.
    await connection.execute(f"""
        SET idle_in_transaction_session_timeout = {int(max_idle_seconds * 1000)};
        -- Plans are kept. One that was made while a table was nearly empty would go on reading the whole table.
        SET enable_seqscan = off;
        -- Before PostgreSQL 18 a table that has to be read whole looks so expensive then that it compiles the plan.
        SET jit = off
    """)


def _same_bytes(value: bytes) -> bytes:
    return value


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
