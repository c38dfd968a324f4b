"""Batching of concurrent requests."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")

MAX_BATCH = 128
_FILL_SECONDS = 0.001

Entry: TypeAlias = tuple[T, asyncio.Future[Any]]


class Batch(Generic[T]):
    """Items that are processed together. The batch is filled when it is taken, which any thread may do.

    Two items with the same identity are never in one batch, so that the later one sees the result of the earlier.
    """

    def __init__(self, waiting: "deque[Entry[T]]", identity: Callable[[T], Hashable | None], limit: int) -> None:
        self._waiting = waiting
        self._identity = identity
        self._limit = limit
        self._entries: list[Entry[T]] = []

    def take(self) -> Sequence[T]:
        """The items; fills the batch at the first call, and returns the same items at every later one."""
        return [item for item, _ in self.close()]

    def close(self) -> Sequence[Entry[T]]:
        if self._entries:
            return self._entries
        postponed: list[Entry[T]] = []
        taken: set[Hashable] = set()
        # Other threads only append, so the entries counted here stay in front.
        for _ in range(min(len(self._waiting), self._limit)):
            entry = self._waiting.popleft()
            identity = self._identity(entry[0])
            if identity is not None and identity in taken:
                postponed.append(entry)
            else:
                taken.add(identity)
                self._entries.append(entry)
        self._waiting.extendleft(reversed(postponed))
        return self._entries


class Batcher(Generic[T]):
    """Processes items in batches, one after the other; items that arrive meanwhile form the next batch.

    Under load, a batch that is much smaller than the one before waits a moment for more items. A batch has up to
    `limit` items.
    """

    def __init__(
        self,
        work: Callable[[Batch[T]], Awaitable[Sequence[Any]]],
        *,
        identity: Callable[[T], Hashable | None] = lambda _: None,
        limit: int = MAX_BATCH,
    ) -> None:
        self._work = work
        self._identity = identity
        self._limit = limit
        self._waiting: deque[Entry[T]] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._last_size = 0

    async def submit(self, item: T) -> Any:
        """Process an item in the next batch; returns its result or raises its error."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._process_all())
        return await future

    async def _process_all(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < self._last_size // 2:
                    # Clients that just got a response are about to send again, and large batches are cheaper.
                    await asyncio.sleep(_FILL_SECONDS)
                batch = Batch(self._waiting, self._identity, self._limit)
                outcomes = await self._process(batch)
                entries = batch.close()
                self._last_size = len(entries)
                for (_, future), outcome in zip(entries, outcomes, strict=True):
                    _settle(future, outcome)
        finally:
            self._worker = None

    async def _process(self, batch: Batch[T]) -> Sequence[Any]:
        try:
            return await self._work(batch)
        except Exception as error:  # noqa: BLE001 - raised for each waiting caller
            return [error] * len(batch.close())


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
