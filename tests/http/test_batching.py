"""Requests of one moment are worked on together, and none answers for another."""

import asyncio

import pytest

from clarion.http.batching import MAX_BATCH, Batch, Batcher


class Work:
    """Remembers its groups; fails for those who ask for it."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.has_begun = asyncio.Event()
        self.may_begin = asyncio.Event()
        self.may_begin.set()

    async def __call__(self, group: Batch[str]) -> list[str | Exception]:
        await self.may_begin.wait()
        items = group.take()
        self.groups.append(list(items))
        self.has_begun.set()
        await asyncio.sleep(0)
        if "all" in items:
            raise RuntimeError("everyone")
        return [ValueError(item) if item == "bad" else item.upper() for item in items]


def make_gathering(work: Work) -> Batcher[str]:
    return Batcher(work, identity=lambda item: item if item.startswith("key") else None)


async def test_what_comes_together_is_worked_on_together_and_answered_in_order() -> None:
    work = Work()
    gathering = make_gathering(work)

    answers = await asyncio.gather(*(gathering.submit(item) for item in "abc"))

    assert answers == ["A", "B", "C"]
    assert work.groups == [["a", "b", "c"]]


async def test_what_comes_while_a_group_is_under_way_is_the_next_group() -> None:
    work = Work()
    gathering = make_gathering(work)
    first = asyncio.create_task(gathering.submit("a"))
    await work.has_begun.wait()

    await asyncio.gather(gathering.submit("b"), gathering.submit("c"), first)

    assert work.groups == [["a"], ["b", "c"]]


async def test_what_comes_before_the_work_begins_takes_part_in_it() -> None:
    work = Work()
    work.may_begin.clear()
    gathering = make_gathering(work)
    first = asyncio.create_task(gathering.submit("a"))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(gathering.submit("b"))
    await asyncio.sleep(0)
    work.may_begin.set()

    assert list(await asyncio.gather(first, second)) == ["A", "B"]
    assert work.groups == [["a", "b"]]


async def test_a_group_is_taken_once() -> None:
    async def work_twice(group: Batch[str]) -> list[str]:
        first = group.take()
        await asyncio.sleep(0)
        assert group.take() == first
        return list(first)

    gathering = Batcher(work_twice, identity=lambda _: None)
    first = asyncio.create_task(gathering.submit("a"))
    await asyncio.sleep(0)

    assert await gathering.submit("b") == "b"
    assert await first == "a"


async def test_work_that_never_begins_fails_for_those_who_wait() -> None:
    async def refuse(_group: Batch[str]) -> list[str]:
        raise RuntimeError("no store")

    gathering = Batcher(refuse, identity=lambda _: None)

    answers = await asyncio.gather(gathering.submit("a"), gathering.submit("b"), return_exceptions=True)
    assert [type(one) for one in answers] == [RuntimeError, RuntimeError]


async def test_a_refusal_reaches_its_own_caller_alone() -> None:
    gathering = make_gathering(Work())

    answers = await asyncio.gather(*(gathering.submit(item) for item in ("a", "bad", "c")), return_exceptions=True)

    assert [type(one) for one in answers] == [str, ValueError, str]


async def test_a_group_that_fails_as_a_whole_fails_for_all_of_it_and_the_next_one_works() -> None:
    gathering = make_gathering(Work())

    answers = await asyncio.gather(gathering.submit("a"), gathering.submit("all"), return_exceptions=True)

    assert [type(one) for one in answers] == [RuntimeError, RuntimeError]
    assert await gathering.submit("b") == "B"


async def test_the_same_key_never_comes_twice_in_a_group() -> None:
    work = Work()
    gathering = make_gathering(work)

    await asyncio.gather(*(gathering.submit(item) for item in ("key1", "key1", "key2", "a", "a")))

    assert work.groups == [["key1", "key2", "a", "a"], ["key1"]]


async def test_a_group_has_a_limit() -> None:
    work = Work()
    gathering = make_gathering(work)

    await asyncio.gather(*(gathering.submit("a") for _ in range(MAX_BATCH + 1)))

    assert [len(group) for group in work.groups] == [MAX_BATCH, 1]


async def test_a_caller_that_gave_up_does_not_disturb_the_others() -> None:
    gathering = make_gathering(Work())
    impatient = asyncio.create_task(gathering.submit("a"))
    await asyncio.sleep(0)
    impatient.cancel()

    assert await gathering.submit("b") == "B"
    with pytest.raises(asyncio.CancelledError):
        await impatient
