"""Copies of a SQLite store: taken while it is served, checked, and put in the place of a store."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import apsw
from msgspec import Struct

from clarion.db.migrations.revisions import Schema, list_known_revisions, read_sqlite_schema, require_released
from clarion.db.sqlite.database import connect
from clarion.db.sqlite.exclusive import exclusively
from clarion.db.sqlite.known_files import BACKUP_MARK, LOG_SUFFIXES, beside, describe_ours, is_backup
from clarion.errors import StoreError, StoreNewer, StoreUnavailable
from clarion.private_files import keep_aside, make_private_folder, private_draft

_PAGES_PER_STEP = 512
"""2 MB: the disk is left to the service after each."""
_PAUSE_SECONDS = 0.002
_STORE_MARK = 0


def _pause() -> None:
    time.sleep(_PAUSE_SECONDS)


class CopyReport(Struct, frozen=True):
    """A copy that is complete and checked."""

    path: Path
    size: int
    schema: Schema
    kept: Path | None = None
    """Where the file is that was in the place of the copy; None if there was none, or a backup."""


def back_up(
    source: Path, target: Path, *, force: bool = False, between_steps: Callable[[], None] = _pause
) -> CopyReport:
    """Copy a store, of one moment, while other processes write to it; the target appears when it is complete.

    The copy is read from one snapshot. SQLite starts a copy again whenever the store changes between two steps, unless
    the source has a transaction open; with a write-ahead log that transaction holds up no writer.
    """
    if not source.exists():
        raise StoreUnavailable(f"There is no store {source}; is the data folder right?")
    target = target.resolve()
    _require_replaceable(target, source, force=force)
    with _draft_of(target) as draft, _reported(source), closing(connect(source, read_only=True)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        _copy(connection, draft, between_steps, mark=BACKUP_MARK)
        report = check_copy(draft)
        kept = keep_aside(target) if target.exists() and not is_backup(target) else None
    return CopyReport(target, report.size, report.schema, kept)


def check_copy(path: Path) -> CopyReport:
    """Read all of a file; raises unless it is an intact store with a schema that this version knows."""
    with _reported(path), closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)) as connection:
        problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
        if problems != ["ok"]:
            raise StoreError(f"The file {path} is damaged: {'; '.join(problems)}")
        schema = read_sqlite_schema(connection)
    if schema is None:
        raise StoreError(f"The file {path} is no store of Clarion.")
    require_released(schema, f"The file {path}")
    if schema.revision not in list_known_revisions():
        raise StoreNewer(
            f"The file {path} has schema {schema.revision}, newer than this Clarion; "
            "restore it with the version that wrote it."
        )
    return CopyReport(path, path.stat().st_size, schema)


def put_in_place(source: Path, target: Path, *, force: bool = False) -> list[Path]:
    """Make a store of a copy; returns where the files are that were in its place.

    A store that is there is replaced with `force` only, and never one that a process has open. A log without its store
    is moved away: SQLite would write what it holds into the restored store.
    """
    make_private_folder(target.parent)
    target = target.resolve()
    if target.exists():
        if source.samefile(target):
            raise StoreError(f"The file {source} is the store itself; name a backup.")
        if not force:
            raise StoreError(f"There is a store {target} already; replace it with --force.")
    # Closing a file of a process ends its locks of that file: until the end, nothing else here opens the target.
    with exclusively(target) if target.exists() else nullcontext():
        kept: list[Path] = []
        with _draft_of(target, like=target.parent) as draft, _reported(source):
            with closing(apsw.Connection(str(source), apsw.SQLITE_OPEN_READONLY)) as connection:
                _copy(connection, draft, lambda: None, mark=_STORE_MARK)
            check_copy(draft)
            if target.exists():
                kept.append(keep_aside(target))
            else:
                kept += _move_logs_away(target)
    return kept


def _move_logs_away(target: Path) -> list[Path]:
    kept = []
    for log in filter(Path.exists, beside(target, LOG_SUFFIXES)):
        kept.append(keep_aside(log))
        log.unlink()
    return kept


def _require_replaceable(target: Path, source: Path, *, force: bool) -> None:
    ours = describe_ours(target, of_store=source)
    if ours is not None:
        raise StoreError(f"The file {target} is {ours}, which a backup never replaces; choose another name.")
    if target.is_dir():
        raise StoreError(f"{target} is a folder; name a file in it.")
    if target.exists() and not force:
        raise StoreError(f"The file {target} exists; choose another name, or overwrite it with --force.")


def _copy(source: apsw.Connection, target: Path, between_steps: Callable[[], None], *, mark: int) -> None:
    connecting = closing(apsw.Connection(str(target), apsw.SQLITE_OPEN_READWRITE))
    with _writing_reported(target.parent), connecting as copy:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_PER_STEP)
                between_steps()
        # One file, which can be read from a folder that is not writable.
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute(f"PRAGMA application_id = {mark}")


@contextmanager
def _draft_of(target: Path, *, like: Path | None = None) -> Iterator[Path]:
    try:
        with private_draft(target, like=like) as draft:
            try:
                yield draft
            finally:
                for one in beside(draft, LOG_SUFFIXES):
                    one.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"The file {target} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except apsw.CorruptError as error:
        raise StoreError(f"The file {path} is damaged: {error}") from error
    except apsw.Error as error:
        raise StoreUnavailable(f"The file {path} cannot be read or copied: {error}") from error


@contextmanager
def _writing_reported(folder: Path) -> Iterator[None]:
    """Say that a copy could not be written: SQLite's text of such an error is that of the file that is read."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreUnavailable(f"The disk of {folder} is full: free space, or write the copy elsewhere.") from error
    except apsw.IOError as error:
        raise StoreUnavailable(
            f"The copy in {folder} could not be written: the disk has a fault, or a limit of file sizes was reached."
        ) from error
