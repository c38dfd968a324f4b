"""Start-up time of a process, and its memory when idle, under load and afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.figures import Figure
from bench.processes import memory
from bench.systems import Site, System, start_clarion
from bench.workloads import trigger

NAME = "lifetime"
_STARTS = 3
_COUNT = 6000
_SETTLE_SECONDS = 2
_SAMPLE_SECONDS = 0.1
_MEGABYTE = 1024 * 1024


async def measure(site: Site, kind: str) -> list[Figure]:
    """The first start creates the store and some data, so that the other starts find an existing store."""
    async with start_clarion(kind, site, NAME) as system:
        await asyncio.sleep(_SETTLE_SECONDS)
        figures = [
            Figure(NAME, system.kind, "first_start_seconds", system.start_seconds, "s"),
            Figure(NAME, system.kind, "first_idle_mb", _resident(system) / _MEGABYTE, "MB"),
        ]
        await trigger.prepare(system)
    for _ in range(_STARTS):
        async with start_clarion(kind, site, NAME) as system:
            figures.append(Figure(NAME, system.kind, "start_seconds", system.start_seconds, "s"))
    async with start_clarion(kind, site, NAME) as system:
        return figures + await _measure_memory(system)


async def _measure_memory(system: System) -> list[Figure]:
    await asyncio.sleep(_SETTLE_SECONDS)
    idle = _resident(system)
    async with _peak(system) as samples:
        await trigger.run_burst(system, system.scaled(_COUNT))
    await asyncio.sleep(_SETTLE_SECONDS)
    seen = {"idle": idle, "loaded": max(samples), "after": _resident(system)}
    return [Figure(NAME, system.kind, f"{name}_mb", value / _MEGABYTE, "MB") for name, value in seen.items()]


@asynccontextmanager
async def _peak(system: System) -> AsyncIterator[list[int]]:
    samples = [_resident(system)]

    async def sample() -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            samples.append(_resident(system))

    task = asyncio.create_task(sample())
    try:
        yield samples
    finally:
        task.cancel()


def _resident(system: System) -> int:
    """Return the resident memory of the largest Clarion process."""
    return max(one.resident for one in memory(system.own_groups).values())
