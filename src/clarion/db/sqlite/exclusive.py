"""Whether other processes use a SQLite store, and keeping them out."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from clarion.db.sqlite.file import opening

_PATIENCE_MILLISECONDS = 2_000
"""Commands that only look at the store are done by then."""


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
