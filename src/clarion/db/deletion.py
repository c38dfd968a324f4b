"""Deletes many rows of an environment in small batches, in the order of a table's primary key.

Each batch is a unit of work of its own, so that others write in between. A batch begins behind the last one: PostgreSQL
would otherwise read the dead rows of all earlier batches again.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.db.pace import MAX_BATCH, Pace
from clarion.db.port import Connection, Database
from clarion.db.query import Query, sql

Key = Mapping[str, Any]
"""Values of the primary key, by column."""

MayBegin = Callable[[Connection], Awaitable[bool]]


class KeyedTable(Struct, frozen=True):
    """A table with `environment_id`, and the columns of its primary key but for that one."""

    name: str
    key: tuple[str, ...]
    is_by_environment: bool = True
    """Whether the primary key begins with `environment_id`; if not, the whole table is read."""
    max_rows: int = MAX_BATCH
    """Of one batch; fewer for a table of large rows."""


class Batch(Struct, frozen=True):
    """What a batch did."""

    deleted: int
    last: Key | None
    """The key behind which the next batch begins; None after the last batch."""
    seconds: float = 0.0
    """How long it took, without waiting for others."""


async def delete_rows(
    database: Database, table: KeyedTable, environment_id: bytes, *, pace: Pace, may_begin: MayBegin
) -> int | None:
    """Delete all rows of an environment; returns how many there were, or None if a batch might not begin.

    `may_begin` is asked in the unit of work of each batch.
    """
    deleted, after = 0, None
    while True:
        started = time.perf_counter()
        limit = min(pace.batch, table.max_rows)
        delete = partial(_try_batch, table=table, environment_id=environment_id, after=after, limit=limit)
        batch = await database.transaction(partial(delete, may_begin=may_begin))
        if batch is None:
            return None
        deleted += batch.deleted
        # A batch in the middle of a table is full, whether or not its rows were all of this environment.
        pace.note(batch.deleted if batch.last is None else limit, batch.seconds)
        await pace.pause(batch.seconds, waited=time.perf_counter() - started - batch.seconds)
        if batch.last is None:
            return deleted
        after = batch.last


async def delete_batch(
    db: Connection, table: KeyedTable, environment_id: bytes, *, after: Key | None, limit: int
) -> Batch:
    """Delete about `limit` rows behind a key: also those that are inserted between them meanwhile."""
    bounds = {"environment_id": environment_id, **_named("after", after or {})}
    last = await db.fetch_one(_find_last(table, is_first=after is None), **bounds, skipped=limit - 1)
    statement = _delete(table, is_first=after is None, is_last=last is None)
    deleted = await db.execute(statement, **bounds, **_named("last", last or {}))
    return Batch(deleted, None if last is None else dict(last))


async def _try_batch(
    db: Connection,
    *,
    table: KeyedTable,
    environment_id: bytes,
    after: Key | None,
    limit: int,
    may_begin: MayBegin,
) -> Batch | None:
    began = time.perf_counter()
    if not await may_begin(db):
        return None
    batch = await delete_batch(db, table, environment_id, after=after, limit=limit)
    return replace(batch, seconds=time.perf_counter() - began)


def _named(prefix: str, key: Key) -> dict[str, Any]:
    return {f"{prefix}_{column}": value for column, value in key.items()}


def _find_last(table: KeyedTable, *, is_first: bool) -> Query:
    """Find the key of the last row of a full batch."""
    columns = ", ".join(table.key)
    conditions = ["environment_id = :environment_id"] if table.is_by_environment else []
    conditions += [] if is_first else [_compare(table, ">", "after")]
    order = f"environment_id, {columns}" if table.is_by_environment else columns
    return sql(f"""
        SELECT {columns} FROM {table.name} WHERE {" AND ".join(conditions) or "TRUE"}
        ORDER BY {order} LIMIT 1 OFFSET :skipped
    """)


def _delete(table: KeyedTable, *, is_first: bool, is_last: bool) -> Query:
    conditions = ["environment_id = :environment_id"]
    conditions += [] if is_first else [_compare(table, ">", "after")]
    conditions += [] if is_last else [_compare(table, "<=", "last")]
    return sql(f"DELETE FROM {table.name} WHERE {' AND '.join(conditions)}")


def _compare(table: KeyedTable, operator: str, prefix: str) -> str:
    parameters = ", ".join(f":{prefix}_{column}" for column in table.key)
    return f"({', '.join(table.key)}) {operator} ({parameters})"
