"""What is measured during a soak: memory, the size of the store, and how long triggers take."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import asyncpg
from msgspec import Struct

from clarion.db.port import Database
from clarion.db.query import sql
from tests.processes import Process

_COUNTS = {name: sql(f"SELECT count(*) AS n FROM {name}") for name in ("triggers", "notifications", "jobs", "messages")}


class Sample(Struct, frozen=True, kw_only=True):
    at_seconds: float
    memory_mb: float
    """Of all processes."""
    store_mb: float
    rows: dict[str, int]
    triggers: int
    p50_ms: float
    p99_ms: float


async def measure_store(database: Database, data_dir: Path, url: str | None) -> tuple[float, dict[str, int]]:
    """The size of the store in MB, and the numbers of rows of its largest tables."""
    if url is None:
        size = await asyncio.to_thread(_measure_files, data_dir)
    else:
        connection = await asyncpg.connect(url)
        size = await connection.fetchval("SELECT pg_database_size(current_database())")
        await connection.close()
    rows = {}
    for name, query in _COUNTS.items():
        row = await database.scan(lambda db, query=query: db.fetch_one(query))  # type: ignore[misc]
        rows[name] = 0 if row is None else int(row["n"])
    return size / 1e6, rows


def _measure_files(data_dir: Path) -> int:
    return sum(one.stat().st_size for one in data_dir.glob("clarion.db*"))


def measure_memory(processes: Sequence[Process]) -> float:
    """The resident memory of the processes in MB."""
    total = 0
    for one in processes:
        status = Path(f"/proc/{one.popen.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
        total += int(line.split()[1])
    return total / 1000


def find_growth(samples: Sequence[Sample], value: Callable[[Sample], float], *, factor: float, slack: float) -> str:
    """Compare the last third with the one before; empty if it is no larger than that times the factor, plus slack."""
    third = len(samples) // 3
    before = max(map(value, samples[third : 2 * third]))
    after = max(map(value, samples[2 * third :]))
    return "" if after <= before * factor + slack else f"grew from {before:.0f} to {after:.0f}"


def render(samples: Sequence[Sample]) -> str:
    head = "seconds  memory MB  store MB  triggers  p50 ms  p99 ms  rows"
    lines = [
        f"{one.at_seconds:7.0f}  {one.memory_mb:9.0f}  {one.store_mb:8.1f}  {one.triggers:8}  {one.p50_ms:6.1f}  "
        f"{one.p99_ms:6.1f}  {one.rows}"
        for one in samples
    ]
    return "\n".join([head, *lines])
