"""Running the plan: systems side by side, workloads in interleaved rounds."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.baseline import find_baseline, start_baseline
from bench.figures import Figure
from bench.plan import FULL_UNIT, WORKLOADS, Workload
from bench.results import Run, describe_machine, now_text
from bench.systems import Site, System, clarion_on_postgres, clarion_on_sqlite, http_floor, open_postgres
from bench.usage import holding

_console = Console(stderr=True)


async def run_rounds(rounds: int, only: Sequence[str]) -> Run:
    """Measure everything, or only the named workloads, and bring back what was found."""
    began, date = time.monotonic(), now_text()
    with TemporaryDirectory(prefix="clarion-bench-") as name, open_postgres(Path(name) / "postgres") as server:
        site = Site(Path(name), server)
        machine = await describe_machine(server)
        figures: list[Figure] = []
        chosen = [one for one in WORKLOADS if not only or one.name in only]
        notes: list[str] = []
        if chosen:
            async with _systems(site) as (systems, notes):
                figures += await _measure_in_rounds(systems, chosen, rounds)
        for alone in FULL_UNIT:
            if not only or alone.name in only:
                _tell(alone.name)
                figures += await alone.measure(site)
    return Run(
        date=date, machine=machine, rounds=rounds, seconds=time.monotonic() - began, notes=notes, figures=figures
    )


@asynccontextmanager
async def _systems(site: Site) -> AsyncIterator[tuple[list[System], list[str]]]:
    """All systems at once, so that a round meets each of them in the same minutes; and what could not be compared."""
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
            _tell(f"prepare {workload.name} on {system.kind}")
            await workload.prepare(system)
    figures = []
    for number in range(1, rounds + 1):
        for workload in chosen:
            if number > workload.most_rounds:
                continue
            for system in _of(workload, systems):
                _tell(f"round {number} of {rounds}: {workload.name} on {system.kind}")
                with holding(*(one.own_groups for one in systems if one is not system)):
                    figures += await workload.measure(system)
    return figures


def _of(workload: Workload, systems: Sequence[System]) -> list[System]:
    return [system for system in systems if system.kind in workload.systems]


def _tell(doing: str) -> None:
    _console.print(f"{datetime.now(UTC):%H:%M:%S}  {doing}", highlight=False)
