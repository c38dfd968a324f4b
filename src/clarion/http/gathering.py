"""Requests that come at the same moment are worked on together."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MOST_TOGETHER = 128
_GATHER_SECONDS = 0.001


class Gathering(Generic[T]):
    """Gathers what comes in while the group before is under way; only in a rush does a small group wait for company.

    Two items with the same `identity` never share a group: the later one sees what became of the earlier.
    """

    def __init__(
        self,
        work: Callable[[Sequence[T]], Awaitable[Sequence[Any]]],
        *,
        identity: Callable[[T], Hashable | None],
    ) -> None:
        self._work = work
        self._identity = identity
        self._waiting: list[tuple[T, asyncio.Future[Any]]] = []
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
                group = self._next_group()
                self._last_size = len(group)
                for (_, future), outcome in zip(group, await self._outcomes(group), strict=True):
                    _settle(future, outcome)
        finally:
            self._worker = None

    async def _outcomes(self, group: Sequence[tuple[T, asyncio.Future[Any]]]) -> Sequence[Any]:
        try:
            return await self._work([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - it is raised again in front of each that waits
            return [error] * len(group)

    def _next_group(self) -> list[tuple[T, asyncio.Future[Any]]]:
        group: list[tuple[T, asyncio.Future[Any]]] = []
        left: list[tuple[T, asyncio.Future[Any]]] = []
        taken: set[Hashable] = set()
        for entry in self._waiting:
            identity = self._identity(entry[0])
            if len(group) == MOST_TOGETHER or (identity is not None and identity in taken):
                left.append(entry)
            else:
                taken.add(identity)
                group.append(entry)
        self._waiting = left
        return group


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
