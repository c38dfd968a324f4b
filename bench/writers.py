"""Writes rows directly into the stores of the systems: copies of rows that the API has made."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import asyncpg

from bench.stores import rows_of
from bench.systems import SQLITE, System
from clarion.clock import SystemClock
from clarion.db.sqlite import connect
from clarion.ids import new_id

Row = dict[str, Any]

_COMPUTED = "full_name"


class Writer(Protocol):
    def make_id(self) -> Any: ...

    async def find(self, query: str, value: str) -> Row:
        """Return the one row that a query finds; `{}` stands for the value."""
        ...

    async def insert(self, table: str, rows: Sequence[Row]) -> None: ...


@asynccontextmanager
async def open_writer(system: System) -> AsyncIterator[Writer]:
    if system.kind == SQLITE:
        with contextlib.closing(connect(system.folder / "clarion.db")) as opened:
            yield _SqliteWriter(opened)
        return
    connection = await asyncpg.connect(system.database_url)
    try:
        yield _PostgresWriter(connection)
    finally:
        await connection.close()


class _SqliteWriter:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_id(self) -> bytes:
        return new_id(SystemClock().now())

    async def find(self, query: str, value: str) -> Row:
        (row,) = rows_of(self._connection.execute(query.format("?"), (value,)))
        return _stored(row)

    async def insert(self, table: str, rows: Sequence[Row]) -> None:
        marks = ", ".join(f":{name}" for name in rows[0])
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks})", rows)
        self._connection.execute("COMMIT")


class _PostgresWriter:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_id(self) -> uuid.UUID:
        return uuid.UUID(bytes=new_id(SystemClock().now()))

    async def find(self, query: str, value: str) -> Row:
        return _stored(await self._connection.fetchrow(query.format("$1"), value))

    async def insert(self, table: str, rows: Sequence[Row]) -> None:
        records = [tuple(row.values()) for row in rows]
        await self._connection.copy_records_to_table(table, records=records, columns=list(rows[0]))


def _stored(row: Any) -> Row:
    """Return a row without its generated columns."""
    return {name: value for name, value in dict(row).items() if name != _COMPUTED}
