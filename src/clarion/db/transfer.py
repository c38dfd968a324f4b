"""Copies rows from one store into another, whichever databases they are."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Column, Float
from sqlalchemy.sql.sqltypes import LargeBinary

from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.db.schema import metadata

Rows = Sequence[tuple[Any, ...]]
"""The values of all columns of a table, in the order of the schema; generated columns are left out."""

_SEARCH_ROW = "search_row"


async def read_rows(db: Connection, table: str, column: str, value: Any) -> Rows:
    """The rows of a table whose column has this value."""
    names = [one.name for one in _columns(table)]
    found = await db.fetch(sql(f"SELECT {', '.join(names)} FROM {table} WHERE {column} = :value"), value=value)
    return [tuple(row[name] for name in names) for row in found]


async def insert_rows(db: Connection, table: str, rows: Rows) -> None:
    """Insert rows of another store; a row that exists is an error."""
    if not rows:
        return
    columns = _columns(table)
    names = [one.name for one in columns]
    plain = [tuple(map(_convert, columns, row)) for row in rows]
    if _SEARCH_ROW in names:
        plain = await _renumber(db, table, plain, names.index(_SEARCH_ROW))
    await db.insert_many(Insert(table, *names), plain)


@cache
def _columns(table: str) -> Sequence[Column[Any]]:
    return [one for one in metadata.tables[table].columns if one.computed is None]


def _convert(column: Column[Any], value: Any) -> Any:
    """SQLite has no booleans, and returns whole numbers of a column of floats as they were written."""
    if value is None:
        return None
    if isinstance(column.type, Boolean):
        return bool(value)
    if isinstance(column.type, Float):
        return float(value)
    return bytes(value) if isinstance(column.type, LargeBinary) else value


async def _renumber(db: Connection, table: str, rows: Rows, place: int) -> list[tuple[Any, ...]]:
    """Rows of the text index are numbered through the whole store."""
    row = await db.fetch_one(sql(f"SELECT COALESCE(MAX({_SEARCH_ROW}), 0) AS last FROM {table}"))
    last = 0 if row is None else row["last"]
    return [(*one[:place], last + number, *one[place + 1 :]) for number, one in enumerate(rows, 1)]
