"""Open the store that the settings name."""

import asyncio

from clarion.db.migrate import migrate_postgres, migrate_sqlite, missing_in_postgres, missing_in_sqlite
from clarion.db.port import Database
from clarion.db.postgres import PostgresDatabase
from clarion.db.sqlite import SqliteDatabase
from clarion.errors import StoreOutdated
from clarion.settings import Settings

_FILE = "clarion.db"


async def migrate_store(settings: Settings) -> list[str]:
    """Bring the store to this program's schema; names the migrations that ran."""
    if settings.database_url is not None:
        return await migrate_postgres(settings.database_url.reveal())
    return await asyncio.to_thread(migrate_sqlite, settings.data_dir / _FILE)


async def require_current_store(settings: Settings) -> None:
    """Refuse a store that is behind this program or ahead of it."""
    if settings.database_url is not None:
        missing = await missing_in_postgres(settings.database_url.reveal())
    else:
        missing = await asyncio.to_thread(missing_in_sqlite, settings.data_dir / _FILE)
    if missing:
        raise StoreOutdated("The store is not at the schema of this version; run `clarion migrate` first.")


async def open_store(settings: Settings) -> Database:
    if settings.database_url is not None:
        return await PostgresDatabase.connect(settings.database_url.reveal(), pool_size=settings.database_pool_size)
    return SqliteDatabase(settings.data_dir / _FILE)
