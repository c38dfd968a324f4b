"""Tasks beside a loop are started together, and are finished before it ends."""

import asyncio

import pytest

from clarion.engine.tasks import Tasks
from clarion.errors import StoreUnavailable


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
