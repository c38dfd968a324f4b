"""SQLite: one writer thread that commits whatever is waiting together, readers on their own connections."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
from msgspec import Struct

from clarion.cache import Caches
from clarion.db.jsonmatch import json_matches
from clarion.db.port import Dialect, Row, Work
from clarion.db.query import Insert, Query
from clarion.errors import StoreUnavailable

T = TypeVar("T")

_MAX_UNITS_PER_COMMIT = 256
_BUSY_MILLISECONDS = 10_000
_SCAN_THREADS = 2
_CACHED_STATEMENTS = 512
# 16 MB of log: a page that changes with every commit is written back once for all of them.
_PAGES_PER_CHECKPOINT = 4000
_MAX_ROWS_PER_STATEMENT = 64
# What says that the store itself is in trouble, and not that a statement is wrong.
_TROUBLE = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.ReadOnlyError,
)

log = logging.getLogger(__name__)


def connect(path: Path, *, read_only: bool = False) -> apsw.Connection:
    """Open the file with the settings that durability rests on."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path.resolve()), flags, statementcachesize=_CACHED_STATEMENTS)
    connection.create_scalar_function("json_matches", cast("Any", json_matches), 2, deterministic=True)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_PER_CHECKPOINT}")
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


class SqliteConnection:
    """The port over a plain connection: every call finishes without giving way."""

    dialect = Dialect.SQLITE

    def __init__(self, connection: apsw.Connection, caches: Caches) -> None:
        self._connection = connection
        self.caches = caches

    async def fetch(self, query: Query, /, **parameters: Any) -> Sequence[Row]:
        cursor = self._connection.execute(*query.sqlite_call(parameters))
        names = query.columns or _learn_columns(query, cursor)
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]

    async def fetch_one(self, query: Query, /, **parameters: Any) -> Row | None:
        cursor = self._connection.execute(*query.sqlite_call(parameters))
        names = query.columns or _learn_columns(query, cursor)
        values = cursor.fetchone()
        cursor.close()
        return None if values is None else dict(zip(names, values, strict=True))

    async def execute(self, query: Query, /, **parameters: Any) -> int:
        self._connection.execute(*query.sqlite_call(parameters))
        return self._connection.changes()

    async def execute_many(self, query: Query, rows: Sequence[dict[str, Any]], /) -> None:
        # A statement that returns something waits at each row until it is fetched.
        self._connection.executemany(query.sqlite, map(query.arguments, rows)).fetchall()

    async def insert_many(self, into: Insert, rows: Sequence[tuple[Any, ...]], /) -> None:
        done = 0
        while done < len(rows):
            # In powers of two, so that few texts are prepared for batches of all lengths.
            count = min(1 << (len(rows) - done).bit_length() - 1, _MAX_ROWS_PER_STATEMENT)
            values = tuple(chain.from_iterable(rows[done : done + count]))
            self._connection.execute(into.sqlite(count), values)
            done += count


def _learn_columns(query: Query, cursor: apsw.Cursor) -> Sequence[str]:
    """What the columns of an answer are called; kept with the query, since asking takes as long as a row."""
    with contextlib.suppress(apsw.ExecutionCompleteError):  # there are no rows
        query.columns[:] = [column[0] for column in cursor.get_description()]
    return query.columns


class _Unit(Struct):
    work: Work[Any]
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class SqliteDatabase:
    """The embedded store."""

    dialect = Dialect.SQLITE

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Unit | None] = queue.SimpleQueue()
        self._write = connect(path)
        self._near = connect(path, read_only=True)
        self._path = path
        self._caches = Caches()
        self._scan_local = threading.local()
        self._scan_connections: list[apsw.Connection] = []
        self._scanners = ThreadPoolExecutor(_SCAN_THREADS, thread_name_prefix="clarion-scan")
        self._writer = threading.Thread(target=self._write_forever, name="clarion-writer", daemon=True)
        self._writer.start()

    async def transaction(self, work: Work[T]) -> T:
        unit = _Unit(work, self._loop.create_future())
        self._waiting.put(unit)
        result: T = await unit.future
        return result

    async def read(self, work: Work[T]) -> T:
        return _read_snapshot(self._near, work, self._caches)

    async def scan(self, work: Work[T]) -> T:
        return await self._loop.run_in_executor(self._scanners, self._scan_here, work)

    async def announce_work(self) -> None:
        """Nobody else works on an embedded store."""

    async def listen_for_work(self, listener: Callable[[], None]) -> None:
        """Nobody else announces work on an embedded store."""

    async def renew_statistics(self) -> None:
        """SQLite follows the indexes without any."""

    async def close(self) -> None:
        self._waiting.put(None)
        await self._loop.run_in_executor(None, self._writer.join)
        self._scanners.shutdown(wait=True)
        for connection in (self._near, *self._scan_connections, self._write):
            connection.close()

    def _scan_here(self, work: Work[T]) -> T:
        connection: apsw.Connection | None = getattr(self._scan_local, "connection", None)
        if connection is None:
            connection = self._scan_local.connection = connect(self._path, read_only=True)
            self._scan_connections.append(connection)
        return _read_snapshot(connection, work, self._caches)

    def _write_forever(self) -> None:
        while (unit := self._waiting.get()) is not None:
            units, last = [unit], False
            while len(units) < _MAX_UNITS_PER_COMMIT and not self._waiting.empty():
                following = self._waiting.get()
                if following is None:
                    last = True
                    break
                units.append(following)
            _commit_together(self._write, units, self._caches)
            self._loop.call_soon_threadsafe(_answer, units)
            if last:
                return


def _read_snapshot(connection: apsw.Connection, work: Work[T], caches: Caches) -> T:
    try:
        connection.execute("BEGIN")
        try:
            return run_at_once(work(SqliteConnection(connection, caches)))
        finally:
            connection.execute("COMMIT")
    except _TROUBLE as error:
        raise _unavailable(error) from error


def _commit_together(connection: apsw.Connection, units: list[_Unit], caches: Caches) -> None:
    """One transaction for all; a unit that fails is undone alone, a commit that fails fails them all."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        for unit in units:
            _run_unit(connection, unit, caches, is_alone=len(units) == 1)
        if connection.in_transaction:
            connection.execute("COMMIT")
    except (apsw.Error, StoreUnavailable) as error:
        log.exception("Store cannot commit")
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for unit in units:
            unit.error = unit.error or _unavailable(error)


def _run_unit(connection: apsw.Connection, unit: _Unit, caches: Caches, *, is_alone: bool) -> None:
    # One that is alone is undone with the transaction: for a savepoint SQLite would keep every page as it was.
    if not is_alone:
        connection.execute("SAVEPOINT unit")
    try:
        unit.result = run_at_once(unit.work(SqliteConnection(connection, caches)))
    except BaseException as error:
        unit.error = _unavailable(error) if isinstance(error, _TROUBLE) else error
        if not connection.in_transaction:
            # Disk full and I/O errors make SQLite undo everything: nothing of this batch may be reported as done.
            raise _unavailable(error) from error
        connection.execute("ROLLBACK" if is_alone else "ROLLBACK TO unit")
    if not is_alone:
        connection.execute("RELEASE unit")


def _answer(units: list[_Unit]) -> None:
    for unit in units:
        if unit.future.done():
            continue
        if unit.error is None:
            unit.future.set_result(unit.result)
        else:
            unit.future.set_exception(unit.error)


def run_at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Finish a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("a unit of work awaited something other than its connection")


def _unavailable(error: BaseException) -> StoreUnavailable:
    return error if isinstance(error, StoreUnavailable) else StoreUnavailable(f"The store cannot be used now: {error}")
