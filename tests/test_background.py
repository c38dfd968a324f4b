"""Services run again whatever fails in them, wait as they are told to, and end in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clarion.background import FAILING_AFTER, BackgroundService, ServiceName, Supervisor
from clarion.errors import StoreNewer, StoreUnavailable

NAME = ServiceName.LANES


def make_service(run_once: Callable[[], Awaitable[bool | None]], **fields: Any) -> BackgroundService:
    chosen: dict[str, Any] = {"name": NAME, "interval": 20.0} | fields
    return BackgroundService(run_once=run_once, **chosen)


def start(*services: BackgroundService, supervisor: Supervisor | None = None) -> "asyncio.Task[None]":
    return asyncio.create_task((supervisor or Supervisor(pause_seconds=0)).run(services))


async def stop(running: "asyncio.Task[None]") -> None:
    running.cancel()
    async with asyncio.timeout(20):
        await asyncio.wait([running])


@pytest.mark.parametrize("steps", range(6))
async def test_a_service_that_is_cancelled_while_a_wake_up_comes_ends(steps: int) -> None:
    wake_up, ends = asyncio.Event(), asyncio.Event()

    async def work() -> bool:
        if ends.is_set():
            raise AssertionError("it went on after it was cancelled")
        return False

    running = start(make_service(work, wake_up=wake_up))
    for _ in range(4):
        await asyncio.sleep(0)

    wake_up.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    ends.set()
    await asyncio.wait({running}, timeout=0.2)
    has_ended = running.done()
    running.cancel()

    assert has_ended


def list_records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What the supervisor logged: other tests of this process may leave tasks that log when they are collected."""
    return [record for record in caplog.records if record.name == "clarion.background"]


@pytest.mark.parametrize("error", [StoreUnavailable("out for a moment"), RuntimeError("a bug")])
async def test_a_service_goes_on_after_a_failure(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    outcomes: list[Exception | bool] = [error, True, error, True]
    is_over = asyncio.Event()

    async def work() -> bool:
        if not outcomes:
            is_over.set()
            return False
        outcome = outcomes.pop()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    supervisor = Supervisor(pause_seconds=0)
    running = start(make_service(work, interval=0.001), supervisor=supervisor)
    async with asyncio.timeout(20):
        await is_over.wait()
    await stop(running)

    is_bug = isinstance(error, RuntimeError)
    records = list_records(caplog)
    messages = [(one.levelname, one.getMessage(), one.service) for one in records]  # type: ignore[attr-defined]
    expected = ("ERROR", "Background work failed", NAME) if is_bug else ("WARNING", "Background work postponed", NAME)
    assert messages == [expected] * 2
    state = supervisor.states[NAME]
    assert (state.failures, state.restarts, state.is_failing) == (2 * is_bug, 2 * is_bug, False)


async def test_a_service_that_finds_nothing_runs_again_at_a_wake_up_and_after_its_interval() -> None:
    wake_up, runs, interval = asyncio.Event(), asyncio.Semaphore(0), [20.0]

    async def work() -> bool:
        runs.release()
        return False

    running = start(make_service(work, wake_up=wake_up, interval=lambda: interval[0]))
    async with asyncio.timeout(20):
        await runs.acquire()
        wake_up.set()
        await runs.acquire()
        assert not wake_up.is_set()
        interval[0] = 0.001
        wake_up.set()
        for _ in range(3):
            await runs.acquire()
    await stop(running)


async def test_a_service_that_finds_work_runs_again_at_once() -> None:
    runs: list[int] = []
    has_ended = asyncio.Event()

    async def work() -> bool:
        runs.append(len(runs))
        if len(runs) == 5:
            has_ended.set()
        return len(runs) < 5

    running = start(make_service(work, interval=None))
    async with asyncio.timeout(20):
        await has_ended.wait()
    await stop(running)

    assert len(runs) == 5


async def test_wake_ups_that_come_while_a_service_settles_cause_one_run() -> None:
    wake_up, runs, seen = asyncio.Event(), [0], asyncio.Event()

    async def work() -> None:
        runs[0] += 1
        if runs[0] > 1:
            seen.set()

    running = start(make_service(work, wake_up=wake_up, interval=None, settle_seconds=0.05))
    async with asyncio.timeout(20):
        while not seen.is_set():
            wake_up.set()
            await asyncio.sleep(0)
    await stop(running)

    assert runs == [2]


async def test_a_service_that_is_not_due_at_the_start_waits_first() -> None:
    wake_up, has_run = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        has_run.set()

    running = start(make_service(work, wake_up=wake_up, is_due_at_start=False))
    for _ in range(5):
        await asyncio.sleep(0)
    was_run = has_run.is_set()
    wake_up.set()
    async with asyncio.timeout(20):
        await has_run.wait()
    await stop(running)

    assert not was_run


async def test_a_service_that_keeps_failing_is_told_until_it_succeeds() -> None:
    failures, has_failed, may_succeed, has_succeeded = [0], asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        if may_succeed.is_set():
            has_succeeded.set()
            return
        failures[0] += 1
        if failures[0] > FAILING_AFTER:
            has_failed.set()
        raise RuntimeError("a bug")

    supervisor = Supervisor(pause_seconds=0)
    running = start(make_service(work, interval=None), supervisor=supervisor)
    async with asyncio.timeout(20):
        await has_failed.wait()
        failing = supervisor.list_failing()
        may_succeed.set()
        await has_succeeded.wait()
        await asyncio.sleep(0)
    await stop(running)

    assert failing == [NAME]
    assert supervisor.list_failing() == []


async def test_only_an_error_that_a_service_names_ends_the_others_and_is_raised() -> None:
    finished: list[str] = []

    async def fail() -> None:
        raise StoreNewer("migrated")

    async def idle() -> None:
        pass

    async def finish() -> None:
        finished.append("idle")

    other = make_service(idle, name=ServiceName.SENDS, finish=finish)
    with pytest.raises(StoreNewer):
        await asyncio.wait_for(start(make_service(fail, ends_process=(StoreNewer,)), other), 20)

    assert finished == ["idle"]


async def test_what_others_need_to_the_end_ends_after_they_have_finished() -> None:
    events: list[str] = []

    async def idle() -> None:
        pass

    async def finish_slowly() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        events.append("first")

    async def finish_last() -> None:
        events.append("last")

    last = make_service(idle, name=ServiceName.LEASES, finish=finish_last, ends_last=True)
    running = start(last, make_service(idle, finish=finish_slowly))
    await asyncio.sleep(0.01)
    await stop(running)

    assert events == ["first", "last"]


@pytest.mark.parametrize("error", [StoreUnavailable("out for a moment"), RuntimeError("a bug")])
async def test_a_service_that_cannot_finish_does_not_keep_others_from_finishing(
    caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    finished: list[str] = []

    async def idle() -> None:
        pass

    async def fail() -> None:
        raise error

    async def finish() -> None:
        finished.append("other")

    running = start(make_service(idle, finish=fail), make_service(idle, name=ServiceName.SENDS, finish=finish))
    await asyncio.sleep(0.01)
    await stop(running)

    assert running.cancelled()
    assert finished == ["other"]
    assert [one.getMessage() for one in list_records(caplog)] == ["Background work not finished"]
