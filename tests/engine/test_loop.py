"""The loop of a worker ends when it is told to, whatever happens at that moment."""

import asyncio

import pytest

from clarion.engine.loop import repeat


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
