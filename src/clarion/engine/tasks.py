"""Tasks of a loop that go on beside it, and are finished before it ends."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Tasks:
    """The tasks that have not ended yet."""

    def __init__(self) -> None:
        self._in_flight: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        return task

    async def claim(self, claims: Sequence[Coroutine[Any, Any, bool]]) -> bool:
        """Make several claims at once; returns whether any found something, and raises the first failure.

        Each is a task of its own: a claim that has begun when this is cancelled still ends, and is worked on.
        """
        started = [self.start(one) for one in claims]
        if started:
            await asyncio.wait(started)
        for failure in filter(None, [claim.exception() for claim in started]):
            raise failure
        return any(claim.result() for claim in started)

    async def wait(self, seconds: float | None) -> None:
        """Wait until all of the present tasks have ended, but no longer; None has no limit."""
        if self._in_flight:
            await asyncio.wait(self._in_flight, timeout=seconds)

    def cancel(self) -> None:
        for task in self._in_flight:
            task.cancel()

    async def finish(self) -> None:
        """Wait until none is left, those included that others start meanwhile."""
        while self._in_flight:
            await asyncio.wait(self._in_flight)
