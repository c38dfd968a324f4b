"""Migrations produce the schema, and a store with a newer schema is refused."""

import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from clarion.db.migrate import (
    list_known_revisions,
    list_missing_in_postgres,
    list_missing_in_sqlite,
    migrate_postgres,
    migrate_sqlite,
)
from clarion.db.schema import metadata
from clarion.errors import StoreNewer, StoreUnavailable


def _differences(connection: Any) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": _is_ours})
    return [one for one in compare_metadata(context, metadata) if "grams" not in str(one)]


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    # SQLite's full-text index has its own tables.
    return kind != "table" or not str(name).startswith("subscriber_search")


def test_migrated_sqlite_has_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    assert migrate_sqlite(path) == list_known_revisions()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert _differences(connection) == []
    engine.dispose()


async def test_migrated_postgresql_has_the_schema(postgres_url: str) -> None:
    await migrate_postgres(postgres_url)
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(postgres_url))
    async with engine.connect() as connection:
        assert await connection.run_sync(_differences) == []
    await engine.dispose()


async def test_migrating_twice_changes_nothing(tmp_path: Path, postgres_url: str) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    await migrate_postgres(postgres_url)

    assert migrate_sqlite(path) == list_missing_in_sqlite(path) == []
    assert await migrate_postgres(postgres_url) == await list_missing_in_postgres(postgres_url) == []


def test_a_newer_store_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    with pytest.raises(StoreNewer, match="9999, newer than this Clarion"):
        migrate_sqlite(path)


def test_a_file_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    path.write_text("not a database, just a text that is long enough to be looked at")

    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        migrate_sqlite(path)


async def test_an_unreachable_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await migrate_postgres(f"postgresql://nobody@/none?host={tmp_path}")
