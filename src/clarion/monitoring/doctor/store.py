"""Checks of the store: whether it can be written, whether its file is intact, and whether the keys belong to it."""

import asyncio
from pathlib import Path

from clarion.db.open import store_path
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.environments.bootstrap import check_vault
from clarion.errors import SettingsError, StoreUnavailable
from clarion.monitoring.doctor.model import Finding, fine, problem, warning
from clarion.settings.model import Settings
from clarion.vault import KEY_FILE, open_configured_vault

MAX_CHECKED_BYTES = 1_000_000_000
"""Larger files are read whole only if that is asked for."""
_OLD_TRANSACTION_SECONDS = 900
_MAX_CONNECTIONS_SHARE = 0.9

# Changes nothing, but needs the right and the lock to write.
TRY_TO_WRITE = sql("UPDATE environments SET name = name WHERE FALSE")
QUICK_CHECK = sql("PRAGMA quick_check(5)")
READ_SERVER = sql("""
    SELECT (SELECT count(*) FROM pg_stat_activity) AS connections,
        CAST(current_setting('max_connections') AS INTEGER) AS max_connections,
        COALESCE((SELECT CAST(max(EXTRACT(EPOCH FROM now() - xact_start)) AS BIGINT) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend'), 0) AS oldest_seconds
""")


async def check_store(database: Database, settings: Settings, *, full: bool) -> list[Finding]:
    findings = [await _check_writing(database), await _check_keys(database, settings)]
    if database.dialect is Dialect.SQLITE:
        return [*findings, await _check_file(database, store_path(settings), full=full)]
    return [*findings, *await _check_server(database)]


async def _check_writing(database: Database) -> Finding:
    try:
        await database.transaction(lambda db: db.execute(TRY_TO_WRITE))
    except StoreUnavailable as error:
        return problem(
            "writing",
            f"The store cannot be written: {error}",
            "Look for a full disk, a file system or a server that is read-only, and for a process that holds a lock.",
        )
    return fine("writing", "The store can be written.")


async def _check_keys(database: Database, settings: Settings) -> Finding:
    path = settings.data_dir / KEY_FILE
    if settings.encryption_keys is None and not path.exists():
        return problem(
            "keys",
            f"There are no encryption keys: neither CLARION_ENCRYPTION_KEYS nor the file {path}.",
            "Copy the file from where the service ran before, or from a backup: nothing else opens the stored secrets.",
        )
    try:
        vault = open_configured_vault(settings)
        await database.read(lambda db: check_vault(db, settings, vault))
    except (SettingsError, StoreUnavailable) as error:
        return problem("keys", str(error), "Use the keys that the secrets of this store were sealed with.")
    return fine("keys", "The encryption keys open the secrets of the store. Is a copy of them elsewhere?")


async def _check_file(database: Database, path: Path, *, full: bool) -> Finding:
    size = await asyncio.to_thread(lambda: path.stat().st_size)
    if size > MAX_CHECKED_BYTES and not full:
        return fine("integrity", f"The file has {size // 1_000_000} MB, too many to read all of it; --full does.")
    try:
        problems = await database.scan(_run_quick_check)
    except StoreUnavailable as error:
        problems = [str(error)]
    if problems != ["ok"]:
        return problem(
            "integrity",
            f"The file {path} is damaged: {'; '.join(problems)}",
            "Stop the service, keep a copy of the file, restore the last backup (`clarion restore`), check the disk.",
        )
    return fine("integrity", f"The file of {size // 1_000_000} MB is intact.")


async def _run_quick_check(db: Connection) -> list[str]:
    return [str(next(iter(row.values()))) for row in await db.fetch(QUICK_CHECK)]


async def _check_server(database: Database) -> list[Finding]:
    row = await database.read(lambda db: db.fetch_one(READ_SERVER))
    if row is None:
        return []
    return [
        _check_connections(row["connections"], row["max_connections"]),
        _check_oldest_transaction(row["oldest_seconds"]),
    ]


def _check_connections(used: int, limit: int) -> Finding:
    summary = f"{used} of {limit} connections of PostgreSQL are in use."
    if used > limit * _MAX_CONNECTIONS_SHARE:
        return warning(
            "connections", summary, "Raise max_connections of PostgreSQL, or lower CLARION_DATABASE_POOL_SIZE."
        )
    return fine("connections", summary)


def _check_oldest_transaction(seconds: int) -> Finding:
    if seconds > _OLD_TRANSACTION_SECONDS:
        return warning(
            "transactions",
            f"A transaction of the database has been open for {seconds // 60} minutes.",
            "It keeps PostgreSQL from reusing space: find it in pg_stat_activity, and end it.",
        )
    return fine("transactions", "No transaction has been open for long.")
