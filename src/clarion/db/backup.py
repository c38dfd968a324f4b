"""Copies of a SQLite store: taken while it is served, checked, and put in the place of a store."""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
from msgspec import Struct

from clarion.db import sqlite
from clarion.db.exclusive import exclusively
from clarion.db.revisions import Schema, list_known_revisions, read_sqlite_schema
from clarion.errors import StoreError, StoreNewer, StoreUnavailable
from clarion.private_files import make_private_folder

_PAGES_PER_STEP = 512
"""2 MB: the disk is left to the service after each."""
_PAUSE_SECONDS = 0.002
_LOG_SUFFIXES = ("-wal", "-shm", "-journal")


def _pause() -> None:
    time.sleep(_PAUSE_SECONDS)


class CopyReport(Struct, frozen=True):
    """A copy that is complete and checked."""

    path: Path
    size: int
    schema: Schema


def back_up(
    source: Path, target: Path, *, force: bool = False, between_steps: Callable[[], None] = _pause
) -> CopyReport:
    """Copy a store, of one moment, while other processes write to it; the target appears when it is complete.

    The copy is read from one snapshot. SQLite starts a copy again whenever the store changes between two steps, unless
    the source has a transaction open; with a write-ahead log that transaction holds up no writer.
    """
    if not source.exists():
        raise StoreUnavailable(f"There is no store {source}; is the data folder right?")
    if target.exists() and not force:
        raise StoreError(f"The file {target} exists; choose another name, or overwrite it with --force.")
    with _draft_of(target) as draft, _reported(source), closing(sqlite.connect(source, read_only=True)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        _copy(connection, draft, between_steps)
        report = check_copy(draft)
    return CopyReport(target, report.size, report.schema)


def check_copy(path: Path) -> CopyReport:
    """Read all of a file; raises unless it is an intact store with a schema that this version knows."""
    with _reported(path), closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)) as connection:
        problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
        if problems != ["ok"]:
            raise StoreError(f"The file {path} is damaged: {'; '.join(problems)}")
        schema = read_sqlite_schema(connection)
    if schema is None:
        raise StoreError(f"The file {path} is no store of Clarion.")
    if schema.revision not in list_known_revisions():
        raise StoreNewer(
            f"The file {path} has schema {schema.revision}, newer than this Clarion; "
            "restore it with the version that wrote it."
        )
    return CopyReport(path, path.stat().st_size, schema)


def put_in_place(source: Path, target: Path, *, force: bool = False) -> Path | None:
    """Make a store of a copy; returns where the store that was there is now.

    A store that is there is replaced with `force` only, and never one that a process has open.
    """
    replaced: Path | None = None
    make_private_folder(target.parent)
    if target.exists():
        if not force:
            raise StoreError(f"There is a store {target} already; replace it with --force.")
        with exclusively(target):
            replaced = target.with_name(f"{target.name}.replaced")
    with _draft_of(target) as draft, _reported(source):
        with closing(apsw.Connection(str(source), apsw.SQLITE_OPEN_READONLY)) as connection:
            _copy(connection, draft, lambda: None)
        check_copy(draft)
        if replaced is not None:
            with exclusively(target):
                target.rename(replaced)
        for suffix in _LOG_SUFFIXES:
            target.with_name(target.name + suffix).unlink(missing_ok=True)
    return replaced


def _copy(source: apsw.Connection, target: Path, between_steps: Callable[[], None]) -> None:
    with closing(apsw.Connection(str(target), apsw.SQLITE_OPEN_READWRITE)) as copy:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_PER_STEP)
                between_steps()
        # One file, which can be read from a folder that is not writable.
        copy.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """A private file beside the target, which takes its name at the end and is removed after an error."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        _sync(draft)
        draft.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"The file {target} cannot be written: {error}") from error
    finally:
        for suffix in ("", *_LOG_SUFFIXES):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.CorruptError as error:
        raise StoreError(f"The file {path} is damaged: {error}") from error
    except apsw.Error as error:
        raise StoreUnavailable(f"The file {path} cannot be read or copied: {error}") from error
