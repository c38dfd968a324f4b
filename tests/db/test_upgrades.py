"""Migrations that come after the released ones: a filled store keeps its data, and processes go on."""

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
from clarion.db.migrations.migrate import (
    list_missing_in_postgres,
    list_missing_in_sqlite,
    migrate_postgres,
    migrate_sqlite,
)
from clarion.db.migrations.revisions import PENDING_TABLE
from clarion.db.port import Database, Dialect
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.errors import StoreInUse
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.db.filled_store import KEY, PEOPLE, Rows, fill_postgres, fill_sqlite
from tests.db.versions import ADD_COLUMN, COMPATIBLE, FILL_AND_INDEX, INDEX_CONTENT, make_versions

INSERT_WORKER = """
    INSERT INTO workers (id, seen_at)
    VALUES (gen_random_uuid(), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """An empty database, or none for SQLite."""
    return None if request.param == "sqlite" else request.getfixturevalue("fresh_postgres_url")


@asynccontextmanager
async def upgraded_store(url: str | None, folder: Path, versions: Path) -> AsyncIterator[tuple[Database, Rows]]:
    """A filled store to which the migrations 9001 and 9002 were applied, and the rows that it had before."""
    if url is None:
        path = folder / "clarion.db"
        rows = fill_sqlite(path)
        assert migrate_sqlite(path, versions) == ["9001", "9002"]
        assert list_missing_in_sqlite(path, versions) == []
        database: Database = SqliteDatabase(path)
    else:
        rows = await fill_postgres(url)
        assert await migrate_postgres(url, versions=versions) == ["9001", "9002"]
        assert await list_missing_in_postgres(url, versions) == []
        database = await PostgresDatabase.connect(url, pool_size=2)
    try:
        yield database, rows
    finally:
        await database.close()


async def read_rows(database: Database, table: str, columns: list[str]) -> list[dict[str, Any]]:
    query = sql(f"SELECT {', '.join(columns)} FROM {table}")
    return [dict(row) for row in await database.read(lambda db: db.fetch(query))]


async def test_a_filled_store_keeps_all_its_data_and_is_served(
    url: str | None, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock, tmp_path: Path
) -> None:
    versions = make_versions(tmp_path / "versions", FILL_AND_INDEX, ADD_COLUMN, claim=COMPATIBLE)
    async with upgraded_store(url, settings.data_dir, versions) as (database, rows):
        for table, expected in rows.items():
            columns = list(expected[0])
            stored = await read_rows(database, table, columns)
            assert sorted(map(str, stored)) == sorted(str(as_stored(row, database.dialect)) for row in expected)
        filled = await read_rows(database, "messages", ["content", "length"])
        assert [row for row in filled if row["length"] != len(row["content"])] == []

        application = build_application(settings, database, vault, gateway, clock=clock)
        transport = httpx.ASGITransport(app=application.asgi)
        headers = {"Authorization": f"ApiKey {KEY}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://filled.test", headers=headers) as client:
            feed = (await client.get("/v1/subscribers/person-7/notifications/feed")).json()
            people = (await client.get("/v2/subscribers", params={"email": "ada7@"})).json()
            members = (await client.get("/v2/topics/news/subscriptions", params={"limit": 100})).json()

    assert [message["content"] for message in feed["data"]] == ["Hello 7 'é'"]
    assert [person["subscriberId"] for person in people["data"]] == ["person-7"]
    assert len(members["data"]) == PEOPLE


def as_stored(row: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect is Dialect.POSTGRES:
        return row
    return {name: int(value) if isinstance(value, bool) else value for name, value in row.items()}


async def test_an_interrupted_migration_goes_on_with_the_steps_that_are_left(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    """A row that cannot be indexed stops the migration after its transaction; once it is gone, the rest is done."""
    versions = make_versions(tmp_path / "versions", INDEX_CONTENT + FILL_AND_INDEX, ADD_COLUMN)
    await fill_postgres(fresh_postgres_url)
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute("""
        UPDATE messages SET content = (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 2000) AS n)
        WHERE content LIKE 'Hello 3 %'
    """)

    with pytest.raises(asyncpg.PostgresError, match="index row"):
        await migrate_postgres(fresh_postgres_url, versions=versions)
    left = await connection.fetchval(f"SELECT count(*) FROM {PENDING_TABLE}")
    missing = await list_missing_in_postgres(fresh_postgres_url, versions)
    await connection.execute("UPDATE messages SET content = 'Hello'")
    applied = await migrate_postgres(fresh_postgres_url, versions=versions)
    indexes = dict(await connection.fetch("SELECT indexname, indexdef FROM pg_indexes"))
    await connection.close()

    assert left > 0
    assert missing == applied == ["9001", "9002"]
    assert await list_missing_in_postgres(fresh_postgres_url, versions) == []
    assert {"messages_content", "messages_length", "messages_trigger"} <= set(indexes)
    assert "length" in indexes["messages_trigger"]
    assert [name for name in indexes if name == "messages_channel" or name.endswith("_new")] == []


async def test_writers_go_on_while_columns_are_filled_and_indexes_are_built(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    """Each statement of a migration waits for a transaction that reads, and lets writers pass meanwhile."""
    versions = make_versions(tmp_path / "versions", FILL_AND_INDEX)
    await fill_postgres(fresh_postgres_url)
    reader, writer = [await asyncpg.connect(fresh_postgres_url) for _ in range(2)]
    reading = reader.transaction()
    await reading.start()
    await reader.fetch("SELECT * FROM messages LIMIT 1")

    migration = asyncio.create_task(migrate_postgres(fresh_postgres_url, versions=versions))
    for _ in range(5):
        # Would fail if a writer had to wait until the reader is done.
        await writer.execute("SET statement_timeout = '5s'")
        await writer.execute("UPDATE messages SET seen = NOT seen")
        await asyncio.sleep(0.3)
    assert not migration.done()
    await reading.rollback()

    assert await migration == ["9001"]
    for connection in (reader, writer):
        await connection.close()


async def test_migrations_that_break_running_processes_are_refused_until_these_are_gone(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    versions = make_versions(tmp_path / "versions", ADD_COLUMN)
    await migrate_postgres(fresh_postgres_url)
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute(INSERT_WORKER)

    with pytest.raises(StoreInUse, match=r"9001 change what processes .* rely on, and 1 of those are alive"):
        await migrate_postgres(fresh_postgres_url, versions=versions)
    await connection.execute("UPDATE workers SET seen_at = seen_at - 60000")
    await connection.close()

    assert await migrate_postgres(fresh_postgres_url, versions=versions) == ["9001"]


async def test_migrations_that_only_add_run_beside_processes_of_the_version_before(
    fresh_postgres_url: str, tmp_path: Path
) -> None:
    versions = make_versions(tmp_path / "versions", ADD_COLUMN, claim=COMPATIBLE)
    await migrate_postgres(fresh_postgres_url)
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute(INSERT_WORKER)
    await connection.close()

    assert await migrate_postgres(fresh_postgres_url, versions=versions) == ["9001"]
    assert await list_missing_in_postgres(fresh_postgres_url) == []
