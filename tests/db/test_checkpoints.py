"""The log of a SQLite store is copied while the writer goes on, and does not grow without end."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from clarion.db.sqlite.checkpoints import Checkpointer
from clarion.db.sqlite.database import connect

PAGES = 40
PAGE_BYTES = 4096 + 24
ROW_PAGES = 4
"""A commit writes a row of about this many pages."""
MAX_PAGES = 4 * PAGES + 2 * ROW_PAGES + 2
"""The writer waits for copying when the log is four times as long as it should be; one more commit may follow."""


class Store:
    """A writer with a checkpointer, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = connect(path)
        self.own = connect(path)
        self.writer.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, content BLOB)")
        self.checkpointer = Checkpointer(self.writer, self.own, pages=PAGES)

    def write(self, count: int) -> None:
        for _ in range(count):
            self.writer.execute("INSERT INTO things (content) VALUES (randomblob(?))", (ROW_PAGES * 4096,))
            self.checkpointer.keep_up()

    @property
    def log_pages(self) -> float:
        return self.path.with_name(f"{self.path.name}-wal").stat().st_size / PAGE_BYTES

    def log_starts_again(self) -> bool:
        """Write once more; returns whether the log then has only that commit."""
        sizes: list[int] = []

        def note(_connection: apsw.Connection, _name: str, pages: int) -> int:
            sizes.append(pages)
            return apsw.SQLITE_OK

        self.writer.set_wal_hook(note)
        self.writer.execute("INSERT INTO things (content) VALUES (NULL)")
        return sizes[0] < PAGES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "store.db")
    yield made
    made.checkpointer.close()
    made.writer.close()


def count_rows(path: Path) -> int:
    """Count the rows of a store that may have lost its log."""
    with contextlib.closing(connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        count: int = connection.execute("SELECT count(*) FROM things").get
        return count


def test_the_log_does_not_grow_with_what_is_written(store: Store) -> None:
    store.write(500)

    assert store.log_pages <= MAX_PAGES


def test_what_was_copied_is_in_the_database_file(store: Store, tmp_path: Path) -> None:
    store.write(500)
    # Its thread may be copying still, and SQLite lets nobody else copy meanwhile.
    store.checkpointer.close()
    store.writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
    copy = tmp_path / "copy.db"
    copy.write_bytes(store.path.read_bytes())

    assert count_rows(copy) == 500


def test_the_log_starts_again_after_a_long_read(store: Store) -> None:
    reader = connect(store.path, read_only=True)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM things").fetchall()
    store.write(200)
    assert store.log_pages > 4 * PAGES, "the log must keep what the reader sees"
    assert reader.execute("SELECT count(*) FROM things").get == 0

    reader.close()
    store.write(3)

    assert store.log_starts_again()


def test_the_writer_copies_the_log_when_the_thread_cannot(store: Store) -> None:
    store.own.close()

    store.write(500)

    assert store.log_pages <= MAX_PAGES


def test_nothing_is_lost_when_the_process_ends_between_checkpoints(store: Store, tmp_path: Path) -> None:
    store.write(37)
    copy = tmp_path / "copy.db"
    for ending in ("", "-wal"):
        source = store.path.with_name(store.path.name + ending)
        copy.with_name(copy.name + ending).write_bytes(source.read_bytes())

    assert count_rows(copy) == 37
