"""Rewrites a SQLite file without the pages that deleted rows left free."""

from contextlib import closing
from pathlib import Path

import apsw

from clarion.db.sqlite.database import connect
from clarion.errors import StoreUnavailable

_BUSY_MILLISECONDS = 1_000


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
