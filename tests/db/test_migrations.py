"""Migrations produce the schema, and a store with a newer schema is refused."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from clarion.db.exclusive import require_unused
from clarion.db.migrate import (
    SQLITE_SCRIPT,
    create_sqlite,
    list_missing_in_postgres,
    list_missing_in_sqlite,
    migrate_postgres,
    migrate_sqlite,
)
from clarion.db.migration_process import Order, run_migration
from clarion.db.revisions import MIGRATIONS, Schema, list_missing, oldest_compatible
from clarion.db.schema import metadata
from clarion.db.schema.script import render_sqlite_script
from clarion.db.sqlite import connect
from clarion.db.upgrade import upgrade_sqlite
from clarion.errors import StoreInUse, StoreNewer, StoreUnavailable


def _differences(connection: Any) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": _is_ours})
    return [one for one in compare_metadata(context, metadata) if "grams" not in str(one)]


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    # SQLite's full-text index has its own tables.
    return kind != "table" or not str(name).startswith("subscriber_search")


@pytest.mark.parametrize("make", [upgrade_sqlite, create_sqlite], ids=["migrated", "new"])
def test_a_sqlite_store_has_the_schema(make: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    make(path)
    assert list_missing_in_sqlite(path) == []
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


def test_the_script_of_a_new_store_is_what_the_migrations_make() -> None:
    assert SQLITE_SCRIPT.read_text() == render_sqlite_script(), "run `make docs`"


def test_no_migration_locks_out_writers_by_building_an_index_or_changing_all_rows_at_once() -> None:
    """`db/online.py` has what to use instead."""
    texts = {path.name: path.read_text() for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    updates = [line.strip() for text in texts.values() for line in text.splitlines() if '"UPDATE' in line]

    assert [name for name, text in texts.items() if "CREATE INDEX" in text or "CREATE UNIQUE INDEX" in text] == []
    assert [line for line in updates if "WHERE" not in line] == []


def test_a_store_that_has_tables_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"

    assert (create_sqlite(path), create_sqlite(path)) == (True, False)


async def test_a_migration_in_its_own_process_reports_what_it_applied_and_why_it_failed(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    upgrade_sqlite(path, "0009")
    assert await run_migration(Order(path=str(path))) == list_missing(Schema("0009"), "The store")

    (tmp_path / "text.db").write_text("not a database, just a text that is long enough to be looked at")
    with pytest.raises(StoreUnavailable, match="is damaged"):
        await run_migration(Order(path=str(tmp_path / "text.db")))


def test_a_sqlite_store_in_use_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    upgrade_sqlite(path, "0009")
    reader = connect(path, read_only=True)
    reader.execute("SELECT count(*) FROM messages").fetchall()

    with pytest.raises(StoreInUse, match="stop `clarion serve`"):
        migrate_sqlite(path)
    reader.close()

    require_unused(path)
    assert migrate_sqlite(path) == list_missing(Schema("0009"), "The store")


def test_a_version_can_work_with_a_newer_schema_if_all_newer_migrations_say_so() -> None:
    revisions = ["1", "2", "3", "4"]

    assert oldest_compatible(revisions, {}) == "4"
    assert oldest_compatible(revisions, {"4": "3"}) == "3"
    assert oldest_compatible(revisions, {"4": "2", "3": "2"}) == "2"
    assert oldest_compatible(revisions, {"4": "2"}) == "3"
    assert oldest_compatible(revisions, {"4": "3", "3": "2"}) == "3"


@pytest.mark.parametrize("works_with", ["0010", "0009"])
def test_a_newer_store_that_this_version_can_work_with_is_served(works_with: str, tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999', works_with = ?", [f"{works_with}..9999"])
    connection.close()

    assert list_missing_in_sqlite(path) == []


def test_a_newer_store_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999', works_with = '9998..9999'")
    connection.close()

    with pytest.raises(StoreNewer, match="9999, newer than this Clarion"):
        migrate_sqlite(path)


def test_a_file_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    path.write_text("not a database, just a text that is long enough to be looked at")

    with pytest.raises(StoreUnavailable, match="is damaged"):
        migrate_sqlite(path)


async def test_an_unreachable_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await migrate_postgres(f"postgresql://nobody@/none?host={tmp_path}")
