"""Checks of the machine and of the store: variables, the data folder, its files and its disk; whether the store can be
written, whether its file is intact, and whether the keys belong to it."""

import asyncio
import dataclasses
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from clarion.db.open import store_path
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.environments.bootstrap import check_vault
from clarion.errors import SettingsError, StoreUnavailable
from clarion.monitoring.doctor.model import Finding, fine, problem, warning
from clarion.settings.model import Settings, variable
from clarion.vault import KEY_FILE, open_configured_vault
from clarion.vocabulary import count_text

_MEGABYTE = 1_000_000
_LITTLE_SPACE = 1_000 * _MEGABYTE
_NO_SPACE = 200 * _MEGABYTE
_OTHERS = 0o077
_PREFIX = "CLARION_"


def check_machine(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    return [
        _check_variables(environ),
        *_check_files(settings),
        *([] if settings.database_url is not None else [_check_disk(settings.data_dir)]),
    ]


def _check_variables(environ: Mapping[str, str]) -> Finding:
    """Names that no setting has are typing errors: nothing else reads them."""
    known = {variable(item.name) for item in dataclasses.fields(Settings)}
    given = {name for name in environ if name.startswith(_PREFIX)}
    unknown = sorted(name for name in given - known if name.removesuffix("_FILE") not in known)
    if unknown:
        return warning(
            "settings",
            f"No setting is called {', '.join(unknown)}.",
            "`clarion settings` lists all names; correct it, or remove the variable.",
        )
    return fine("settings", f"{count_text(len(given), 'variable is', 'variables are')} set, and all are valid.")


def _check_files(settings: Settings) -> Iterator[Finding]:
    keys = settings.data_dir / KEY_FILE
    files = [keys] if settings.encryption_keys is None else []
    files += [store_path(settings)] if settings.database_url is None else []
    open_files = [str(one) for one in files if one.exists() and one.stat().st_mode & _OTHERS]
    if open_files:
        yield warning("files", f"Other users can read {', '.join(open_files)}.", f"chmod 600 {' '.join(open_files)}")
    else:
        yield fine("files", "Store and keys are for their owner alone.")


def _check_disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    summary = f"{usage.free // _MEGABYTE} MB of {usage.total // _MEGABYTE} MB are free in {folder}."
    remedy = "Free space, or move the data folder to a larger disk; shorter retention keeps the store small."
    if usage.free < _NO_SPACE:
        return problem("disk", summary, remedy)
    if usage.free < _LITTLE_SPACE:
        return warning("disk", summary, remedy)
    return fine("disk", summary)


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
