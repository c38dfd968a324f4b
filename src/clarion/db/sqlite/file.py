"""Says why a SQLite store cannot be opened, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from clarion.errors import StoreInUse, StoreUnavailable

_NOT_ALLOWED = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, OSError)
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)


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
