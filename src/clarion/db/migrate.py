"""Migrate a store to the schema of this version, and refuse one that is newer.

Alembic and SQLAlchemy are imported only when there are migrations to apply: they would slow down every start.
"""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from clarion.db import sqlite
from clarion.errors import StoreNewer, StoreUnavailable
from clarion.private_files import make_private_file, make_private_folder

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x_C1A_1107  # an arbitrary number


def list_known_revisions() -> list[str]:
    """The revisions of all migrations, oldest first."""
    return sorted(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def list_missing_in_sqlite(path: Path) -> list[str]:
    """The migrations that the store lacks; all of them if it does not exist."""
    if not path.exists():
        return list_known_revisions()
    try:
        with closing(sqlite.connect(path)) as connection:
            return _list_missing(_sqlite_revision(connection), f"The store {path}")
    except apsw.Error as error:
        raise StoreUnavailable(f"The SQLite store {path} cannot be opened: {error}") from error


def find_sqlite_revision(path: Path) -> str | None:
    """The schema of a store; None if it has none. Raises StoreUnavailable if there is no store."""
    if not path.exists():
        raise StoreUnavailable(f"There is no store {path}; `clarion serve` makes it.")
    try:
        with closing(sqlite.connect(path, read_only=True)) as connection:
            return _sqlite_revision(connection)
    except apsw.Error as error:
        raise StoreUnavailable(f"The SQLite store {path} cannot be opened: {error}") from error


def migrate_sqlite(path: Path) -> list[str]:
    """Apply the missing migrations and return their revisions."""
    missing = list_missing_in_sqlite(path)
    if missing:
        try:
            make_private_folder(path.parent)
            # SQLite gives the files of its log the mode of the database.
            make_private_file(path)
            _upgrade_sqlite(path)
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"The SQLite store {path} cannot be made: {error}") from error
    return missing


async def find_postgres_revision(url: str) -> str | None:
    """The schema of a database; None if it has none."""
    async with _connected(url) as connection:
        return await _postgres_revision(connection)


async def list_missing_in_postgres(url: str) -> list[str]:
    async with _connected(url) as connection:
        return _list_missing(await _postgres_revision(connection), "The database")


async def migrate_postgres(url: str) -> list[str]:
    """Apply the missing migrations and return their revisions; a lock lets one process at a time do so."""
    async with _connected(url) as connection:
        if not _list_missing(await _postgres_revision(connection), "The database"):
            return []
        await connection.execute(f"SELECT pg_advisory_lock({_LOCK})")
        missing = _list_missing(await _postgres_revision(connection), "The database")
        if missing:
            await _upgrade_postgres(url)
        return missing


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    try:
        connection = await asyncpg.connect(url)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise StoreUnavailable(f"PostgreSQL cannot be reached: {error}") from error
    try:
        yield connection
    finally:
        await connection.close()


def _list_missing(revision: str | None, store: str) -> list[str]:
    known = list_known_revisions()
    if revision is None:
        return known
    if revision not in known:
        raise StoreNewer(
            f"{store} has schema {revision}, newer than this Clarion, which knows up to {known[-1]}. "
            "Install the newer version, or restore a backup made before the upgrade."
        )
    return known[known.index(revision) + 1 :]


def _sqlite_revision(connection: apsw.Connection) -> str | None:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
    return row[0] if row else None


async def _postgres_revision(connection: Any) -> str | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return revision


def _upgrade(connection: Any) -> None:
    from alembic import command  # noqa: PLC0415 - only when there is something to migrate
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _connect_for_sqlalchemy(path: Path) -> sqlite3.Connection:
    """Connect with the driver of the standard library, because SQLAlchemy does not support apsw."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def _sqlite_engine(path: Path) -> Iterator[Any]:
    from sqlalchemy import create_engine, event  # noqa: PLC0415
    from sqlalchemy.pool import StaticPool  # noqa: PLC0415

    engine = create_engine("sqlite://", creator=lambda: _connect_for_sqlalchemy(path), poolclass=StaticPool)
    # sqlite3 does not open a transaction before DDL; without one a crash would leave half a migration.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        yield engine
    finally:
        engine.dispose()


def _upgrade_sqlite(path: Path) -> None:
    with _sqlite_engine(path) as engine, engine.begin() as connection:
        _upgrade(connection)


async def _upgrade_postgres(url: str) -> None:
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415

    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url))
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()
