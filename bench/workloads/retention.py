"""What triggers notice of the deletion of old runs: their latency at 1000 a second, without it and during it."""

import asyncio
import time
from collections.abc import Sequence

from bench.client import send_open
from bench.figures import Figure, percentile
from bench.filling import ensure_filled, size_of
from bench.stores import Store, open_store, wait_for_messages
from bench.systems import Site, System, start_clarion
from bench.workloads import pages, trigger
from clarion.settings.retention import DEFAULT_DAYS

NAME = "retention"
RATE = 1000.0

_SECONDS = 20
_WARM_UP_SECONDS = 3
_ROUNDS = 2
_PAUSE_SECONDS = 0.01
_START_SECONDS = 120
_DEFAULTS = {"CLARION_RETENTION": ",".join(f"{kind}={days}" for kind, days in DEFAULT_DAYS.items())}


def figure_name(situation: str, part: str) -> str:
    return f"{situation} {part}_ms"


async def measure(site: Site, kind: str) -> list[Figure]:
    """Delete from the store whose lists were measured; figures of lists come from before the deletion."""
    await ensure_filled(kind, site, pages.STORE, size_of(site))
    async with start_clarion(kind, site, pages.STORE) as system:
        await trigger.prepare(system)
    return [figure for _ in range(_ROUNDS) for figure in await _measure_round(kind, site)]


async def _measure_round(kind: str, site: Site) -> list[Figure]:
    """Both situations one after the other, because the load of the machine changes."""
    seconds = site.scaled(_SECONDS)
    async with start_clarion(kind, site, pages.STORE) as system:
        await _load(system, _WARM_UP_SECONDS)
        alone = await _load(system, seconds)
    async with start_clarion(kind, site, pages.STORE, environ=_DEFAULTS) as system, open_store(system) as store:
        await _load(system, _WARM_UP_SECONDS)
        await _wait_for_deletion(store)
        before, began = await _count_deleted(store), time.monotonic()
        deleting = await _load(system, seconds)
        deleted, took = await _count_deleted(store) - before, time.monotonic() - began
        if before + deleted >= size_of(site).messages:
            raise RuntimeError("the deletion ended before the load; there must be more old runs")
    return [*_figures(kind, alone, deleting), Figure(NAME, kind, "deleted_per_second", deleted / took, "1/s")]


async def _load(system: System, seconds: int) -> tuple[list[float], list[float]]:
    """Trigger at the rate; returns how long each took to be accepted, and until its message was in the store."""
    triggers = trigger.make_triggers(system, int(RATE * seconds))
    async with open_store(system) as store:
        load, arrivals = await asyncio.gather(
            send_open(system.address, triggers.requests, rate=RATE),
            wait_for_messages(store, len(triggers.requests), pause=_PAUSE_SECONDS),
        )
    load.require(201)
    arrived = [one.at - load.sent[trigger.read_number(one.content) - triggers.first] for one in arrivals]
    return load.seconds, arrived


async def _wait_for_deletion(store: Store) -> None:
    ends_at, before = time.monotonic() + _START_SECONDS, await _count_deleted(store)
    while await _count_deleted(store) == before:
        if time.monotonic() > ends_at:
            raise RuntimeError("nothing is deleted")
        await asyncio.sleep(0.5)


async def _count_deleted(store: Store) -> int:
    rows = await store.sample_rows("retention_progress", 1000)
    return sum(row["deleted"] for row in rows if row["walk"] == "runs")


def _figures(
    kind: str, alone: tuple[Sequence[float], Sequence[float]], deleting: tuple[Sequence[float], Sequence[float]]
) -> list[Figure]:
    return [
        Figure(NAME, kind, figure_name(situation, f"{what} {part}"), percentile(seconds, share) * 1000, "ms")
        for situation, measured in (("alone", alone), ("deleting", deleting))
        for what, seconds in zip(("accepted", "arrived"), measured, strict=True)
        for part, share in (("p50", 0.5), ("p99", 0.99))
    ]
