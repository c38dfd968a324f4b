"""How long writers wait while a filled PostgreSQL database is migrated: `python -m bench migrations --rows 1000000`.

It begins with the schema `since`, and applies the released migrations after it and those of the tests: one that fills
a column and builds and replaces indexes, and one that adds a column.
"""

import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
from msgspec import Struct

from clarion.db.migrations.migrate import list_missing_in_postgres, migrate_postgres
from clarion.db.migrations.upgrade import upgrade_postgres
from tests.db.versions import ADD_COLUMN, FILL_AND_INDEX, make_versions
from tests.servers import empty_database, postgres_server

_WRITERS = 4
_SETTLE_SECONDS = 2.0
_FILL_BATCH = 100_000
_ID = "CAST(lpad(to_hex({kind} * 1000000000000 + n), 32, '0') AS uuid)"
_ENVIRONMENT = "CAST(lpad('1', 32, '0') AS uuid)"

_CONTENT = "channel, status, content, severity, seen, read, archived, created_at, updated_at"
# The largest tables of an installation, each with as many rows as are asked for.
_TABLES = {
    "subscribers": ("id, key, search_row, created_at, updated_at", "{8}, 'person-' || n, n, 1, 1"),
    "triggers": (
        "id, transaction_key, workflow_id, version_id, payload, created_at",
        "{1}, 'key-' || n, {9}, {9}, '{{}}', 1",
    ),
    "notifications": (
        "id, trigger_id, workflow_id, version_id, subscriber_id, step_types, created_at, updated_at",
        "{2}, {1}, {9}, {9}, {8}, 1, 1, 1",
    ),
    "jobs": (
        "id, notification_id, step, type, status, details, created_at, updated_at",
        "{3}, {2}, 0, 'in_app', 'completed', '[]', 1, 1",
    ),
    "messages": (
        f"id, notification_id, job_id, trigger_id, workflow_id, step_id, subscriber_id, {_CONTENT}",
        "{4}, {2}, {3}, {1}, {9}, {9}, {8}, 'in_app', 'sent', repeat('Hello ', 20), 'none', false, false, false, 1, 1",
    ),
    "topic_subscriptions": ("id, topic_id, subscriber_id, created_at", "{5}, {9}, {8}, 1"),
}
_LIST_INDEXES = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE schemaname = 'public' AND tablename = ANY($1) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


class MigrationFigures(Struct, frozen=True):
    """What one migration cost."""

    revision: str
    way: str
    rows: int
    seconds: float
    writes: int
    longest_wait: float
    usual_wait: float
    """The longest wait of the same writers while nothing was migrated."""


async def measure_migrations(rows: int, since: str, *, in_steps_only: bool) -> list[MigrationFigures]:
    """Migrate the same store in steps as the service does, and each migration in one transaction to compare."""
    ways = (_IN_STEPS,) if in_steps_only else (_AT_ONCE, _IN_STEPS)
    with tempfile.TemporaryDirectory() as folder, postgres_server(Path(folder) / "data") as server:
        old, new = Path(folder) / "old", Path(folder) / "new"
        make_versions(old, until=since)
        make_versions(new, FILL_AND_INDEX, ADD_COLUMN)
        return [figures for way in ways for figures in await _measure(server.url, rows, (old, new), way)]


async def _measure(server_url: str, rows: int, versions: tuple[Path, Path], way: str) -> list[MigrationFigures]:
    figures: list[MigrationFigures] = []
    old, new = versions
    async with empty_database(server_url) as url:
        await _fill(url, rows, old)
        async with _run_writers(url, rows) as writers:
            await asyncio.sleep(_SETTLE_SECONDS)
            usual = max(await _take_waits(writers))
            for revision in await list_missing_in_postgres(url, new):
                started = time.monotonic()
                await _migrate(url, revision, way, new)
                seconds = time.monotonic() - started
                waits = await _take_waits(writers)
                figures.append(MigrationFigures(revision, way, rows, seconds, len(waits), max(waits), usual))
        if await list_missing_in_postgres(url, new):
            raise RuntimeError("the migration is not complete")
    return figures


_AT_ONCE, _IN_STEPS = "at once", "in steps"


async def _migrate(url: str, revision: str, way: str, versions: Path) -> None:
    """In another process, as the service does, so that the writers' waits are those for the database."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(process, _migrate_here, url, revision, way, versions)


def _migrate_here(url: str, revision: str, way: str, versions: Path) -> None:
    async def migrate() -> None:
        connection = await asyncpg.connect(url)
        try:
            await upgrade_postgres(url, connection, [revision], is_empty=way == _AT_ONCE, versions=versions)
        finally:
            await connection.close()

    asyncio.run(migrate())


class _Writer:
    """Writes one run after the other, and notes how long each took."""

    def __init__(self, url: str, first: int) -> None:
        self.waits: list[float] = []
        self.count = 0
        self.is_stopping = False
        self._url = url
        self._first = first

    async def run(self) -> None:
        """Insert one run after the other and mark its message as read, each as the service does."""
        connection = await asyncpg.connect(self._url)
        read = f"UPDATE messages SET read = true WHERE environment_id = {_ENVIRONMENT} AND id = {_ID.format(kind=4)}"
        try:
            while not self.is_stopping:
                number = self._first + self.count
                started = time.monotonic()
                async with connection.transaction():
                    for table in _TABLES:
                        await connection.execute(_insert(table, f"(SELECT {number}::bigint AS n) AS one"))
                await connection.execute(read.replace("+ n", f"+ {number}"))
                self.waits.append(time.monotonic() - started)
                self.count += 1
                await asyncio.sleep(0.002)
        finally:
            await connection.close()


@asynccontextmanager
async def _run_writers(url: str, rows: int) -> AsyncIterator[list[_Writer]]:
    writers = [_Writer(url, rows * 2 + number * 10_000_000) for number in range(_WRITERS)]
    async with asyncio.TaskGroup() as tasks:
        for one in writers:
            tasks.create_task(one.run())
        yield writers
        for one in writers:
            one.is_stopping = True


async def _take_waits(writers: list[_Writer]) -> list[float]:
    """The waits since the last call; a write that is waiting now counts, too."""
    counts = [one.count for one in writers]
    while any(one.count == count for one, count in zip(writers, counts, strict=True)):  # noqa: ASYNC110 - no event per write
        await asyncio.sleep(0.005)
    waits = [wait for one in writers for wait in one.waits]
    for one in writers:
        one.waits.clear()
    return waits


async def _fill(url: str, rows: int, versions: Path) -> None:
    started = time.monotonic()
    await migrate_postgres(url, versions=versions)
    connection = await asyncpg.connect(url)
    # Rows are inserted several times as fast before there are indexes.
    indexes = await connection.fetch(_LIST_INDEXES, list(_TABLES))
    for one in indexes:
        await connection.execute(f"DROP INDEX {one['indexname']}")
    for first in range(0, rows, _FILL_BATCH):
        for table in _TABLES:
            await connection.execute(
                _insert(table, f"generate_series({first + 1}, {min(first + _FILL_BATCH, rows)}) AS n")
            )
    await connection.execute("SET maintenance_work_mem = '1GB'")
    for one in indexes:
        await connection.execute(one["indexdef"])
    await connection.execute("ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()
    sys.stderr.write(f"Filled with {rows:,} rows in {time.monotonic() - started:.0f} s.\n")


def _insert(table: str, source: str) -> str:
    columns, values = _TABLES[table]
    ids = [_ID.format(kind=kind) for kind in range(10)]
    return f"INSERT INTO {table} (environment_id, {columns}) SELECT {_ENVIRONMENT}, {values.format(*ids)} FROM {source}"


def describe(figures: list[MigrationFigures], since: str) -> str:
    rows = figures[0].rows if figures else 0
    lines = [f"From {since}, {rows:,} rows in each of {', '.join(_TABLES)}."]
    lines += [
        f"{one.revision} {one.way}: {one.seconds:.0f} s; {one.writes:,} writes, the longest wait "
        f"{one.longest_wait * 1000:,.0f} ms (without a migration {one.usual_wait * 1000:.0f} ms)"
        for one in figures
    ]
    return "\n".join(lines)
