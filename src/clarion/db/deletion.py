"""Deletes many rows of an environment in small batches, in the order of a table's primary key.

Each batch is a unit of work of its own, so that others write in between. A batch begins behind the last one: PostgreSQL
would otherwise read the dead rows of all earlier batches again. `Pace` decides how much is deleted at once, and how
long others have the store to themselves in between.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import Query, sql

SHARE = 0.3
"""Of the time, if nobody else writes; the rest are pauses."""
BUSY_SECONDS = 0.003
"""A unit of work that had to wait for longer was not alone."""
MAX_PAUSE_SECONDS = 0.25
"""Deletion that never gets on would fill the disk."""
MIN_BATCH = 10
MAX_BATCH = 500
_FIRST_BATCH = 40
_MIN_PAUSE_SECONDS = 0.002

Key = Mapping[str, Any]
"""Values of the primary key, by column."""

MayBegin = Callable[[Connection], Awaitable[bool]]


class Effort(Struct, frozen=True):
    """What a database bears without others noticing."""

    target_seconds: float
    """How long a unit of work may take."""
    busy_share: float
    """Of the time, if others write too."""


EFFORTS = {
    # All other writers wait for a unit of work, and it makes their commits and checkpoints longer.
    Dialect.SQLITE: Effort(target_seconds=0.0025, busy_share=0.1),
    # Others do not wait for it; most of the time goes into sending statements, however many rows they are for.
    Dialect.POSTGRES: Effort(target_seconds=0.05, busy_share=0.25),
}


class Pace:
    """Adapts the number of rows of a unit of work, and the pauses, to how long the last ones took."""

    def __init__(self, effort: Effort, *, share: float = SHARE, batch: int = _FIRST_BATCH) -> None:
        self.batch = batch
        self._effort = effort
        self._share = share

    def note(self, rows: int, seconds: float) -> None:
        """Learn how long a unit of work for so many rows took."""
        if seconds > self._effort.target_seconds:
            self.batch = max(MIN_BATCH, self.batch // 2)
        elif seconds < self._effort.target_seconds / 2 and rows >= self.batch:
            self.batch = min(MAX_BATCH, self.batch + self.batch // 4 + 1)

    async def pause(self, seconds: float, *, waited: float = 0.0) -> None:
        """Leave the store to others after work that took so long, and that waited so long for them."""
        await asyncio.sleep(self.choose_pause(seconds, waited))

    def choose_pause(self, seconds: float, waited: float) -> float:
        share = min(self._effort.busy_share, self._share) if waited > BUSY_SECONDS else self._share
        return min(max(seconds * (1 / share - 1), _MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)


class KeyedTable(Struct, frozen=True):
    """A table with `environment_id`, and the columns of its primary key but for that one."""

    name: str
    key: tuple[str, ...]
    is_by_environment: bool = True
    """Whether the primary key begins with `environment_id`; if not, the whole table is read."""
    max_rows: int = MAX_BATCH
    """Of one batch; fewer for a table of large rows."""


class DeletedBatch(Struct, frozen=True):
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
) -> DeletedBatch:
    """Delete about `limit` rows behind a key: also those that are inserted between them meanwhile."""
    bounds = {"environment_id": environment_id, **_named("after", after or {})}
    last = await db.fetch_one(_find_last(table, is_first=after is None), **bounds, skipped=limit - 1)
    statement = _delete(table, is_first=after is None, is_last=last is None)
    deleted = await db.execute(statement, **bounds, **_named("last", last or {}))
    return DeletedBatch(deleted, None if last is None else dict(last))


async def _try_batch(
    db: Connection,
    *,
    table: KeyedTable,
    environment_id: bytes,
    after: Key | None,
    limit: int,
    may_begin: MayBegin,
) -> DeletedBatch | None:
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
