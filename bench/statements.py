"""SQL statements of a workload with their counts and times."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from msgspec import Struct

from bench.systems import SQLITE, Site, System, clarion_on_postgres, clarion_on_sqlite
from bench.traced import FILE_VARIABLE

_MODULE = "bench.traced"


class Statement(Struct, frozen=True):
    text: str
    calls: int
    seconds: float


@asynccontextmanager
async def traced_system(kind: str, site: Site) -> AsyncIterator[System]:
    """Run Clarion with its statements counted, on its own store. Read the counts after it has stopped."""
    folder = site.folder / f"traced-{kind}"
    folder.mkdir(parents=True, exist_ok=True)
    environ = {FILE_VARIABLE: str(folder / "statements")}
    started: AbstractAsyncContextManager[System]
    if kind == SQLITE:
        started = clarion_on_sqlite(folder, environ=environ, module=_MODULE)
    else:
        started = clarion_on_postgres(folder, site.server, database="traced", environ=environ, module=_MODULE)
    async with started as system:
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
