"""The results of a run: one file, which the next complete run replaces."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw
import asyncpg
import msgspec
import psutil

from bench.figures import Figure
from bench.processes import ROOT
from tests.servers import PostgresServer

FILE = ROOT / "bench" / "results.jsonl"


class Record(msgspec.Struct, kw_only=True):
    """What became of a workload on one system."""

    workload: str
    system: str
    planned_seconds: float = 0.0
    seconds: float = 0.0
    problem: str = ""
    """Why it was not measured, or not in all rounds; empty if it was."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of `make bench`."""

    commit: str
    date: str
    machine: dict[str, str]
    scale: float
    seconds: float
    records: list[Record]
    figures: list[Figure]


class PartialRunError(Exception):
    """A run did not have all workloads, or had small counts; the text says which."""


def write_run(run: Run, path: Path = FILE) -> None:
    """Write a line about the run and a line for each figure, so that the changes of a run can be read."""
    facts = {name: value for name, value in msgspec.to_builtins(run).items() if name != "figures"}
    lines = [facts, *msgspec.to_builtins(run.figures)]
    # Not by msgspec: a figure may be infinite.
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read_run(path: Path = FILE) -> Run:
    facts, *figures = map(json.loads, path.read_text().splitlines())
    return msgspec.convert({**facts, "figures": figures}, Run)


def require_complete(run: Run, workloads: Sequence[str]) -> None:
    """Raise unless a run tried all workloads in full size; one that failed or was cut in such a run counts as tried."""
    if run.scale != 1:
        raise PartialRunError("it only tried the workloads with small counts")
    missing = set(workloads) - {record.workload for record in run.records}
    if missing:
        raise PartialRunError(f"it did not have {', '.join(sorted(missing))}")


def now_text() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M")


def describe_commit() -> str:
    """Return the commit of the code, with a mark if files were changed since."""
    described = _git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{described}, with changes" if _git("status", "--porcelain", "--untracked-files=no") else described


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


def _git(*arguments: str) -> str:
    """Return what git prints; nothing if there is no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
