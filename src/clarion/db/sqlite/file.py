"""The file of a SQLite store: why it cannot be opened, using it alone, and making it smaller."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from clarion.db.sqlite.database import connect
from clarion.errors import StoreInUse, StoreUnavailable

_NOT_ALLOWED = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, OSError)
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
_PATIENCE_MILLISECONDS = 2_000
"""Commands that only look at the store are done by then."""
_BUSY_MILLISECONDS = 1_000


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a StoreError with the way out."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreInUse(
            f"The store {path} is in use: stop `clarion serve`, and other commands that work on it, first."
        ) from error
    except _DAMAGED as error:
        raise StoreUnavailable(
            f"The SQLite store {path} is damaged ({error}): move it away with its -wal and -shm, if there are any, and "
            "restore the last backup with `clarion restore`."
        ) from error
    except _NOT_ALLOWED as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreUnavailable(
            f"The SQLite store {path} cannot be opened: {reason}. The user that runs this must be allowed to read and "
            "write it and its folder (CLARION_DATA_DIR)."
        ) from error
    except apsw.Error as error:
        raise StoreUnavailable(f"The SQLite store {path} cannot be opened: {error}") from error


def require_unused(path: Path) -> None:
    """Raise if another process has the store open."""
    with exclusively(path):
        pass


@contextmanager
def exclusively(path: Path) -> Iterator[apsw.Connection]:
    """Open the store so that no other process can; raises if one has it open.

    Leaving the write-ahead log needs the file for this connection alone, also where the others are idle.
    """
    with opening(path), closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(_PATIENCE_MILLISECONDS)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")


def compact_sqlite(path: Path) -> tuple[int, int]:
    """Rewrite the file; returns its size in bytes before and after. Nobody else may have it open."""
    if not path.exists():
        raise StoreUnavailable(f"There is no store {path}")
    try:
        with closing(connect(path)) as connection:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            # Leaving the log needs the file for oneself, so that this fails while another process serves it.
            connection.execute("PRAGMA journal_mode = DELETE")
            before = path.stat().st_size
            connection.execute("VACUUM")
            connection.execute("PRAGMA journal_mode = WAL")
            return before, path.stat().st_size
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreUnavailable(f"Another process has the store {path} open; stop it first") from error
    except apsw.Error as error:
        raise StoreUnavailable(f"The store {path} cannot be compacted: {error}") from error
