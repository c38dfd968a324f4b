"""Runs `clarion` with every SQL statement counted and timed in the database drivers.

    python -m bench.traced serve --data-dir …

When the process ends it writes a JSON object, SQL text to [calls, seconds], into the file that BENCH_TRACE_FILE names,
with its process id appended. SIGUSR1 resets the counts. The drivers are changed to count, so Clarion has no code for it
and a normal process has no overhead.
"""

import asyncio
import atexit
import functools
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import apsw
import asyncpg
from msgspec import Struct

from bench.systems import Site, System, start_clarion
from clarion.cli.commands import main

_MODULE = "bench.traced"
_FILE_VARIABLE = "BENCH_TRACE_FILE"

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


class TracedCursor:
    """Adds the time of fetching rows to the statement, because SQLite computes them then."""

    def __init__(self, text: str, cursor: apsw.Cursor) -> None:
        self._text = text
        self._cursor = cursor
        self.get_description = cursor.get_description
        self.close = cursor.close

    def fetchall(self) -> list[Any]:
        with _counting(self._text, calls=0):
            return self._cursor.fetchall()

    def fetchone(self) -> Any:
        with _counting(self._text, calls=0):
            return self._cursor.fetchone()


class TracedSqlite(apsw.Connection):
    def execute(self, statements: str, bindings: Any = None) -> Any:  # type: ignore[override]
        with _counting(statements):
            return TracedCursor(statements, super().execute(statements, bindings))

    def executemany(self, statements: str, sequenceofbindings: Any) -> Any:  # type: ignore[override]
        with _counting(statements):
            return super().executemany(statements, sequenceofbindings)


def _traced(name: str, prefix: str = "") -> Callable[..., Any]:
    original = getattr(asyncpg.Connection, name)

    @functools.wraps(original)
    async def call(self: Any, text: str, *arguments: Any, **options: Any) -> Any:
        with _counting(prefix + text):
            return await original(self, text, *arguments, **options)

    return call


def _write(file: str) -> None:
    merged: dict[str, list[float]] = {}
    for text, (calls, seconds) in list(_counted.items()):
        entry = merged.setdefault(_shortened(text), [0, 0.0])
        entry[0] += calls
        entry[1] += seconds
    Path(f"{file}.{os.getpid()}").write_text(json.dumps(merged))


def _shortened(text: str) -> str:
    """Return the SQL on one line, with every list shown as `IN (…)`."""
    return _LIST.sub("IN (…)", _SPACE.sub(" ", text).strip())


def _trace() -> None:
    apsw.Connection = TracedSqlite  # type: ignore[misc]
    # Of the base class, because Clarion has a connection of its own. Times include waiting for the server and the loop.
    for name in ("execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany"):
        setattr(asyncpg.Connection, name, _traced(name))
    asyncpg.Connection.copy_records_to_table = _traced("copy_records_to_table", "COPY ")
    signal.signal(signal.SIGUSR1, lambda *_: _counted.clear())
    atexit.register(_write, os.environ[_FILE_VARIABLE])


class Statement(Struct, frozen=True):
    text: str
    calls: int
    seconds: float


@asynccontextmanager
async def traced_system(kind: str, site: Site) -> AsyncIterator[System]:
    """Run Clarion with its statements counted, on its own store. Read the counts after it has stopped."""
    environ = {_FILE_VARIABLE: str(site.folder / f"traced-{kind}" / "statements")}
    async with start_clarion(kind, site, "traced", environ=environ, module=_MODULE) as system:
        yield system


async def reset_statements(system: System) -> None:
    """Discard the counts so far."""
    for pids in system.own_groups.values():
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
    await asyncio.sleep(1)


def read_statements(folder: Path) -> list[Statement]:
    """Return the statements of all processes of a traced system, the most expensive first."""
    merged: dict[str, list[float]] = {}
    for path in folder.glob("statements.*"):
        for text, (calls, seconds) in json.loads(path.read_text()).items():
            entry = merged.setdefault(text, [0, 0.0])
            entry[0] += calls
            entry[1] += seconds
    found = [Statement(text, int(calls), seconds) for text, (calls, seconds) in merged.items()]
    return sorted(found, key=lambda one: one.seconds, reverse=True)


if __name__ == "__main__":
    _trace()
    main()
