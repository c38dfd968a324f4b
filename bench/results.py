"""Results of runs: one JSON file for each run."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import apsw
import asyncpg
import msgspec
import psutil
from msgspec.structs import replace

from bench.figures import Figure
from bench.processes import ROOT
from tests.servers import PostgresServer

FOLDER = ROOT / "bench" / "results"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of `make bench`."""

    date: str
    machine: dict[str, str]
    rounds: int
    seconds: float
    notes: list[str]
    figures: list[Figure]


def write_run(run: Run, folder: Path = FOLDER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run.date.replace(':', '')}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")
    return path


def read_run(path: Path) -> Run:
    return msgspec.json.decode(path.read_bytes(), type=Run)


def update_run(former: Run, run: Run) -> Run:
    """Replace the figures of an earlier run that were measured again; the others stay as they were."""
    # By system and name too: figures of one workload may come from several modules, such as the floors of a trigger.
    measured = {(one.workload, one.system, one.name) for one in run.figures}
    kept = [one for one in former.figures if (one.workload, one.system, one.name) not in measured]
    names = dict.fromkeys(one.workload for one in run.figures)
    took = run.machine.get("Time that other machines took", "an unknown share")
    note = f"Measured later than the rest, on {run.date} UTC (the rest on {former.date} UTC; {took} of the time was "
    note += "taken by other machines): "
    return replace(
        former, date=run.date, notes=[*former.notes, note + ", ".join(names) + "."], figures=[*kept, *run.figures]
    )


def find_latest(folder: Path = FOLDER) -> Path | None:
    """Return the newest result; file names begin with the date, so they sort by it."""
    return max(folder.glob("*.json"), default=None)


def now_text() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M")


async def describe_machine(server: PostgresServer) -> dict[str, str]:
    """Return what the figures depend on, and nothing that identifies the machine."""
    connection = await asyncpg.connect(server.url)
    try:
        postgres: str = await connection.fetchval("SHOW server_version")
    finally:
        await connection.close()
    return {
        "Processor": _processor(),
        "Cores": str(os.cpu_count()),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
        "System": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        "PostgreSQL": postgres.partition(" ")[0],
        "Load average at the start": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
