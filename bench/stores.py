"""Reads the stores of the systems: committed messages, size, sample rows.

A trigger is complete when its message is in the store, whatever the API responded. Each query continues after the last
message of the one before, so that its cost does not depend on the number of messages.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg
from msgspec import Struct

from bench.systems import BASELINE, SQLITE, System
from clarion.db.sqlite.database import connect

_TIMEOUT_SECONDS = 60
_HAS_QUEUED = "SELECT EXISTS (SELECT 1 FROM triggers WHERE state = 'queued') AS found"
_NEW_MESSAGES = "SELECT id, content FROM messages WHERE environment_id = {} AND id > {} ORDER BY id"


class Arrival(Struct, frozen=True):
    """A message and the time of the query that found it: late by up to one pause and one query."""

    content: str
    at: float


class Store(Protocol):
    async def read_new(self) -> list[str]:
        """Return the contents of the messages committed since the last call."""
        ...

    async def count_messages(self) -> int: ...

    async def has_queued_triggers(self) -> bool: ...

    async def size_bytes(self) -> int: ...

    async def sample_rows(self, table: str, limit: int) -> list[dict[str, Any]]: ...


@asynccontextmanager
async def open_store(system: System) -> AsyncIterator[Store]:
    """Open the store of a system and skip the messages that are already there."""
    if system.kind == SQLITE:
        reader = SqliteStore(system.folder / "clarion.db")
        try:
            await reader.read_new()
            yield reader
        finally:
            reader.close()
        return
    assert system.database_url is not None
    connection = await asyncpg.connect(system.database_url)
    try:
        store: Store = BaselineStore(connection) if system.kind == BASELINE else PostgresStore(connection)
        await store.read_new()
        yield store
    finally:
        await connection.close()


async def wait_for_messages(store: Store, count: int, *, pause: float = 0.02) -> list[Arrival]:
    """Poll until `count` messages have arrived; raise if none arrives for a minute, or more than `count` do."""
    arrivals: list[Arrival] = []
    last = time.monotonic()
    while len(arrivals) < count:
        found = await store.read_new()
        now = time.time()
        arrivals += [Arrival(content, now) for content in found]
        if found:
            last = time.monotonic()
        elif time.monotonic() - last > _TIMEOUT_SECONDS:
            raise RuntimeError(f"only {len(arrivals)} of {count} messages came")
        await asyncio.sleep(pause)
    if len(arrivals) > count:
        raise RuntimeError(f"{len(arrivals)} messages came where {count} were due")
    return arrivals


def rows_of(cursor: apsw.Cursor) -> list[dict[str, Any]]:
    """Return the rows of a SQLite statement as dictionaries."""
    try:
        names = [column[0] for column in cursor.get_description()]
    except apsw.ExecutionCompleteError:
        return []
    return [dict(zip(names, values, strict=True)) for values in cursor]


class SqliteStore:
    """The SQLite file of Clarion, read while Clarion runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, read_only=True)
        (development,) = rows_of(self._connection.execute("SELECT id FROM environments WHERE name = 'Development'"))
        self._environment_id = development["id"]
        self._last = b""

    async def read_new(self) -> list[str]:
        query = _NEW_MESSAGES.format("?", "?")
        rows = rows_of(self._connection.execute(query, (self._environment_id, self._last)))
        self._last = rows[-1]["id"] if rows else self._last
        return [row["content"] for row in rows]

    async def count_messages(self) -> int:
        (found,) = rows_of(self._connection.execute("SELECT count(*) AS messages FROM messages"))
        return int(found["messages"])

    async def has_queued_triggers(self) -> bool:
        (row,) = rows_of(self._connection.execute(_HAS_QUEUED))
        return bool(row["found"])

    async def size_bytes(self) -> int:
        """Return the size of the file after a checkpoint."""
        with closing(connect(self._path)) as writer:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self._path.stat().st_size

    async def sample_rows(self, table: str, limit: int) -> list[dict[str, Any]]:
        return rows_of(self._connection.execute(f"SELECT * FROM {table} LIMIT {limit}"))

    def close(self) -> None:
        self._connection.close()


class PostgresStore:
    """The PostgreSQL database of Clarion. Queries cost CPU time of the measured server."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._environment_id: Any = None
        self._last = "00000000-0000-0000-0000-000000000000"

    async def read_new(self) -> list[str]:
        if self._environment_id is None:
            self._environment_id = await self._connection.fetchval(
                "SELECT id FROM environments WHERE name = 'Development'"
            )
        rows = await self._connection.fetch(_NEW_MESSAGES.format("$1", "$2"), self._environment_id, self._last)
        self._last = rows[-1]["id"] if rows else self._last
        return [row["content"] for row in rows]

    async def count_messages(self) -> int:
        return int(await self._connection.fetchval("SELECT count(*) FROM messages"))

    async def has_queued_triggers(self) -> bool:
        return bool(await self._connection.fetchval(_HAS_QUEUED))

    async def size_bytes(self) -> int:
        await self._connection.execute("CHECKPOINT")
        return int(await self._connection.fetchval("SELECT pg_database_size(current_database())"))

    async def sample_rows(self, table: str, limit: int) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._connection.fetch(f"SELECT * FROM {table} LIMIT {limit}")]


class BaselineStore(PostgresStore):
    """The database of the baseline; its messages have numbers that the caller gave."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._seen: set[int] = set()

    async def read_new(self) -> list[str]:
        rows = await self._connection.fetch("SELECT seq FROM messages WHERE seq IS NOT NULL")
        new = {row["seq"] for row in rows} - self._seen
        self._seen |= new
        return [str(number) for number in new]
