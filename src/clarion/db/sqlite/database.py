"""SQLite: one writer thread that commits all waiting units of work together; reads use other connections."""

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

import apsw
from msgspec import Struct

from clarion.cache import Caches
from clarion.db.port import Dialect, Row, SandboxWork, Work
from clarion.db.query import Insert, Query
from clarion.db.sandbox import HIDDEN_TABLES, MAX_SANDBOXES, Turns, copy_query, stored_query
from clarion.db.sqlite.checkpoints import PAGES_PER_CHECKPOINT, Checkpointer
from clarion.db.sqlite.json_functions import json_has_values, json_matches
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.monitoring.metrics import DatabaseMeasures, PoolState
from clarion.private_files import tighten_file

T = TypeVar("T")

_MAX_UNITS_PER_COMMIT = 256
_MAX_WAITING_UNITS = 10_000
_BUSY_MILLISECONDS = 10_000
_SCAN_THREADS = 2
_CACHED_STATEMENTS = 512
_MAX_ROWS_PER_STATEMENT = 64
# Failures of the store itself, as opposed to errors in a statement.
_STORE_ERRORS = (
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

_LIST_HIDDEN = f"""
    SELECT type, name, tbl_name, sql FROM main.sqlite_master
    WHERE type IN ('table', 'index') AND sql IS NOT NULL AND tbl_name IN {HIDDEN_TABLES} ORDER BY type = 'index'
"""

log = logging.getLogger(__name__)


def connect(path: Path, *, read_only: bool = False, is_durable: bool = True) -> apsw.Connection:
    """Open the file with the pragmas that durability depends on."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path.resolve()), flags, statementcachesize=_CACHED_STATEMENTS)
    # Plans do not depend on parameters. Otherwise SQLite prepares many statements again each time that they run.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.create_scalar_function("json_matches", cast("Any", json_matches), 2, deterministic=True)
    connection.create_scalar_function("json_has_values", cast("Any", json_has_values), 2, deterministic=True)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'OFF'}")
        connection.wal_autocheckpoint(PAGES_PER_CHECKPOINT)
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


class SqliteConnection:
    """A unit of work on a connection; its methods never suspend."""

    dialect = Dialect.SQLITE
    is_sandbox = False

    def __init__(self, connection: apsw.Connection, caches: Caches) -> None:
        self._connection = connection
        self.caches = caches

    async def fetch(self, query: Query, /, **parameters: Any) -> Sequence[Row]:
        cursor = self._connection.execute(*query.sqlite_call(parameters))
        names = query.columns or _read_column_names(query, cursor)
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]

    async def fetch_values(self, query: Query, /, **parameters: Any) -> Sequence[Sequence[Any]]:
        return self._connection.execute(*query.sqlite_call(parameters)).fetchall()

    async def fetch_one(self, query: Query, /, **parameters: Any) -> Row | None:
        cursor = self._connection.execute(*query.sqlite_call(parameters))
        names = query.columns or _read_column_names(query, cursor)
        values = cursor.fetchone()
        cursor.close()
        return None if values is None else dict(zip(names, values, strict=True))

    async def execute(self, query: Query, /, **parameters: Any) -> int:
        self._connection.execute(*query.sqlite_call(parameters))
        return self._connection.changes()

    async def execute_many(self, query: Query, rows: Sequence[dict[str, Any]], /) -> None:
        # A statement with RETURNING stops at each row until that row is fetched.
        self._connection.executemany(query.sqlite, map(query.arguments, rows)).fetchall()

    async def insert_many(self, into: Insert, rows: Sequence[tuple[Any, ...]], /) -> int:
        done = inserted = 0
        while done < len(rows):
            # Powers of two, so that few different statements are prepared.
            count = min(1 << (len(rows) - done).bit_length() - 1, _MAX_ROWS_PER_STATEMENT)
            values = tuple(chain.from_iterable(rows[done : done + count]))
            self._connection.execute(into.sqlite(count), values)
            inserted += self._connection.changes()
            done += count
        return inserted


class SqliteSandbox(SqliteConnection):
    """A unit of work on a connection for reading, whose temporary tables hide those of the file."""

    is_sandbox = True

    def __init__(self, connection: apsw.Connection, caches: Caches) -> None:
        super().__init__(connection, caches)
        self._columns: dict[str, list[str]] = {}
        hidden: list[tuple[str, str, str, str]] = cast("Any", connection.execute(_LIST_HIDDEN).fetchall())
        for kind, name, table, text in hidden:
            # Only the name after CREATE TABLE or CREATE INDEX says where the new one is made.
            connection.execute(text.replace(f" {name}", f" temp.{name}", 1))
            if kind == "table":
                columns = connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", (table,))
                self._columns[table] = [str(column) for (column,) in columns]

    async def copy(self, table: str, where: str, /, **parameters: Any) -> int:
        return await self.execute(copy_query(table, self._columns[table], where, "main"), **parameters)

    async def fetch_stored(self, text: str, /, **parameters: Any) -> Sequence[Row]:
        return await self.fetch(stored_query(text, "main"), **parameters)

    async def transaction(self, work: Work[T]) -> T:
        try:
            # A savepoint.
            with self._connection:
                result = await work(self)
        except _STORE_ERRORS as error:
            raise _make_unavailable(error) from error
        return result

    def run(self, work: SandboxWork[T]) -> T:
        try:
            self._connection.execute("BEGIN")
            try:
                return run_synchronously(work(self))
            finally:
                self._connection.execute("ROLLBACK")
        except _STORE_ERRORS as error:
            raise _make_unavailable(error) from error


def _read_column_names(query: Query, cursor: apsw.Cursor) -> Sequence[str]:
    """The names of the result columns, cached in the query because reading them takes as long as a row."""
    with contextlib.suppress(apsw.ExecutionCompleteError):  # raised if there are no rows
        query.columns[:] = [column[0] for column in cursor.get_description()]
    return query.columns


def read_copy(path: Path, work: Work[T]) -> T:
    """Run reads on a copy of a store that no process serves."""
    with contextlib.closing(connect(path, read_only=True)) as connection:
        return _read_snapshot(connection, work, Caches())


class _Unit(Struct):
    work: Work[Any]
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class SqliteDatabase:
    """A database file, served by one process; commands may open it at the same time.

    One that is not durable, because it is thrown away, does not wait for the disk.
    """

    dialect = Dialect.SQLITE

    def __init__(self, path: Path, *, is_durable: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Unit | None] = queue.SimpleQueue()
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            tighten_file(path.with_name(name))
        self._write_connection = connect(path, is_durable=is_durable)
        self._checkpointer = Checkpointer(self._write_connection, connect(path, is_durable=is_durable))
        self._read_connection = connect(path, read_only=True)
        self._path = path
        self._caches = Caches()
        self.measures = DatabaseMeasures()
        self._is_writing = False
        self._scan_local = threading.local()
        self._scan_connections: list[apsw.Connection] = []
        self._scanners = ThreadPoolExecutor(_SCAN_THREADS, thread_name_prefix="clarion-scan")
        self._sandbox_local = threading.local()
        self._sandboxes = ThreadPoolExecutor(MAX_SANDBOXES, thread_name_prefix="clarion-sandbox")
        self._turns = Turns()
        self._writer_thread = threading.Thread(target=self._run_writer, name="clarion-writer", daemon=True)
        self._writer_thread.start()

    def read_pool(self) -> PoolState:
        writing = int(self._is_writing)
        return PoolState(in_use=writing, idle=1 - writing, limit=1, waiting=self._waiting.qsize())

    async def transaction(self, work: Work[T]) -> T:
        if self._waiting.qsize() >= _MAX_WAITING_UNITS:
            raise StoreUnavailable("The store has too much to write")
        unit = _Unit(work, self._loop.create_future())
        self._waiting.put(unit)
        result: T = await unit.future
        return result

    async def read(self, work: Work[T]) -> T:
        return _read_snapshot(self._read_connection, work, self._caches)

    async def scan(self, work: Work[T]) -> T:
        return await self._loop.run_in_executor(self._scanners, self._scan_in_thread, work)

    async def sandbox(self, environment_id: EnvironmentId, work: SandboxWork[T]) -> T:
        async with self._turns.take(environment_id) as turn:
            with turn.working():
                return await self._loop.run_in_executor(self._sandboxes, self._run_in_sandbox, work)

    async def notify_workers(self) -> None:
        """Does nothing: no other process runs workers on the file."""

    async def listen_for_work(self, listener: Callable[[], None]) -> None:
        """Does nothing: no other process runs workers on the file."""

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        """Does nothing: no other process serves the file."""

    async def listen(self, channel: str, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        """Does nothing: no other process serves the file."""

    async def update_statistics(self, *, min_commits: int = 0) -> None:
        """Does nothing: SQLite chooses its indexes without statistics."""

    async def open_apart(self) -> None:
        return None

    async def close(self) -> None:
        self._waiting.put(None)
        await self._loop.run_in_executor(None, self._writer_thread.join)
        self._scanners.shutdown(wait=True)
        self._sandboxes.shutdown(wait=True)
        self._checkpointer.close()
        for connection in (self._read_connection, *self._scan_connections, self._write_connection):
            connection.close()

    def _scan_in_thread(self, work: Work[T]) -> T:
        connection: apsw.Connection | None = getattr(self._scan_local, "connection", None)
        if connection is None:
            connection = self._scan_local.connection = connect(self._path, read_only=True)
            self._scan_connections.append(connection)
        return _read_snapshot(connection, work, self._caches)

    def _run_in_sandbox(self, work: SandboxWork[T]) -> T:
        sandbox: SqliteSandbox | None = getattr(self._sandbox_local, "sandbox", None)
        if sandbox is None:
            connection = connect(self._path, read_only=True)
            self._scan_connections.append(connection)
            # With caches of its own: what it loads may come from rows that are forgotten.
            sandbox = self._sandbox_local.sandbox = SqliteSandbox(connection, Caches())
        return sandbox.run(work)

    def _run_writer(self) -> None:
        is_last = False
        while not is_last:
            units, is_last = self._take_waiting()
            if units:
                self._is_writing = True
                _commit_together(self._write_connection, units, self._caches, self.measures)
                self._is_writing = False
                self._loop.call_soon_threadsafe(_settle_futures, units)
                self._checkpointer.keep_up()

    def _take_waiting(self) -> tuple[list[_Unit], bool]:
        """Wait for units to commit together; also returns whether they are the last ones."""
        units: list[_Unit] = []
        while (unit := self._waiting.get()) is not None:
            units.append(unit)
            if len(units) == _MAX_UNITS_PER_COMMIT or self._waiting.empty():
                return units, False
        return units, True


def _read_snapshot(connection: apsw.Connection, work: Work[T], caches: Caches) -> T:
    try:
        connection.execute("BEGIN")
        try:
            return run_synchronously(work(SqliteConnection(connection, caches)))
        finally:
            connection.execute("COMMIT")
    except _STORE_ERRORS as error:
        raise _make_unavailable(error) from error


def _commit_together(
    connection: apsw.Connection, units: list[_Unit], caches: Caches, measures: DatabaseMeasures
) -> None:
    """Run all units in one transaction. A unit that fails is rolled back alone; if the commit fails, all units fail."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        for number, unit in enumerate(units):
            _run_unit(connection, unit, caches, is_first=number == 0)
        started = time.perf_counter()
        connection.execute("COMMIT")
        measures.commit_seconds.observe(time.perf_counter() - started)
        measures.commit_sizes.observe(len(units))
    except (apsw.Error, StoreUnavailable) as error:
        log.exception("Store cannot commit")
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for unit in units:
            unit.error = unit.error or _make_unavailable(error)


def _run_unit(connection: apsw.Connection, unit: _Unit, caches: Caches, *, is_first: bool) -> None:
    # The first is rolled back with the transaction: a savepoint would make SQLite copy every page that changes.
    if not is_first:
        connection.execute("SAVEPOINT unit")
    try:
        unit.result = run_synchronously(unit.work(SqliteConnection(connection, caches)))
    except BaseException as error:
        unit.error = _make_unavailable(error) if isinstance(error, _STORE_ERRORS) else error
        if not connection.in_transaction:
            # After a full disk or an I/O error SQLite has rolled back everything, so all units have to fail.
            raise _make_unavailable(error) from error
        if is_first:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
        else:
            connection.execute("ROLLBACK TO unit")
    if not is_first:
        connection.execute("RELEASE unit")


def _settle_futures(units: list[_Unit]) -> None:
    for unit in units:
        if unit.future.done():
            continue
        if unit.error is None:
            unit.future.set_result(unit.result)
        else:
            unit.future.set_exception(unit.error)


def run_synchronously(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("a unit of work awaited something other than its connection")


def _make_unavailable(error: BaseException) -> StoreUnavailable:
    return error if isinstance(error, StoreUnavailable) else StoreUnavailable(f"The store cannot be used now: {error}")
