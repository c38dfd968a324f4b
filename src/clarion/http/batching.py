"""Requests that come at the same moment are worked on together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")

MAX_BATCH = 128
_GATHER_SECONDS = 0.001

Entry: TypeAlias = tuple[T, asyncio.Future[Any]]


class Batch(Generic[T]):
    """What is worked on together; open to whatever comes until it is taken, which any thread may do.

    Two items with the same identity never share a group: the later one sees what became of the earlier.
    """

    def __init__(self, waiting: "deque[Entry[T]]", identity: Callable[[T], Hashable | None]) -> None:
        self._waiting = waiting
        self._identity = identity
        self._entries: list[Entry[T]] = []

    def take(self) -> Sequence[T]:
        """The items, from now on the same ones however often it is asked."""
        return [item for item, _ in self.close()]

    def close(self) -> Sequence[Entry[T]]:
        if self._entries:
            return self._entries
        left: list[Entry[T]] = []
        taken: set[Hashable] = set()
        # Others only add at the end, so that those who were there at first can be counted on.
        for _ in range(min(len(self._waiting), MAX_BATCH)):
            entry = self._waiting.popleft()
            identity = self._identity(entry[0])
            if identity is not None and identity in taken:
                left.append(entry)
            else:
                taken.add(identity)
                self._entries.append(entry)
        self._waiting.extendleft(reversed(left))
        return self._entries


class Batcher(Generic[T]):
    """Gathers what comes in until the group before is done and the work for the next one has begun.

    Only in a rush does a small group wait for company.
    """

    def __init__(
        self,
        work: Callable[[Batch[T]], Awaitable[Sequence[Any]]],
        *,
        identity: Callable[[T], Hashable | None],
    ) -> None:
        self._work = work
        self._identity = identity
        self._waiting: deque[Entry[T]] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._last_size = 0

    async def submit(self, item: T) -> Any:
        """The item's outcome, returned or raised."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work_through())
        return await future

    async def _work_through(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < self._last_size // 2:
                    # Those who were answered just now are about to come again; a larger group costs less for each.
                    await asyncio.sleep(_GATHER_SECONDS)
                group = Batch(self._waiting, self._identity)
                outcomes = await self._outcomes(group)
                entries = group.close()
                self._last_size = len(entries)
                for (_, future), outcome in zip(entries, outcomes, strict=True):
                    _settle(future, outcome)
        finally:
            self._worker = None

    async def _outcomes(self, group: Batch[T]) -> Sequence[Any]:
        try:
            return await self._work(group)
        except Exception as error:  # noqa: BLE001 - it is raised again in front of each that waits
            return [error] * len(group.close())


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
