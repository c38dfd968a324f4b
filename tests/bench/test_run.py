"""What becomes of a run when a workload fails, takes too long, or misses its system."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bench.figures import Figure
from bench.plan import START, Budget, OwnWorkload, SharedWorkload, Step
from bench.run import Runner
from bench.systems import BASELINE, SQLITE, Site, System
from tests.servers import PostgresServer


async def measure_one(_: Site, kind: str) -> list[Figure]:
    return [Figure("good", kind, "cpu_ms", 1.0, "ms")]


async def fail(_: Site, __: str) -> list[Figure]:
    raise ValueError("the store is gone")


async def hang(_: Site, __: str) -> list[Figure]:
    await asyncio.Event().wait()
    return []


async def never_measured(_: System) -> list[Figure]:
    raise AssertionError


def make_own(name: str, measure: Callable[[Site, str], Awaitable[list[Figure]]]) -> OwnWorkload:
    return OwnWorkload(name=name, measure=measure, seconds=0.05)


WORKLOADS = (
    make_own("good", measure_one),
    make_own("bad", fail),
    make_own("endless", hang),
    SharedWorkload(name="compared", measure=never_measured, systems=(BASELINE,), rounds=1, seconds=1),
)


def make_step(workload: str, system: str = SQLITE, *, seconds: float = 0.05, number: int = 0) -> Step:
    return Step(workload=workload, system=system, seconds=seconds, round=number)


async def run_steps(folder: Path, *steps: Step, seconds: float = 60) -> Runner:
    site = Site(folder=folder, server=PostgresServer(url="", handle=None))
    async with Runner(site, Budget(steps, seconds, time.monotonic), WORKLOADS) as runner:
        for step in steps:
            await runner.perform(step)
    return runner


async def test_a_workload_that_fails_costs_no_figures_of_the_others(tmp_path: Path) -> None:
    runner = await run_steps(tmp_path, make_step("bad"), make_step("good"))

    assert [figure.workload for figure in runner.figures] == ["good"]
    assert [record.problem for record in runner.records.values()] == ["the store is gone", ""]


async def test_a_workload_that_takes_too_long_is_cut_and_the_next_one_measured(tmp_path: Path) -> None:
    runner = await run_steps(tmp_path, make_step("endless"), make_step("good", seconds=60), seconds=60.05)

    assert [figure.workload for figure in runner.figures] == ["good"]
    assert runner.records["endless", SQLITE].problem.startswith("cut after")


async def test_what_there_is_no_time_for_is_recorded(tmp_path: Path) -> None:
    runner = await run_steps(tmp_path, make_step("good"), seconds=0)

    assert runner.figures == []
    assert runner.records["good", SQLITE].problem == "no time was left"


async def test_workloads_on_a_system_that_did_not_start_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLARION_BENCH_BASELINE", str(tmp_path))
    steps = make_step(START, BASELINE), make_step("compared", BASELINE, number=1), make_step("good")

    runner = await run_steps(tmp_path, *steps)

    assert runner.records["compared", BASELINE].problem.startswith("no baseline was found")
    assert [figure.workload for figure in runner.figures] == ["good"]


async def test_a_workload_that_failed_is_not_tried_again_in_later_rounds(tmp_path: Path) -> None:
    tried: list[str] = []

    async def count(_: Site, kind: str) -> list[Figure]:
        tried.append(kind)
        raise RuntimeError("no")

    site = Site(folder=tmp_path, server=PostgresServer(url="", handle=None))
    steps = [make_step("counted"), make_step("counted")]
    async with Runner(site, Budget(steps, 60, time.monotonic), [make_own("counted", count)]) as runner:
        for step in steps:
            await runner.perform(step)

    assert tried == [SQLITE]
