"""Activity in a browser: a live tail under load, how soon the page answers, and small and large stores.

`python -m bench dashboard` takes about three minutes; with `--sizes` twenty more, to fill a store.
"""

import asyncio
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from bench.browser import Window, open_window, renderer_seconds
from bench.filling import SMALL, Size, size_of
from bench.interactions import Samples, describe, interact, prepare_mail
from bench.systems import Site, System, open_site, start_clarion
from bench.workloads import pages, trigger
from bench.workloads.stream import load_api

_PAIRS = 3
_LOADS = 10
_LOAD_SECONDS = 10
_MANY_RUNS = 10_000_000
_FULL_RANGE = "/activity?after=2025-01-01T00:00:00.000Z&before={end}"


class DashboardFigure(Struct, frozen=True):
    name: str
    text: str


async def measure_dashboard(kind: str, seconds: int, *, sizes: bool) -> list[DashboardFigure]:
    """Measure a live tail for so many seconds, and with `sizes` also a small and a large store."""
    with open_site(messages=_MANY_RUNS) as site:
        figures = []
        if seconds:
            async with start_clarion(kind, site, "tail") as system:
                await trigger.prepare(system)
                figures = await _measure_tail(system, seconds)
        return figures + (await _measure_sizes(site, kind) if sizes else [])


async def _measure_tail(system: System, seconds: int) -> list[DashboardFigure]:
    without, listening, browser = [], [], []
    async with open_window(system) as window:
        await load_api(system, 3)
        for _ in range(_PAIRS):
            await window.page.goto("about:blank")
            without.append(await load_api(system, seconds))
            await window.open("/activity")
            await window.page.get_by_text("Live", exact=True).wait_for()
            await window.take_measured()
            drawn = renderer_seconds()
            listening.append(await load_api(system, seconds))
            browser.append(renderer_seconds() - drawn)
        tail = await window.take_measured()
        mail_run = await prepare_mail(system)
        quiet = await interact(window, mail_run)
        loaded = await _interact_under_load(system, window, mail_run)
    cost = statistics.mean(listening) - statistics.mean(without)
    return [
        DashboardFigure("API without a listener", f"{_percent(without, seconds)} of a core"),
        DashboardFigure("API with a live tail", f"{_percent(listening, seconds)} of a core"),
        DashboardFigure("cost of the tail", f"{100 * cost / seconds:.1f} % of a core"),
        DashboardFigure("ratio", f"{statistics.mean(listening) / statistics.mean(without):.3f}"),
        DashboardFigure("page, CPU", f"{_percent(browser, seconds)} of a core"),
        DashboardFigure(f"tasks over 50 ms in the last {seconds} s", f"{len(tail.tasks)}{_longest(tail.tasks)}"),
        *(DashboardFigure(*one) for one in describe(quiet, "quiet")),
        *(DashboardFigure(*one) for one in describe(loaded, "under load")),
    ]


async def _interact_under_load(system: System, window: Window, mail_run: str) -> Samples:
    """Interact while triggers come; there is a little load after the end, and none before it is needed."""
    interacting = asyncio.create_task(interact(window, mail_run))
    try:
        while not interacting.done():
            await load_api(system, _LOAD_SECONDS)
        return await interacting
    finally:
        interacting.cancel()


async def _measure_sizes(site: Site, kind: str) -> list[DashboardFigure]:
    """Open Activity on the small and the large store in turn, with the counts of their whole time."""
    sizes = (SMALL, size_of(site))
    milliseconds: list[list[float]] = [[], []]
    async with AsyncExitStack() as started:
        systems = await started.enter_async_context(pages.open_stores(site, kind))
        windows = [await started.enter_async_context(open_window(system)) for system in systems]
        for number in range(_LOADS + 1):
            for which, (window, size) in enumerate(zip(windows, sizes, strict=True)):
                took = await window.open(_FULL_RANGE.format(end=_end_of(size)))
                if number:
                    milliseconds[which].append(took)
    small, large = map(statistics.median, milliseconds)
    return [
        DashboardFigure(f"Activity with {sizes[0].messages} runs, until the first row", f"{small:.0f} ms"),
        DashboardFigure(f"Activity with {sizes[1].messages} runs, until the first row", f"{large:.0f} ms"),
        DashboardFigure("ratio", f"{large / small:.2f}"),
    ]


def _end_of(size: Size) -> str:
    """When the last run began: one begins each second."""
    return (datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=size.messages)).isoformat().replace("+00:00", "Z")


def _percent(used: Sequence[float], seconds: int) -> str:
    return ", ".join(f"{100 * one / seconds:.1f} %" for one in used)


def _longest(tasks: Sequence[float]) -> str:
    return f", the longest {max(tasks):.0f} ms, together {sum(tasks):.0f} ms" if tasks else ""
