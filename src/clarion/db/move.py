"""Moves an installation from SQLite to an empty PostgreSQL database: all tables in one transaction, counts compared."""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import asyncpg
from msgspec import Struct

from clarion.db.migrations.migrate import list_missing_in_postgres
from clarion.db.migrations.revisions import list_missing, read_sqlite_schema
from clarion.db.sqlite.file import exclusively
from clarion.errors import StoreError, StoreOutdated, StoreUnavailable

_LOCK_TIMEOUT = "2s"

# Which processes are alive: none of them lives on.
LEFT_OUT = frozenset({"workers", "socket_hosts", "online_people", "processes"})
_OF_SQLITE = ("sqlite_%", "subscriber_search%", "alembic_version")
"""SQLite's own tables, and those of its text index, which PostgreSQL has as indexes of the table itself."""

_LIST_COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name <> 'alembic_version' AND is_generated = 'NEVER'
    ORDER BY table_name, ordinal_position
"""


class TableCount(Struct, frozen=True):
    """How many rows of a table were moved."""

    table: str
    rows: int


class _Column(Struct, frozen=True):
    name: str
    type: str


async def move_to_postgres(path: Path, url: str) -> list[TableCount]:
    """Copy all rows of a store that no process serves; returns the counts, the same on both sides.

    If anything goes wrong, the target is as empty as before. The source is only read.
    """
    with exclusively(path) as source:
        if list_missing(read_sqlite_schema(source), f"The store {path}"):
            raise StoreOutdated(f"The store {path} lacks migrations; run `clarion migrate` on it first.")
        if await list_missing_in_postgres(url):
            raise StoreOutdated("The target lacks migrations; run `clarion migrate --database-url …` on it first.")
        async with _target(url) as target:
            tables = await _read_tables(target)
            _require_same_tables(source, tables)
            await _require_empty(target, tables)
            counts = [await _move_table(source, target, name, tables[name]) for name in sorted(tables)]
        await _analyze(url)
    return counts


@asynccontextmanager
async def _target(url: str) -> AsyncIterator[Any]:
    """A transaction on the target."""
    try:
        connection = await asyncpg.connect(url)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise StoreUnavailable(f"PostgreSQL cannot be reached: {error}") from error
    try:
        await connection.set_type_codec(
            "uuid", schema="pg_catalog", encoder=_same_bytes, decoder=_same_bytes, format="binary"
        )
        async with connection.transaction():
            yield connection
    except asyncpg.LockNotAvailableError as error:
        raise StoreError("Processes use the target database; stop them first.") from error
    except (asyncpg.PostgresConnectionError, OSError) as error:
        raise StoreUnavailable(f"The connection to PostgreSQL was lost; nothing was moved: {error}") from error
    finally:
        await connection.close()


async def _read_tables(target: Any) -> dict[str, list[_Column]]:
    tables: dict[str, list[_Column]] = {}
    for row in await target.fetch(_LIST_COLUMNS):
        if row["table_name"] not in LEFT_OUT:
            tables.setdefault(row["table_name"], []).append(_Column(row["column_name"], row["data_type"]))
    return tables


def _require_same_tables(source: apsw.Connection, tables: dict[str, list[_Column]]) -> None:
    """Raise if the source has a table or a column that would be left behind."""
    conditions = " AND ".join(f"name NOT LIKE '{pattern}'" for pattern in _OF_SQLITE)
    found = {row[0] for row in source.execute(f"SELECT name FROM sqlite_master WHERE type = 'table' AND {conditions}")}
    unknown = sorted((found - LEFT_OUT) ^ tables.keys())
    if unknown:
        raise StoreError(f"The schemas differ in the table {unknown[0]}; nothing was moved.")
    for table, columns in tables.items():
        # Generated columns are hidden here.
        names = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
        if names != {one.name for one in columns}:
            raise StoreError(f"The schemas differ in the columns of {table}; nothing was moved.")


async def _require_empty(target: Any, tables: Collection[str]) -> None:
    """Lock all tables, so that no process sets up the target meanwhile; raises if one has rows."""
    await target.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
    await target.execute(f"LOCK TABLE {', '.join(sorted(tables))} IN EXCLUSIVE MODE")
    for table in tables:
        if await target.fetchval(f"SELECT EXISTS (SELECT 1 FROM {table})"):
            raise StoreError(
                f"The target is not empty: its table {table} has rows. Move to a database that "
                "no process was started on."
            )


async def _move_table(source: apsw.Connection, target: Any, table: str, columns: list[_Column]) -> TableCount:
    names = [one.name for one in columns]
    converters = [_CONVERTERS.get(one.type) for one in columns]
    quoted = ", ".join(f'"{name}"' for name in names)
    cursor = source.execute(f"SELECT {quoted} FROM {table}")
    try:
        await target.copy_records_to_table(table, columns=names, records=_convert(cursor, converters))
    except (asyncpg.DataError, ValueError, TypeError) as error:
        raise StoreError(f"A row of the table {table} does not fit; nothing was moved: {error}") from error
    expected: int = source.execute(f"SELECT count(*) FROM {table}").get
    moved: int = await target.fetchval(f"SELECT count(*) FROM {table}")
    if moved != expected:
        raise StoreError(f"The table {table} has {expected} rows, but {moved} arrived; nothing was moved.")
    return TableCount(table, moved)


async def _convert(cursor: apsw.Cursor, converters: list[Any]) -> AsyncIterator[tuple[Any, ...]]:
    """The rows as PostgreSQL takes them, read as they are sent."""
    for row in cursor:
        yield tuple(
            value if convert is None or value is None else convert(value)
            for value, convert in zip(row, converters, strict=True)
        )


async def _analyze(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


def _same_bytes(value: bytes) -> bytes:
    return value


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "boolean": bool,
    "double precision": float,
    "uuid": bytes,
    "bytea": bytes,
}
