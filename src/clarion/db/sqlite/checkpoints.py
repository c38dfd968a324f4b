"""Checkpoints of SQLite: copying the write-ahead log into the database file while the writer goes on."""

import logging
import threading

import apsw

PAGES_PER_CHECKPOINT = 16_000
"""A log of 64 MB: a page that changes in many commits is copied once."""

_MAX_PASSES = 10
# A writer that is so far ahead of copying waits for it.
_MAX_TIMES = 4

log = logging.getLogger(__name__)


class Checkpointer:
    """Copies the log in a thread of its own whenever it has grown by a number of pages.

    The log starts from its beginning again with a transaction that finds all of it copied. So the thread also copies
    what is committed meanwhile, which is less each time, until it has all. If it does not get there, the writer copies
    the rest, because it can keep others from writing.
    """

    def __init__(self, writer: apsw.Connection, own: apsw.Connection, *, pages: int = PAGES_PER_CHECKPOINT) -> None:
        self._writer = writer
        self._own = own
        self._pages = pages
        self._log_pages = 0
        self._is_wanted = threading.Event()
        self._needs_writer = False
        self._is_closed = False
        self._copying = threading.Lock()
        # Takes the place of the hook that would copy the log inside a commit.
        writer.set_wal_hook(self._note_commit)
        self._thread = threading.Thread(target=self._run, name="clarion-checkpoint", daemon=True)
        self._thread.start()

    def keep_up(self) -> None:
        """Have the log copied if it is long; for the writer's thread, after each commit."""
        if self._log_pages < self._pages:
            return
        if self._needs_writer or self._log_pages >= _MAX_TIMES * self._pages:
            self._needs_writer = False
            self._copy(self._writer, passes=1)
        else:
            self._is_wanted.set()

    def close(self) -> None:
        self._is_closed = True
        self._is_wanted.set()
        self._thread.join()
        self._own.close()

    def _note_commit(self, _connection: apsw.Connection, _database: str, log_pages: int) -> int:
        self._log_pages = log_pages
        return apsw.SQLITE_OK

    def _run(self) -> None:
        while True:
            self._is_wanted.wait()
            self._is_wanted.clear()
            if self._is_closed:
                return
            self._needs_writer = not self._copy(self._own, passes=_MAX_PASSES)

    def _copy(self, connection: apsw.Connection, *, passes: int) -> bool:
        """Copy what can be copied; returns whether a pass found that it was all."""
        try:
            return any(self._copy_once(connection) for _ in range(passes))
        except apsw.Error as error:
            # Nothing is lost: it is tried again after the next commit.
            log.warning("Log of the store not copied", extra={"error": str(error)})
            return False

    def _copy_once(self, connection: apsw.Connection) -> bool:
        with self._copying:
            log_pages, copied = connection.wal_checkpoint()
        return copied == log_pages
