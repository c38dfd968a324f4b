"""Concurrent items are processed in batches, and each gets its own outcome."""

import asyncio

import pytest

from clarion.batching import MAX_BATCH, Batch, Batcher


class Work:
    """Records its batches; fails for certain items."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.has_begun = asyncio.Event()
        self.may_begin = asyncio.Event()
        self.may_begin.set()

    async def __call__(self, batch: Batch[str]) -> list[str | Exception]:
        await self.may_begin.wait()
        items = batch.take()
        self.batches.append(list(items))
        self.has_begun.set()
        await asyncio.sleep(0)
        if "all" in items:
            raise RuntimeError("everyone")
        return [ValueError(item) if item == "bad" else item.upper() for item in items]


def make_batcher(work: Work) -> Batcher[str]:
    return Batcher(work, identity=lambda item: item if item.startswith("key") else None)


async def test_concurrent_items_share_a_batch_and_get_their_results_in_order() -> None:
    work = Work()
    batcher = make_batcher(work)

    answers = await asyncio.gather(*(batcher.submit(item) for item in "abc"))

    assert answers == ["A", "B", "C"]
    assert work.batches == [["a", "b", "c"]]


async def test_items_that_arrive_while_a_batch_runs_form_the_next_one() -> None:
    work = Work()
    batcher = make_batcher(work)
    first = asyncio.create_task(batcher.submit("a"))
    await work.has_begun.wait()

    await asyncio.gather(batcher.submit("b"), batcher.submit("c"), first)

    assert work.batches == [["a"], ["b", "c"]]


async def test_items_that_arrive_before_the_batch_is_taken_are_in_it() -> None:
    work = Work()
    work.may_begin.clear()
    batcher = make_batcher(work)
    first = asyncio.create_task(batcher.submit("a"))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(batcher.submit("b"))
    await asyncio.sleep(0)
    work.may_begin.set()

    assert list(await asyncio.gather(first, second)) == ["A", "B"]
    assert work.batches == [["a", "b"]]


async def test_a_batch_is_filled_once() -> None:
    async def work_twice(batch: Batch[str]) -> list[str]:
        first = batch.take()
        await asyncio.sleep(0)
        assert batch.take() == first
        return list(first)

    batcher = Batcher(work_twice, identity=lambda _: None)
    first = asyncio.create_task(batcher.submit("a"))
    await asyncio.sleep(0)

    assert await batcher.submit("b") == "b"
    assert await first == "a"


async def test_a_failure_before_the_batch_is_taken_fails_all_waiting_items() -> None:
    async def refuse(_group: Batch[str]) -> list[str]:
        raise RuntimeError("no store")

    batcher = Batcher(refuse, identity=lambda _: None)

    answers = await asyncio.gather(batcher.submit("a"), batcher.submit("b"), return_exceptions=True)
    assert [type(one) for one in answers] == [RuntimeError, RuntimeError]


async def test_the_error_of_one_item_is_raised_for_that_item_only() -> None:
    batcher = make_batcher(Work())

    answers = await asyncio.gather(*(batcher.submit(item) for item in ("a", "bad", "c")), return_exceptions=True)

    assert [type(one) for one in answers] == [str, ValueError, str]


async def test_a_failed_batch_fails_all_its_items_and_the_next_one_runs() -> None:
    batcher = make_batcher(Work())

    answers = await asyncio.gather(batcher.submit("a"), batcher.submit("all"), return_exceptions=True)

    assert [type(one) for one in answers] == [RuntimeError, RuntimeError]
    assert await batcher.submit("b") == "B"


async def test_items_with_the_same_identity_are_in_different_batches() -> None:
    work = Work()
    batcher = make_batcher(work)

    await asyncio.gather(*(batcher.submit(item) for item in ("key1", "key1", "key2", "a", "a")))

    assert work.batches == [["key1", "key2", "a", "a"], ["key1"]]


async def test_a_batch_has_a_limit() -> None:
    work = Work()
    batcher = make_batcher(work)

    await asyncio.gather(*(batcher.submit("a") for _ in range(MAX_BATCH + 1)))

    assert [len(batch) for batch in work.batches] == [MAX_BATCH, 1]


async def test_a_cancelled_caller_does_not_affect_the_others() -> None:
    batcher = make_batcher(Work())
    impatient = asyncio.create_task(batcher.submit("a"))
    await asyncio.sleep(0)
    impatient.cancel()

    assert await batcher.submit("b") == "B"
    with pytest.raises(asyncio.CancelledError):
        await impatient
