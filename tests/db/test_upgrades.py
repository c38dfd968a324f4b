"""A filled store of the first schema becomes one of today's, with its data."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from clarion.app import build_application
from clarion.clock import ManualClock
from clarion.db.migrate import list_missing_in_postgres, migrate_postgres, migrate_sqlite
from clarion.db.port import Database, Dialect
from clarion.db.postgres import PostgresDatabase
from clarion.db.query import sql
from clarion.db.revisions import PENDING_TABLE, Schema, list_known_revisions, list_missing
from clarion.db.sqlite import SqliteDatabase
from clarion.errors import StoreInUse
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings import Settings
from clarion.vault import Vault
from tests.db.old_store import KEY, PEOPLE, Rows, make_postgres_store, make_rows, make_sqlite_store

LATER = list_known_revisions()[1:]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """An empty database, or none for SQLite."""
    return None if request.param == "sqlite" else request.getfixturevalue("fresh_postgres_url")


@asynccontextmanager
async def upgraded_store(url: str | None, folder: Path, rows: Rows) -> AsyncIterator[Database]:
    if url is None:
        path = folder / "clarion.db"
        make_sqlite_store(path, rows)
        assert migrate_sqlite(path) == LATER
        database: Database = SqliteDatabase(path)
    else:
        await make_postgres_store(url, rows)
        assert await migrate_postgres(url) == LATER
        database = await PostgresDatabase.connect(url, pool_size=2)
    try:
        yield database
    finally:
        await database.close()


async def read_rows(database: Database, table: str, columns: list[str]) -> list[dict[str, Any]]:
    query = sql(f"SELECT {', '.join(columns)} FROM {table}")
    return [dict(row) for row in await database.read(lambda db: db.fetch(query))]


async def test_a_filled_store_of_the_first_schema_keeps_all_its_data(
    url: str | None, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> None:
    rows = make_rows()
    async with upgraded_store(url, settings.data_dir, rows) as database:
        for table, expected in rows.items():
            columns = list(expected[0])
            found = await read_rows(database, table, columns)
            assert sorted(map(str, found)) == sorted(str(as_stored(row, database.dialect)) for row in expected)
        positions = await read_rows(database, "messages", ["id", "position"])
        assert [row for row in positions if row["id"] != row["position"]] == []

        application = build_application(settings, database, vault, gateway, clock=clock)
        transport = httpx.ASGITransport(app=application.asgi)
        headers = {"Authorization": f"ApiKey {KEY}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://old.test", headers=headers) as client:
            feed = (await client.get("/v1/subscribers/person-7/notifications/feed")).json()
            people = (await client.get("/v2/subscribers", params={"email": "ada7@"})).json()
            members = (await client.get("/v2/topics/news/subscriptions", params={"limit": 100})).json()

    assert [one["content"] for one in feed["data"]] == ["Hello 7 'é'"]
    assert [one["subscriberId"] for one in people["data"]] == ["person-7"]
    assert len(members["data"]) == PEOPLE


def as_stored(row: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect is Dialect.POSTGRES:
        return row
    return {name: int(value) if isinstance(value, bool) else value for name, value in row.items()}


async def test_an_interrupted_migration_goes_on_with_the_steps_that_are_left(fresh_postgres_url: str) -> None:
    """A row that cannot be indexed stops the migration after its transaction; once it is gone, the rest is done."""
    await make_postgres_store(fresh_postgres_url, make_rows(), "0008")
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute("""
        UPDATE messages SET severity = (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 2000) AS n)
        WHERE content LIKE 'Hello 3 %'
    """)

    with pytest.raises(asyncpg.PostgresError, match="index row"):
        await migrate_postgres(fresh_postgres_url)
    left = await connection.fetchval(f"SELECT count(*) FROM {PENDING_TABLE}")
    missing = await list_missing_in_postgres(fresh_postgres_url)
    await connection.execute("UPDATE messages SET severity = 'none'")
    applied = await migrate_postgres(fresh_postgres_url)
    names = {row["indexname"] for row in await connection.fetch("SELECT indexname FROM pg_indexes")}
    await connection.close()

    assert left > 0
    assert missing == applied == list_missing(Schema("0008"), "The store")
    assert await list_missing_in_postgres(fresh_postgres_url) == []
    assert {"messages_unread", "messages_wake", "topic_subscriptions_member"} <= names
    assert [name for name in names if name.endswith("_new")] == []


async def test_writers_go_on_while_columns_are_filled_and_indexes_are_built(fresh_postgres_url: str) -> None:
    """Each statement of a migration waits for a transaction that reads, and lets writers pass meanwhile."""
    await make_postgres_store(fresh_postgres_url, make_rows(), "0008")
    reader, writer = [await asyncpg.connect(fresh_postgres_url) for _ in range(2)]
    reading = reader.transaction()
    await reading.start()
    await reader.fetch("SELECT * FROM messages LIMIT 1")

    migration = asyncio.create_task(migrate_postgres(fresh_postgres_url))
    for _ in range(5):
        # Would fail if a writer had to wait until the reader is done.
        await writer.execute("SET statement_timeout = '5s'")
        await writer.execute("UPDATE messages SET seen = NOT seen")
        await asyncio.sleep(0.3)
    assert not migration.done()
    await reading.rollback()

    assert await migration == list_missing(Schema("0008"), "The store")
    for connection in (reader, writer):
        await connection.close()


async def test_migrations_that_break_running_processes_are_refused_until_these_are_gone(
    fresh_postgres_url: str,
) -> None:
    await make_postgres_store(fresh_postgres_url, {}, "0008")
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute("""
        INSERT INTO workers (id, seen_at)
        VALUES (gen_random_uuid(), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    """)

    with pytest.raises(StoreInUse, match=r"0009, .* change what processes .* rely on, and 1 of those are alive"):
        await migrate_postgres(fresh_postgres_url)
    await connection.execute("UPDATE workers SET seen_at = seen_at - 60000")
    await connection.close()

    assert await migrate_postgres(fresh_postgres_url) == list_missing(Schema("0008"), "The store")


async def test_migrations_that_only_add_run_beside_processes_of_the_version_before(fresh_postgres_url: str) -> None:
    await make_postgres_store(fresh_postgres_url, {}, "0009")
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute("""
        INSERT INTO workers (id, seen_at)
        VALUES (gen_random_uuid(), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    """)
    await connection.close()

    assert await migrate_postgres(fresh_postgres_url) == list_missing(Schema("0009"), "The store")
