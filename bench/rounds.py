"""Runs the workloads: all systems are started, and measured in interleaved rounds."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from rich.console import Console

from bench.baseline import find_baseline, start_baseline
from bench.figures import Figure
from bench.plan import STANDALONE_WORKLOADS, WORKLOADS, Workload
from bench.quotas import QuotaUnavailable
from bench.results import Run, describe_machine, now_text
from bench.systems import Site, System, clarion_on_postgres, clarion_on_sqlite, http_floor, open_postgres
from bench.usage import suspended

_console = Console(stderr=True)


async def run_rounds(rounds: int, only: Sequence[str], *, people: int) -> Run:
    """Measure all workloads, or only the named ones; the largest broadcast is for `people`."""
    began, date, used_before = time.monotonic(), now_text(), psutil.cpu_times()
    with TemporaryDirectory(prefix="clarion-bench-") as name, open_postgres(Path(name) / "postgres") as server:
        site = Site(Path(name), server, people)
        machine = await describe_machine(server)
        figures: list[Figure] = []
        chosen = [one for one in WORKLOADS if not only or one.name in only]
        notes: list[str] = []
        if chosen:
            async with _systems(site) as (systems, notes):
                figures += await _measure_in_rounds(systems, chosen, rounds)
        for workload in STANDALONE_WORKLOADS:
            if not only or workload.name in only:
                _log(workload.name)
                try:
                    figures += await workload.measure(site)
                except QuotaUnavailable as error:
                    notes.append(f"The workload {workload.name} was skipped: {error}.")
                except RuntimeError as error:
                    # Its goals are reported as not measured; an hour of other figures is not lost with it.
                    notes.append(f"The workload {workload.name} failed: {error}.")
    machine["Time that other machines took"] = f"{_stolen_share(used_before, psutil.cpu_times()):.0%}"
    return Run(
        date=date, machine=machine, rounds=rounds, seconds=time.monotonic() - began, notes=notes, figures=figures
    )


def _stolen_share(before: Any, after: Any) -> float:
    """The share of the time in which this machine had work that its host gave to others; 0 where nobody counts it."""
    spent = {name: value - getattr(before, name) for name, value in after._asdict().items()}
    stolen = spent.get("steal", 0.0)
    busy = spent["user"] + spent["system"] + stolen
    return stolen / busy if busy else 0.0


@asynccontextmanager
async def _systems(site: Site) -> AsyncIterator[tuple[list[System], list[str]]]:
    """Start all systems, so that a round measures each at nearly the same time; also yield notes on missing ones."""
    async with AsyncExitStack() as started:
        systems = [
            await started.enter_async_context(clarion_on_sqlite(site.folder / "sqlite")),
            await started.enter_async_context(clarion_on_postgres(site.folder / "clarion", site.server)),
            await started.enter_async_context(http_floor(site.folder / "floor")),
        ]
        source, reason = find_baseline()
        if source is not None:
            baseline = start_baseline(source, site.folder / "baseline", site.server)
            systems.append(await started.enter_async_context(baseline))
        yield systems, [f"No comparison with the baseline: {reason}."] if reason else []


async def _measure_in_rounds(systems: Sequence[System], chosen: Sequence[Workload], rounds: int) -> list[Figure]:
    first = WORKLOADS[0]
    for workload in (first, *(one for one in chosen if one is not first)):
        for system in _of(workload, systems):
            _log(f"prepare {workload.name} on {system.kind}")
            await workload.prepare(system)
    figures = []
    for number in range(1, rounds + 1):
        for workload in chosen:
            if number > workload.max_rounds:
                continue
            for system in _of(workload, systems):
                _log(f"round {number} of {rounds}: {workload.name} on {system.kind}")
                with suspended(*(one.own_groups for one in systems if one is not system)):
                    figures += await workload.measure(system)
    return figures


def _of(workload: Workload, systems: Sequence[System]) -> list[System]:
    return [system for system in systems if system.kind in workload.systems]


def _log(action: str) -> None:
    _console.print(f"{datetime.now(UTC):%H:%M:%S}  {action}", highlight=False)
