"""PostgreSQL: pooled asyncpg connections, one transaction per unit of work."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import asyncpg

from clarion.background import ServiceName, Supervisor
from clarion.cache import Caches
from clarion.db.port import Dialect, Row, SandboxWork, Work
from clarion.db.postgres.connection import (
    UNAVAILABLE,
    ArrayConnection,
    PostgresConnection,
    make_unavailable,
    prepare_connection,
)
from clarion.db.postgres.listener import ListenedChannel, Listener
from clarion.db.postgres.pulse import Pulse, ask_server
from clarion.db.sandbox import HIDDEN_TABLES, Turns, copy_query, stored_query
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, random_bytes
from clarion.monitoring.metrics import DatabaseMeasures, PoolState

T = TypeVar("T")

WORK_CHANNEL = "clarion_work"
_ACQUIRE_SECONDS = 4
"""How long a unit of work waits for a connection; requests get 503 after it."""
_MAX_WAITING_UNITS = 10_000
_MAX_ATTEMPTS = 5
_MAX_IDLE_SECONDS = 15.0
"""How long a transaction may wait for its process: one that is stopped must not keep its locks."""

_NOTIFY = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
# At once if a table has no statistics or is four times as large as they say, else each at most every 15 seconds.
# PostgreSQL samples 300 rows for each unit of the target: here about a tenth of a table, and 3000 rows at most, a tenth
# of its default. This is enough until autovacuum analyzes the table, and takes 3 to 50 ms, of subscribers up to 160 ms.
_GROWN_TABLES = """
    SELECT t.relname, least(10, 1 + t.n_live_tup / 3000) AS target
    FROM pg_stat_user_tables AS t JOIN pg_class AS c ON c.oid = t.relid
    WHERE t.schemaname = current_schema() AND t.n_mod_since_analyze > 1000 AND (
        t.n_live_tup > 4 * c.reltuples
        OR t.n_mod_since_analyze > t.n_live_tup / 3
        AND (greatest(t.last_analyze, t.last_autoanalyze) > now() - INTERVAL '15 seconds') IS NOT TRUE
    )
"""

# A migration changed a table since it was hidden.
_CHANGED = (asyncpg.InvalidCachedStatementError, asyncpg.UndefinedColumnError, asyncpg.UndefinedTableError)
_SANDBOX_SECONDS = 10
"""How long a statement of a sandbox may take."""
_SANDBOX_IDLE_SECONDS = 60
_LIST_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""

# The last one: a migration changed a table since the statement was prepared.
_RETRYABLE = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.InvalidCachedStatementError)


class PostgresSandbox(PostgresConnection):
    """A unit of work in a read-only transaction, on a connection whose temporary tables hide those of the store."""

    is_sandbox = True

    def __init__(self, connection: Any, caches: Caches, schema: str) -> None:
        super().__init__(connection, caches)
        self._schema = schema
        self._columns: dict[str, list[str]] = {}

    async def hide_tables(self) -> None:
        for table in HIDDEN_TABLES:
            await self._connection.execute(f"CREATE TEMPORARY TABLE {table} (LIKE {table} INCLUDING ALL)")
            rows = await self._connection.fetch(_LIST_COLUMNS, table)
            self._columns[table] = [row["attname"] for row in rows]

    async def copy(self, table: str, where: str, /, **parameters: Any) -> int:
        return await self.execute(copy_query(table, self._columns[table], where, self._schema), **parameters)

    async def fetch_stored(self, text: str, /, **parameters: Any) -> Sequence[Row]:
        return await self.fetch(stored_query(text, self._schema), **parameters)

    async def transaction(self, work: Work[T]) -> T:
        try:
            # A savepoint.
            async with self._connection.transaction():
                return await work(self)
        except (*UNAVAILABLE, *_CHANGED) as error:
            raise make_unavailable(error) from error

    async def run(self, work: SandboxWork[T]) -> T:
        transaction = self._connection.transaction(isolation="repeatable_read", readonly=True)
        await transaction.start()
        try:
            return await work(self)
        finally:
            if not self._connection.is_closed():
                await transaction.rollback()

    def terminate(self) -> None:
        self._connection.terminate()


class PostgresSandboxes:
    """Runs units of work on connections that are open while they are used."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._turns = Turns()
        self._open: set[PostgresSandbox] = set()
        self._idle: list[PostgresSandbox] = []
        self._expiry: asyncio.TimerHandle | None = None

    async def run(self, environment_id: EnvironmentId, work: SandboxWork[T]) -> T:
        async with self._turns.take(environment_id) as turn:
            try:
                sandbox = self._idle.pop() if self._idle else await self._connect()
                try:
                    with turn.working():
                        return await sandbox.run(work)
                except (StoreUnavailable, asyncio.CancelledError, *UNAVAILABLE, *_CHANGED):
                    # Idle ones may be of the same server that is gone, or of the same schema.
                    self._terminate([sandbox, *self._idle])
                    raise
                finally:
                    self._keep(sandbox)
            except (*UNAVAILABLE, *_CHANGED) as error:
                raise make_unavailable(error) from error

    async def _connect(self) -> PostgresSandbox:
        connection = await asyncpg.connect(
            self._url, connection_class=ArrayConnection, command_timeout=_SANDBOX_SECONDS
        )
        await prepare_connection(connection, max_idle_seconds=_MAX_IDLE_SECONDS)
        schema = await connection.fetchval("SELECT quote_ident(current_schema())")
        # With caches of its own: what it loads may come from rows that are forgotten.
        sandbox = PostgresSandbox(connection, Caches(), schema)
        await sandbox.hide_tables()
        self._open.add(sandbox)
        return sandbox

    def _keep(self, sandbox: PostgresSandbox) -> None:
        if sandbox not in self._open:
            return
        self._idle.append(sandbox)
        if self._expiry is not None:
            self._expiry.cancel()
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(_SANDBOX_IDLE_SECONDS, lambda: self._terminate(self._idle))

    def close(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        self._terminate(self._open)

    def _terminate(self, sandboxes: Collection[PostgresSandbox]) -> None:
        for sandbox in list(sandboxes):
            sandbox.terminate()
            self._open.discard(sandbox)
        self._idle = [one for one in self._idle if one in self._open]


class PostgresDatabase:
    """A database that many processes share."""

    dialect = Dialect.POSTGRES

    def __init__(self, pool: Any, url: str) -> None:
        self._pool = pool
        self._url = url
        self._name = random_bytes(8).hex()
        self._caches = Caches()
        self.background = Supervisor()
        """Runs the services of the connections for as long as the database is open, in commands as well."""
        self.background.add_states(ServiceName.STORE_NOTIFICATIONS, ServiceName.STORE_PULSE)
        self._listener = Listener(url, self.background)
        self._sandboxes = PostgresSandboxes(url)
        self._pulse = Pulse(partial(ask_server, url), pool.expire_connections, self.background)
        self._unit_count = 0
        self._examined_commits = 0
        self.measures = DatabaseMeasures()

    @classmethod
    async def connect(
        cls, url: str, *, pool_size: int, max_idle_seconds: float = _MAX_IDLE_SECONDS
    ) -> "PostgresDatabase":
        """Open a pool; PostgreSQL ends transactions whose process does nothing for `max_idle_seconds`."""
        prepare = partial(prepare_connection, max_idle_seconds=max_idle_seconds)
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=pool_size,
                connection_class=ArrayConnection,
                init=prepare,
                reset=_skip_reset,
                command_timeout=60,
            )
        except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
            raise StoreUnavailable(f"PostgreSQL cannot be reached: {error}") from error
        return cls(pool, url)

    def read_pool(self) -> PoolState:
        size, idle = self._pool.get_size(), self._pool.get_idle_size()
        waiting = max(0, self._unit_count - (size - idle))
        return PoolState(in_use=size - idle, idle=idle, limit=self._pool.get_max_size(), waiting=waiting)

    async def transaction(self, work: Work[T]) -> T:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                async with self._acquire() as connection:
                    async with connection.transaction():
                        result = await work(PostgresConnection(connection, self._caches))
                        worked = time.perf_counter()
                    self.measures.commit_seconds.observe(time.perf_counter() - worked)
                    self.measures.commit_sizes.observe(1)
                    return result
            except _RETRYABLE:
                if attempt == _MAX_ATTEMPTS:
                    raise StoreUnavailable("The store is busy with conflicting changes") from None
                await asyncio.sleep(0.01 * attempt)
        raise AssertionError("unreachable")

    async def read(self, work: Work[T]) -> T:
        async with self._acquire() as connection:
            return await work(PostgresConnection(connection, self._caches))

    async def scan(self, work: Work[T]) -> T:
        for _ in range(_MAX_ATTEMPTS):
            try:
                async with (
                    self._acquire() as connection,
                    connection.transaction(isolation="repeatable_read", readonly=True),
                ):
                    return await work(PostgresConnection(connection, self._caches))
            except asyncpg.InvalidCachedStatementError:
                continue  # on another connection, or prepared anew
        raise StoreUnavailable("The store is being migrated")

    async def sandbox(self, environment_id: EnvironmentId, work: SandboxWork[T]) -> T:
        return await self._sandboxes.run(environment_id, work)

    async def notify_workers(self) -> None:
        await self.notify(WORK_CHANNEL, [self._name])

    async def listen_for_work(self, listener: Callable[[], None]) -> None:
        def wake(sender: str) -> None:
            if sender != self._name:
                listener()

        await self.listen(WORK_CHANNEL, wake, listener)

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        async with self._acquire() as connection:
            await connection.execute(_NOTIFY, channel, payloads)

    async def listen(self, channel: str, on_message: Callable[[str], None], on_resumed: Callable[[], None]) -> None:
        await self._listener.add(channel, ListenedChannel(on_message, on_resumed))

    async def update_statistics(self, *, min_commits: int = 0) -> None:
        """Autovacuum runs once a minute, and a new database may grow a thousandfold in that time.

        Without statistics PostgreSQL takes an environment for as rare as a key or an id, and reads all rows of it.
        """
        commits = self.measures.commit_sizes.count
        if commits - self._examined_commits < min_commits:
            return
        self._examined_commits = commits
        async with self._acquire() as connection:
            for row in await connection.fetch(_GROWN_TABLES):
                async with connection.transaction():
                    await connection.execute(f"SET LOCAL default_statistics_target = {row['target']}")
                    # Another process may be at it, or build an index.
                    await connection.execute(f'ANALYZE (SKIP_LOCKED) "{row["relname"]}"')

    async def open_apart(self) -> "PostgresDatabase":
        return await PostgresDatabase.connect(self._url, pool_size=1)

    async def close(self) -> None:
        self._sandboxes.close()
        await self._pulse.close()
        await self._listener.close()
        await self._pool.close()

    @asynccontextmanager
    async def _acquire(self) -> AsyncIterator[Any]:
        if self._pulse.is_lost:
            raise StoreUnavailable("PostgreSQL does not answer")
        if self._unit_count >= _MAX_WAITING_UNITS:
            raise StoreUnavailable("PostgreSQL has too much to do")
        self._unit_count += 1
        try:
            async with self._pool.acquire(timeout=_ACQUIRE_SECONDS) as connection:
                self._pulse.begin(connection)
                try:
                    yield connection
                except (asyncpg.ReadOnlySQLTransactionError, asyncpg.InternalClientError):
                    # The server may have become a standby: the next connection may reach another, or find it writable.
                    # After the other error the connection is of no use: asyncpg and the server disagree on its state,
                    # which happens when it is lost at an unlucky moment.
                    connection.terminate()
                    raise
                finally:
                    self._pulse.end(connection)
        except UNAVAILABLE as error:
            raise make_unavailable(error) from error
        finally:
            self._unit_count -= 1


async def _skip_reset(_: Any) -> None:
    """Skip the pool's reset query: settings and locks of a unit of work end with its transaction."""
