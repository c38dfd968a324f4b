"""How long writers wait while a filled PostgreSQL database is migrated: `python -m bench migrations --rows 1000000`."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
from msgspec import Struct
from sqlalchemy.ext.asyncio import create_async_engine

from clarion.db.migrate import list_missing_in_postgres
from clarion.db.migration_process import Order, run_migration
from clarion.db.revisions import list_known_revisions
from clarion.db.upgrade import _upgrade, upgrade_postgres
from tests.servers import empty_database, postgres_server

_WRITERS = 4
_SETTLE_SECONDS = 2.0
_FILL_BATCH = 100_000
_ID = "CAST(lpad(to_hex({kind} * 1000000000000 + n), 32, '0') AS uuid)"
_ENVIRONMENT = "CAST(lpad('1', 32, '0') AS uuid)"

_CONTENT = "channel, status, content, severity, seen, read, archived, created_at, updated_at"
_RUN = {
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


class MigrationFigures(Struct, frozen=True):
    """What one migration cost."""

    name: str
    rows: int
    seconds: float
    writes: int
    longest_wait: float
    usual_wait: float
    """The longest wait of the same writers while nothing was migrated."""


async def measure_migrations(rows: int, since: str) -> list[MigrationFigures]:
    """Migrate the same store twice: at once in a transaction, and in steps as the service does."""
    with tempfile.TemporaryDirectory() as folder, postgres_server(Path(folder)) as server:
        return [await _measure(server.url, rows, since, *one) for one in _WAYS]


async def _measure(
    server_url: str, rows: int, since: str, name: str, migrate: Callable[[str], Awaitable[Any]]
) -> MigrationFigures:
    async with empty_database(server_url) as url:
        await _fill(url, rows, since)
        waits: list[float] = []
        writers = [
            asyncio.create_task(_write(url, waits, rows * 2 + number * 10_000_000)) for number in range(_WRITERS)
        ]
        await asyncio.sleep(_SETTLE_SECONDS)
        usual = max(waits)
        waits.clear()
        started = time.monotonic()
        await migrate(url)
        seconds = time.monotonic() - started
        for one in writers:
            one.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
        if await list_missing_in_postgres(url):
            raise RuntimeError("the migration is not complete")
        return MigrationFigures(name, rows, seconds, len(waits), max(waits), usual)


async def _migrate_at_once(url: str) -> None:
    """In a thread, so that the writers' waits are those for the database."""

    async def migrate() -> None:
        connection = await asyncpg.connect(url)
        try:
            missing = await list_missing_in_postgres(url)
            await upgrade_postgres(url, connection, missing, is_empty=True)
        finally:
            await connection.close()

    await asyncio.to_thread(lambda: asyncio.run(migrate()))


async def _migrate_in_steps(url: str) -> None:
    await run_migration(Order(url=url))


_WAYS = (("at once", _migrate_at_once), ("in steps", _migrate_in_steps))


async def _fill(url: str, rows: int, since: str) -> None:
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url))
    async with engine.begin() as transaction:
        await transaction.run_sync(_upgrade, since, None)
    await engine.dispose()
    connection = await asyncpg.connect(url)
    for first in range(0, rows, _FILL_BATCH):
        for table in _RUN:
            await connection.execute(
                _insert(table, f"generate_series({first + 1}, {min(first + _FILL_BATCH, rows)}) AS n")
            )
    await connection.execute("ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()


async def _write(url: str, waits: list[float], first: int) -> None:
    """Insert one run after the other and mark its message as read, each as the service does; note how long it took."""
    connection = await asyncpg.connect(url)
    read = f"UPDATE messages SET read = true WHERE environment_id = {_ENVIRONMENT} AND id = {_ID.format(kind=4)}"
    try:
        for number in range(first, first + 10_000_000):
            started = time.monotonic()
            async with connection.transaction():
                for table in _RUN:
                    await connection.execute(_insert(table, f"(SELECT {number}::bigint AS n) AS one"))
            await connection.execute(read.replace("+ n", f"+ {number}"))
            waits.append(time.monotonic() - started)
            await asyncio.sleep(0.002)
    finally:
        await connection.close()


def _insert(table: str, source: str) -> str:
    columns, values = _RUN[table]
    ids = [_ID.format(kind=kind) for kind in range(10)]
    return f"INSERT INTO {table} (environment_id, {columns}) SELECT {_ENVIRONMENT}, {values.format(*ids)} FROM {source}"


def describe(figures: list[MigrationFigures], since: str) -> str:
    latest = list_known_revisions()[-1]
    lines = [
        f"From {since} to {latest}, {one.rows:,} rows in each of {len(_RUN)} tables, {one.name}: {one.seconds:.0f} s; "
        f"{one.writes:,} writes, the longest wait {one.longest_wait * 1000:,.0f} ms (without a migration "
        f"{one.usual_wait * 1000:.0f} ms)"
        for one in figures
    ]
    return "\n".join(lines)
