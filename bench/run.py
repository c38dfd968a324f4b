"""Runs the plan: each step within its time, and none of them at the cost of the others."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import Any, Self

import psutil
from rich.console import Console

from bench.baseline import start_baseline
from bench.figures import Figure
from bench.plan import START, WORKLOADS, Budget, OwnWorkload, SharedWorkload, Step
from bench.processes import suspended
from bench.results import Record, Run, describe_commit, describe_machine, now_text
from bench.stores import open_store
from bench.systems import BASELINE, FLOOR_HTTP, Site, System, start_clarion, start_http_floor

_QUIET_SECONDS = 2
_SETTLE_SECONDS = 60

_console = Console(stderr=True)


async def run_plan(site: Site, steps: Sequence[Step], *, limit_seconds: float) -> Run:
    """Measure everything that the limit leaves time for; whatever fails is recorded, and the others go on."""
    began, date, used_before = time.monotonic(), now_text(), psutil.cpu_times()
    commit, machine = describe_commit(), await describe_machine(site.server)
    async with Runner(site, Budget(steps, limit_seconds, time.monotonic), WORKLOADS) as runner:
        for step in steps:
            await runner.perform(step)
    machine["Time that other machines took"] = f"{_stolen_share(used_before, psutil.cpu_times()):.0%}"
    return Run(
        commit=commit,
        date=date,
        machine=machine,
        scale=site.scale,
        seconds=time.monotonic() - began,
        records=list(runner.records.values()),
        figures=runner.figures,
    )


class Runner:
    """Performs steps on the shared systems, and on those that workloads start themselves."""

    def __init__(self, site: Site, budget: Budget, workloads: Sequence[SharedWorkload | OwnWorkload]) -> None:
        self.figures: list[Figure] = []
        self.records: dict[tuple[str, str], Record] = {}
        self._site = site
        self._budget = budget
        self._workloads = {workload.name: workload for workload in workloads}
        self._systems: dict[str, System] = {}
        self._shared = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop_shared()

    async def perform(self, step: Step) -> None:
        """Do a step within its time, and record what became of it."""
        seconds = self._budget.begin(step)
        record = self.records.setdefault(
            (step.workload, step.system), Record(workload=step.workload, system=step.system)
        )
        record.planned_seconds += step.seconds
        start = self.records.get((START, step.system))
        if start is not None and self._is_shared(step):
            record.problem = record.problem or start.problem
        if record.problem:
            return
        if seconds <= 0:
            record.problem = "no time was left"
            return
        _log(f"{_describe(step)} (at most {seconds:.0f} s)")
        began = time.monotonic()
        record.problem = await self._try(step, seconds)
        record.seconds += time.monotonic() - began

    async def _try(self, step: Step, seconds: float) -> str:
        """Do a step, and return why it failed; nothing if it did not."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self.figures += await self._do(step)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other workloads go on
            reason = f"cut after {seconds:.0f} s" if limit.expired() else str(error) or type(error).__name__
            _log(f"{_describe(step)}: {reason}")
            if step.system in self._systems:
                await _settle(self._systems[step.system])
            return f"{reason} (in round {step.round})" if step.round else reason
        return ""

    async def _do(self, step: Step) -> list[Figure]:
        if step.workload == START:
            self._systems[step.system] = await self._shared.enter_async_context(_start(step.system, self._site))
            return []
        workload = self._workloads[step.workload]
        if isinstance(workload, OwnWorkload):
            await self._stop_shared()
            return await workload.measure(self._site, step.system)
        system = self._systems[step.system]
        if not step.round:
            await workload.prepare(system)
            return []
        with suspended(*(other.own_groups for other in self._systems.values() if other is not system)):
            return await workload.measure(system)

    def _is_shared(self, step: Step) -> bool:
        return not isinstance(self._workloads.get(step.workload), OwnWorkload)

    async def _stop_shared(self) -> None:
        self._systems.clear()
        with suppress(Exception):  # A system that cannot be stopped properly must not cost the figures.
            await self._shared.aclose()


def _start(kind: str, site: Site) -> AbstractAsyncContextManager[System]:
    if kind == BASELINE:
        return start_baseline(site)
    return start_http_floor(site, "shared") if kind == FLOOR_HTTP else start_clarion(kind, site, "shared")


async def _settle(system: System) -> None:
    """Wait until no message has come for a while: the next workload must not find those of one that failed."""
    with suppress(Exception):
        async with asyncio.timeout(_SETTLE_SECONDS), open_store(system) as store:
            quiet_since = time.monotonic()
            while time.monotonic() - quiet_since < _QUIET_SECONDS:
                await asyncio.sleep(0.2)
                if await store.read_new():
                    quiet_since = time.monotonic()


def _stolen_share(before: Any, after: Any) -> float:
    """The share of the time in which this machine had work that its host gave to others; 0 where nobody counts it."""
    spent = {name: value - getattr(before, name) for name, value in after._asdict().items()}
    stolen = spent.get("steal", 0.0)
    busy = spent["user"] + spent["system"] + stolen
    return stolen / busy if busy else 0.0


def _describe(step: Step) -> str:
    if step.workload == START:
        return f"start {step.system}"
    return f"{step.workload} on {step.system}" + (f", round {step.round}" if step.round else "")


def _log(action: str) -> None:
    _console.print(f"{datetime.now(UTC):%H:%M:%S}  {action}", highlight=False, markup=False, soft_wrap=True)
