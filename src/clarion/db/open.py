"""Migrate and open the configured store."""

import asyncio
from pathlib import Path

from clarion.db.migrations.migrate import (
    Order,
    create_sqlite,
    find_postgres_revision,
    find_sqlite_revision,
    list_missing_in_postgres,
    list_missing_in_sqlite,
    run_migration,
)
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.port import Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.sqlite.database import SqliteDatabase
from clarion.db.sqlite.file import opening
from clarion.errors import StoreOutdated
from clarion.settings.model import Settings

_FILE = "clarion.db"


def store_path(settings: Settings) -> Path:
    """The file of the SQLite store."""
    return settings.data_dir / _FILE


async def migrate_store(settings: Settings, *, force: bool = False) -> list[str]:
    """Migrate the store to the schema of this version; returns the revisions that were applied.

    `force` does so although processes are alive that cannot work with it.
    """
    missing = await list_missing_migrations(settings)
    if not missing:
        return []
    if settings.database_url is not None:
        return await run_migration(Order(url=settings.database_url.reveal(), force=force))
    path = store_path(settings)
    if await asyncio.to_thread(create_sqlite, path):
        return missing
    return await run_migration(Order(path=str(path)))


async def list_missing_migrations(settings: Settings) -> list[str]:
    """The migrations that the store lacks; raises if its schema is newer than this version can work with."""
    if settings.database_url is not None:
        return await list_missing_in_postgres(settings.database_url.reveal())
    return await asyncio.to_thread(list_missing_in_sqlite, store_path(settings))


async def require_current_store(settings: Settings) -> None:
    """Raise unless this version can work with the schema of the store."""
    missing = await list_missing_migrations(settings)
    if missing == list_known_revisions():
        where = "the database" if settings.database_url is not None else settings.data_dir
        raise StoreOutdated(f"There is no store in {where} yet; run `clarion migrate` first, or `clarion serve`.")
    if missing:
        raise StoreOutdated("The store is not at the schema of this version; run `clarion migrate` first.")


async def find_revision(settings: Settings) -> str | None:
    """The schema of the store, which may be newer or older than this version's; None if it has none.

    Raises StoreUnavailable if there is no store.
    """
    if settings.database_url is not None:
        return await find_postgres_revision(settings.database_url.reveal())
    return await asyncio.to_thread(find_sqlite_revision, store_path(settings))


async def open_store(settings: Settings) -> Database:
    if settings.database_url is not None:
        return await PostgresDatabase.connect(settings.database_url.reveal(), pool_size=settings.database_pool_size)
    with opening(store_path(settings)):
        return SqliteDatabase(store_path(settings))
