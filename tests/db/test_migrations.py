"""Migrations produce the schema, and a store with a newer schema is refused."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from clarion.db.migrations.migrate import (
    SQLITE_SCRIPT,
    Order,
    create_sqlite,
    list_missing_in_postgres,
    list_missing_in_sqlite,
    migrate_postgres,
    migrate_sqlite,
    run_migration,
)
from clarion.db.migrations.revisions import VERSIONS, list_known_revisions, oldest_compatible
from clarion.db.migrations.upgrade import list_breaking, render_sqlite_script, upgrade_sqlite
from clarion.db.schema import metadata
from clarion.db.sqlite.database import connect
from clarion.db.sqlite.file import require_unused
from clarion.errors import StoreInUse, StoreNewer, StoreOutdated, StoreUnavailable
from tests.db.catalog import Catalog, read_postgres_catalog, read_sqlite_catalog
from tests.db.versions import ADD_COLUMN, LATEST, make_versions

# What `db/schema` does not describe: the table of Alembic, the indexes for text search, functions, settings of tables.
UNDESCRIBED = ("alembic_version", "subscriber_search", "clarion_grams")
UNDESCRIBED_KINDS = {"functions", "settings", "triggers"}


def described(catalog: Catalog) -> Catalog:
    return {
        kind: [row for row in rows if not any(name in str(row) for name in UNDESCRIBED)]
        for kind, rows in catalog.items()
        if kind not in UNDESCRIBED_KINDS
    }


@pytest.mark.parametrize("make", [upgrade_sqlite, create_sqlite], ids=["migrated", "new"])
def test_a_sqlite_store_has_the_schema(make: Callable[[Path], Any], tmp_path: Path) -> None:
    make(tmp_path / "clarion.db")
    engine = create_engine(f"sqlite:///{tmp_path / 'described.db'}")
    metadata.create_all(engine)
    engine.dispose()

    assert list_missing_in_sqlite(tmp_path / "clarion.db") == []
    made, wanted = [read_sqlite_catalog(tmp_path / name) for name in ("clarion.db", "described.db")]
    assert described(made) == described(wanted)


async def test_migrated_postgresql_has_the_schema(migrated_postgres_url: str, fresh_postgres_url: str) -> None:
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(fresh_postgres_url))
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    await engine.dispose()

    made, wanted = [await read_postgres_catalog(url) for url in (migrated_postgres_url, fresh_postgres_url)]

    assert described(made) == described(wanted)


async def test_migrating_twice_changes_nothing(tmp_path: Path, postgres_url: str) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    await migrate_postgres(postgres_url)

    assert migrate_sqlite(path) == list_missing_in_sqlite(path) == []
    assert await migrate_postgres(postgres_url) == await list_missing_in_postgres(postgres_url) == []


def test_the_script_of_a_new_store_is_what_the_migrations_make() -> None:
    assert SQLITE_SCRIPT.read_text() == render_sqlite_script(), "run `make docs`"


def test_no_later_migration_locks_out_writers_by_building_an_index_or_changing_all_rows_at_once() -> None:
    """`db/migrations/online.py` has what to use instead. The first one makes empty tables."""
    first, *later = sorted(VERSIONS.glob("[0-9]*.py"))
    texts = {path.name: path.read_text() for path in later}
    updates = [line.strip() for text in texts.values() for line in text.splitlines() if '"UPDATE' in line]

    assert first.name.endswith("_first_schema.py")
    assert [name for name, text in texts.items() if "CREATE INDEX" in text or "CREATE UNIQUE INDEX" in text] == []
    assert [line for line in updates if "WHERE" not in line] == []


def test_a_store_that_has_tables_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"

    assert (create_sqlite(path), create_sqlite(path)) == (True, False)


async def test_a_migration_in_its_own_process_reports_what_it_applied_and_why_it_failed(
    tmp_path: Path, fresh_postgres_url: str
) -> None:
    assert await run_migration(Order(url=fresh_postgres_url)) == list_known_revisions()
    assert await run_migration(Order(path=str(tmp_path / "clarion.db"))) == list_known_revisions()

    (tmp_path / "text.db").write_text("not a database, just a text that is long enough to be looked at")
    with pytest.raises(StoreUnavailable, match="is damaged"):
        await run_migration(Order(path=str(tmp_path / "text.db")))


def test_a_sqlite_store_in_use_is_not_migrated(tmp_path: Path) -> None:
    path, versions = tmp_path / "clarion.db", make_versions(tmp_path / "versions", ADD_COLUMN)
    migrate_sqlite(path)
    reader = connect(path, read_only=True)
    reader.execute("SELECT count(*) FROM messages").fetchall()

    with pytest.raises(StoreInUse, match="stop `clarion serve`"):
        migrate_sqlite(path, versions)
    reader.close()

    require_unused(path)
    assert migrate_sqlite(path, versions) == ["9001"]


def test_a_version_can_work_with_a_newer_schema_if_all_newer_migrations_say_so() -> None:
    revisions = ["1", "2", "3", "4"]

    assert oldest_compatible(revisions, {}) == "4"
    assert oldest_compatible(revisions, {"4": "3"}) == "3"
    assert oldest_compatible(revisions, {"4": "2", "3": "2"}) == "2"
    assert oldest_compatible(revisions, {"4": "2"}) == "3"
    assert oldest_compatible(revisions, {"4": "3", "3": "2"}) == "3"


def set_schema(path: Path, revision: str, works_with: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?, works_with = ?", [revision, works_with])


def test_a_newer_store_that_this_version_can_work_with_is_served(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    set_schema(path, "9999", f"{LATEST}..9999")

    assert list_missing_in_sqlite(path) == []


def test_a_newer_store_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    set_schema(path, "9999", "9998..9999")

    with pytest.raises(StoreNewer, match="9999, newer than this Clarion"):
        migrate_sqlite(path)


async def test_a_store_of_a_version_that_was_never_released_is_refused_with_what_to_do(
    tmp_path: Path, fresh_postgres_url: str
) -> None:
    path, first = tmp_path / "clarion.db", list_known_revisions()[0]
    migrate_sqlite(path)
    set_schema(path, "0009", "0009..0009")
    await migrate_postgres(fresh_postgres_url)
    connection = await asyncpg.connect(fresh_postgres_url)
    await connection.execute("ALTER TABLE alembic_version DROP COLUMN works_with")
    await connection.execute("UPDATE alembic_version SET version_num = '0008'")
    await connection.close()

    with pytest.raises(StoreOutdated, match=rf"has schema 0009, .* migrate it to {first} with"):
        migrate_sqlite(path)
    with pytest.raises(StoreOutdated, match=r"The database has schema 0008.* Begin with a new store"):
        await migrate_postgres(fresh_postgres_url)


def test_a_file_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    path.write_text("not a database, just a text that is long enough to be looked at")

    with pytest.raises(StoreUnavailable, match="is damaged"):
        migrate_sqlite(path)


async def test_an_unreachable_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await migrate_postgres(f"postgresql://nobody@/none?host={tmp_path}")


def test_only_further_columns_of_workflows_keep_processes_of_the_first_release_from_going_on() -> None:
    """They read whole rows of workflows into records that know no further columns."""
    assert list_breaking("0023", list_known_revisions()) == ["0027", "0033"]
