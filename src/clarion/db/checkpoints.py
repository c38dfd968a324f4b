"""Checkpoints of SQLite: copying the write-ahead log into the database file while the writer goes on."""

import logging
import threading

import apsw

PAGES_PER_CHECKPOINT = 8000
"""A log of 32 MB: a page that changes in many commits is copied once."""

# A writer that is so far ahead of copying waits for it.
_MAX_TIMES = 4

log = logging.getLogger(__name__)


class Checkpointer:
    """Copies the log in a thread of its own whenever it has grown by a number of pages.

    What is committed while the thread copies, the writer copies afterwards. That is little, and the log starts from its
    beginning again only with a transaction that finds all of it copied.
    """

    def __init__(self, writer: apsw.Connection, own: apsw.Connection, *, pages: int = PAGES_PER_CHECKPOINT) -> None:
        self._writer = writer
        self._own = own
        self._pages = pages
        self._log_pages = 0
        self._is_wanted = threading.Event()
        self._is_copied = False
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
        if self._is_copied or self._log_pages >= _MAX_TIMES * self._pages:
            self._is_copied = False
            self._copy(self._writer)
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
            self._is_copied = self._copy(self._own)

    def _copy(self, connection: apsw.Connection) -> bool:
        try:
            with self._copying:
                connection.wal_checkpoint()
        except apsw.Error as error:
            # Nothing is lost: it is tried again after the next commit.
            log.warning("Log of the store not copied", extra={"error": str(error)})
            return False
        return True
