"""Migrate and open the configured store."""

import asyncio
from pathlib import Path

from clarion.db.migrate import list_missing_in_postgres, list_missing_in_sqlite, migrate_postgres, migrate_sqlite
from clarion.db.port import Database
from clarion.db.postgres import PostgresDatabase
from clarion.db.sqlite import SqliteDatabase
from clarion.errors import StoreOutdated
from clarion.settings import Settings

_FILE = "clarion.db"


async def migrate_store(settings: Settings) -> list[str]:
    """Migrate the store to the schema of this version; returns the revisions that were applied."""
    if settings.database_url is not None:
        return await migrate_postgres(settings.database_url.reveal())
    return await asyncio.to_thread(migrate_sqlite, store_path(settings))


async def require_current_store(settings: Settings) -> None:
    """Raise unless the store has exactly the schema of this version."""
    if settings.database_url is not None:
        missing = await list_missing_in_postgres(settings.database_url.reveal())
    else:
        missing = await asyncio.to_thread(list_missing_in_sqlite, store_path(settings))
    if missing:
        raise StoreOutdated("The store is not at the schema of this version; run `clarion migrate` first.")


async def open_store(settings: Settings) -> Database:
    if settings.database_url is not None:
        return await PostgresDatabase.connect(settings.database_url.reveal(), pool_size=settings.database_pool_size)
    return SqliteDatabase(store_path(settings))


def store_path(settings: Settings) -> Path:
    """The SQLite file."""
    return settings.data_dir / _FILE
