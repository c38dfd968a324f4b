"""The loop of a worker goes on whatever fails, and ends when it is told to, with the tasks beside it."""

import asyncio
from collections.abc import Callable

import pytest

from clarion.engine.loop import repeat
from clarion.engine.tasks import Tasks
from clarion.errors import StoreUnavailable


@pytest.mark.parametrize("steps", range(6))
async def test_a_loop_that_is_cancelled_while_a_hint_comes_ends(steps: int) -> None:
    hint, ends = asyncio.Event(), asyncio.Event()

    async def work() -> bool:
        if ends.is_set():
            raise AssertionError("it went on after it was cancelled")
        return False

    loop = asyncio.create_task(repeat(work, hint))
    for _ in range(4):
        await asyncio.sleep(0)

    hint.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    loop.cancel()
    ends.set()
    await asyncio.wait({loop}, timeout=0.2)
    has_ended = loop.done()
    loop.cancel()

    assert has_ended


@pytest.mark.parametrize("error", [StoreUnavailable("out for a moment"), RuntimeError("a bug")])
async def test_a_loop_goes_on_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, logged_errors: Callable[[], list[str]], error: Exception
) -> None:
    monkeypatch.setattr("clarion.engine.loop.PAUSE_SECONDS", 0)
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

    loop = asyncio.create_task(repeat(work, asyncio.Event()))
    async with asyncio.timeout(20):
        await is_over.wait()
    loop.cancel()

    assert logged_errors() == ["Work failed"] * (2 * isinstance(error, RuntimeError))


async def test_a_loop_that_finds_nothing_looks_again_at_a_hint_and_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hint, looks = asyncio.Event(), asyncio.Semaphore(0)

    async def work() -> bool:
        looks.release()
        return False

    loop = asyncio.create_task(repeat(work, hint))
    async with asyncio.timeout(20):
        await looks.acquire()
        hint.set()
        await looks.acquire()
        assert not hint.is_set()
        monkeypatch.setattr("clarion.engine.loop._IDLE_SECONDS", 0.001)
        hint.set()
        for _ in range(3):
            await looks.acquire()
    loop.cancel()


async def test_a_loop_that_finds_work_looks_again_at_once() -> None:
    looks: list[int] = []

    async def work() -> bool:
        looks.append(len(looks))
        if len(looks) == 5:
            raise asyncio.CancelledError
        return True

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(repeat(work, asyncio.Event()), 20)

    assert len(looks) == 5


async def test_all_claims_are_made_although_one_fails_and_the_failure_is_raised() -> None:
    made: list[int] = []

    async def claim(number: int, *, finds: bool = False, fails: bool = False) -> bool:
        await asyncio.sleep(0)
        made.append(number)
        if fails:
            raise StoreUnavailable("out for a moment")
        return finds

    tasks = Tasks()
    assert await tasks.claim([]) is False
    assert await tasks.claim([claim(1), claim(2)]) is False
    assert await tasks.claim([claim(3), claim(4, finds=True)]) is True
    with pytest.raises(StoreUnavailable):
        await tasks.claim([claim(5, fails=True), claim(6, finds=True)])
    assert made == [1, 2, 3, 4, 5, 6]


async def test_waiting_for_tasks_ends_with_the_limit_of_time_and_finishing_with_the_tasks() -> None:
    tasks, may_end = Tasks(), asyncio.Event()
    ended: list[str] = []

    async def start_another() -> None:
        await may_end.wait()
        tasks.start(end())

    async def end() -> None:
        await asyncio.sleep(0)
        ended.append("second")

    await tasks.wait(None)
    tasks.start(start_another())
    await tasks.wait(0.001)
    assert ended == []

    may_end.set()
    await tasks.finish()
    assert ended == ["second"]
