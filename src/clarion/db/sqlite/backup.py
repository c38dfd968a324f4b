"""Copies of a SQLite store: taken while it is served, checked, and put in the place of a store.

Files of ours are recognized by what they are, not by their names alone: stores, their logs, encryption keys, backups.
"""

import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import apsw
from msgspec import Struct

from clarion.db.migrations.revisions import Schema, list_known_revisions, read_sqlite_schema, require_released
from clarion.db.sqlite.database import connect
from clarion.db.sqlite.file import exclusively
from clarion.errors import StoreError, StoreNewer, StoreUnavailable
from clarion.private_files import keep_aside, make_private_folder, private_draft
from clarion.vault import KEY_FILE, looks_like_keys

_PAGES_PER_STEP = 512
"""2 MB: the disk is left to the service after each."""
_PAUSE_SECONDS = 0.002
_STORE_MARK = 0

LOG_SUFFIXES = ("-wal", "-shm", "-journal")
BACKUP_MARK = 0x_43_6C_42_6B  # "ClBk"
"""The application id of backups, by which they are told from stores."""

_HEADER_BYTES = 100
_SQLITE = b"SQLite format 3\0"
_LOG_STARTS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
"""Of write-ahead logs, and of rollback journals."""
_ROLLBACK_JOURNAL = 1
"""The read version of databases without a write-ahead log; a store that was served has one."""


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


def describe_ours(path: Path, *, of_store: Path) -> str | None:
    """Say what a file is that nothing may be written over; None for other files and for backups.

    It may be of this store or of any other. The name of a log beside a store is taken also where there is none yet.
    """
    path = path.resolve()
    if path.name == KEY_FILE or _is_keys(path):
        return "a file of encryption keys"
    if _is_same(path, of_store) or _is_store(path):
        return "a store"
    if any(_is_same(path, one) for one in beside(of_store, LOG_SUFFIXES)) or _is_log(path):
        return "the log of a store"
    return None


def is_backup(path: Path) -> bool:
    """Whether `clarion backup` wrote a file, and nothing has served it since."""
    header = _read_start(path)
    if len(header) < _HEADER_BYTES or not header.startswith(_SQLITE):
        return False
    (mark,) = struct.unpack_from(">I", header, 68)
    return header[19] == _ROLLBACK_JOURNAL and mark == BACKUP_MARK


def beside(path: Path, suffixes: Iterable[str]) -> Iterator[Path]:
    """The names beside a file that begin with its name."""
    return (path.with_name(path.name + suffix) for suffix in suffixes)


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)


def _is_store(path: Path) -> bool:
    return _read_start(path).startswith(_SQLITE) and not is_backup(path)


def _is_log(path: Path) -> bool:
    has_store = any(
        path.name.endswith(suffix) and _is_store(path.with_name(path.name.removesuffix(suffix)))
        for suffix in LOG_SUFFIXES
    )
    return has_store or _read_start(path).startswith(_LOG_STARTS)


def _is_keys(path: Path) -> bool:
    return looks_like_keys(_read_start(path).decode(errors="replace"))


def _read_start(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)
