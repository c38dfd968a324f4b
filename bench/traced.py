"""Runs `clarion` with every SQL statement counted and timed, at the driver, where nothing gets past.

    python -m bench.traced serve --data-dir …

At its end the process writes a JSON object, SQL text to [times called, seconds], into the file that BENCH_TRACE_FILE
names, with its process id added. SIGUSR1 makes it forget what it has counted so far. The drivers are wrapped by classes
of their own, so Clarion itself knows nothing of this and a normal process pays nothing.
"""

import atexit
import functools
import json
import os
import re
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg

from clarion.cli.commands import main

FILE_VARIABLE = "BENCH_TRACE_FILE"

_counted: dict[str, list[float]] = {}
_SPACE = re.compile(r"\s+")
_LIST = re.compile(r"IN \([:?]\w+(?:, [:?]\w+)*\)")


@contextmanager
def _counting(text: str, *, calls: int = 1) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        entry = _counted.setdefault(text, [0, 0.0])
        entry[0] += calls
        entry[1] += time.perf_counter() - began


class TracedCursor(sqlite3.Cursor):
    """Rows are made while they are fetched, so that is part of the statement's time."""

    text = ""

    def fetchall(self) -> list[Any]:
        with _counting(self.text, calls=0):
            return super().fetchall()

    def fetchone(self) -> Any:
        with _counting(self.text, calls=0):
            return super().fetchone()


class TracedSqlite(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        cursor = self.cursor(TracedCursor)
        cursor.text = sql
        with _counting(sql):
            return cursor.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        with _counting(sql):
            return super().executemany(sql, parameters)


def _traced(name: str, prefix: str = "") -> Callable[..., Any]:
    original = getattr(asyncpg.Connection, name)

    @functools.wraps(original)
    async def call(self: Any, text: str, *arguments: Any, **options: Any) -> Any:
        with _counting(prefix + text):
            return await original(self, text, *arguments, **options)

    return call


class TracedPostgres(asyncpg.Connection):  # type: ignore[misc]
    """Times here include waiting for the server, and for the event loop to come back."""

    execute = _traced("execute")
    executemany = _traced("executemany")
    fetch = _traced("fetch")
    fetchrow = _traced("fetchrow")
    fetchval = _traced("fetchval")
    fetchmany = _traced("fetchmany")
    copy_records_to_table = _traced("copy_records_to_table", "COPY ")


def _write(file: str) -> None:
    merged: dict[str, list[float]] = {}
    for text, (calls, seconds) in list(_counted.items()):
        entry = merged.setdefault(_shortened(text), [0, 0.0])
        entry[0] += calls
        entry[1] += seconds
    Path(f"{file}.{os.getpid()}").write_text(json.dumps(merged))


def _shortened(text: str) -> str:
    """One line, with lists of any length alike."""
    return _LIST.sub("IN (…)", _SPACE.sub(" ", text).strip())


def _trace() -> None:
    _give(sqlite3, "connect", factory=TracedSqlite)
    _give(asyncpg, "connect", connection_class=TracedPostgres)
    _give(asyncpg, "create_pool", connection_class=TracedPostgres)
    signal.signal(signal.SIGUSR1, lambda *_: _counted.clear())
    atexit.register(_write, os.environ[FILE_VARIABLE])


def _give(driver: ModuleType, name: str, **options: type) -> None:
    """Let a function of a driver always be called with these options."""
    setattr(driver, name, functools.partial(getattr(driver, name), **options))


if __name__ == "__main__":
    _trace()
    main()
