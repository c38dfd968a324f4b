"""The pipeline that sends and webhooks share: claimed items are performed at the same time and recorded in groups.

An item is in flight from its claim until its result is recorded. It is performed (a provider or a receiver is called)
in a task of its own, outside any transaction, so that a slow call holds up nothing but itself. While one group of
results is recorded, the next one gathers. Whatever fails, an item is recorded or left to its lease: when that ends,
the item is claimed again.

It is part of the engine because both rooms need it equally, and because it knows neither sends nor webhooks.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from logging import Logger
from typing import Any, Generic, Protocol, TypeVar

from clarion.background import PAUSE_SECONDS
from clarion.clock import Clock, Millis
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId

_BUSY = 16
"""With more items than this being performed, it is worth waiting for their results."""


class PipelineItem(Protocol):
    @property
    def environment_id(self) -> EnvironmentId: ...


T = TypeVar("T")
ItemT = TypeVar("ItemT", bound=PipelineItem)


class InFlight(Generic[ItemT]):
    """The items of one process that are in flight.

    The event loop alone takes and releases them. Other threads may read them at the same time, so that each change
    makes a new set.
    """

    def __init__(self) -> None:
        self._items: frozenset[ItemT] = frozenset()

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def take(self, items: Iterable[ItemT]) -> None:
        self._items = self._items.union(items)

    def release(self, items: Iterable[ItemT]) -> None:
        self._items = self._items.difference(items)


class Pipeline(Generic[ItemT]):
    """Performs claimed items and records their results."""

    def __init__(  # noqa: PLR0913 - what differs between sends and webhooks
        self,
        in_flight: InFlight[ItemT],
        clock: Clock,
        logger: Logger,
        *,
        perform: Callable[[ItemT], Awaitable[bool]],
        record: Callable[[EnvironmentId, Sequence[ItemT], Millis], Awaitable[None]],
        log_unrecorded: Callable[[ItemT, Exception], None],
        make_failed: Callable[[ItemT, Millis], None] | None = None,
        gather_seconds: float = 0.0,
    ) -> None:
        """Compose a pipeline.

        `perform` returns whether there is anything to record. `record` writes results in one transaction. If that
        fails unexpectedly for an item alone, `make_failed` replaces its result with a failure, which is recorded
        instead. While many items are being performed, results wait `gather_seconds` for others: a larger group costs
        less per result.
        """
        self._in_flight = in_flight
        self._clock = clock
        self._logger = logger
        self._perform = perform
        self._record = record
        self._log_unrecorded = log_unrecorded
        self._make_failed = make_failed
        self._gather_seconds = gather_seconds
        self._claims_and_recorder = Tasks()
        self._performing = Tasks()
        self._performed: list[ItemT] = []
        self._recorder: asyncio.Task[None] | None = None
        self._is_ending = False
        self.is_full = False
        """Whether more can be claimed as soon as an item is recorded."""
        self.wake_up = asyncio.Event()
        """Set when there may be something to claim."""

    async def claim(self, claims: Iterable[Coroutine[Any, Any, bool]]) -> bool:
        """Make several claims at once; returns whether any found something, and raises the first failure.

        Each is a task of its own: a claim that has begun when this is cancelled still ends, and is performed.
        """
        tasks = [self._claims_and_recorder.start(claim) for claim in claims]
        if tasks:
            await asyncio.wait(tasks)
        for failure in filter(None, [task.exception() for task in tasks]):
            raise failure
        return any(task.result() for task in tasks)

    def start(self, items: Sequence[ItemT]) -> None:
        """Take items in flight and perform them."""
        self._in_flight.take(items)
        for item in items:
            self._performing.start(self._perform_one(item))

    async def finish(self) -> None:
        """Wait until nothing is in flight."""
        await self._performing.finish()
        await self._claims_and_recorder.finish()

    async def drain(self, grace_seconds: float | None) -> None:
        """Let claims that have begun end, and give what is performed the grace period; None has no limit.

        From now on, results that cannot be recorded because of the store are left to the lease.
        """
        self._is_ending = True
        await self._claims_and_recorder.finish()
        await self._performing.wait(grace_seconds)

    async def cancel(self) -> None:
        """Cancel what is still performed, and record what comes of that."""
        self._performing.cancel()
        await self.finish()

    async def _perform_one(self, item: ItemT) -> None:
        has_result = False
        try:
            has_result = await self._perform(item)
        finally:
            if not has_result:
                self._in_flight.release([item])
        if has_result:
            self._performed.append(item)
            if self._recorder is None:
                self._recorder = self._claims_and_recorder.start(self._record_performed())

    async def _record_performed(self) -> None:
        try:
            while self._performed:
                if self._gather_seconds and len(self._in_flight) - len(self._performed) > _BUSY:
                    await asyncio.sleep(self._gather_seconds)
                group, self._performed = self._performed, []
                for environment_id, items in _group_by_environment(group).items():
                    await self._record_group(environment_id, items)
                    self._in_flight.release(items)
                    if self.is_full:
                        self.wake_up.set()
        finally:
            self._recorder = None

    async def _record_group(self, environment_id: EnvironmentId, items: Sequence[ItemT]) -> None:
        try:
            await self._write(environment_id, items)
        except Exception:
            self._logger.exception("Results not recorded", extra={"environment_id": environment_id.hex()})
            await self._record_apart(items)

    async def _record_apart(self, items: Sequence[ItemT]) -> None:
        """Record each alone, so that one that fails unexpectedly does not take the others along."""
        for item in items:
            is_recorded = len(items) > 1 and await self._record_alone(item)
            if not is_recorded and self._make_failed is not None:
                await self._record_alone(item, self._make_failed)

    async def _record_alone(self, item: ItemT, change: Callable[[ItemT, Millis], None] | None = None) -> bool:
        try:
            if change is not None:
                change(item, self._clock.now())
            await self._write(item.environment_id, [item])
        except Exception as error:  # noqa: BLE001 - logged with what names the item
            self._log_unrecorded(item, error)
            return False
        return True

    async def _write(self, environment_id: EnvironmentId, items: Sequence[ItemT]) -> None:
        """Write results, however long the store cannot be used: an item whose result is lost is performed again."""
        now = self._clock.now()
        while True:
            try:
                return await self._record(environment_id, items, now)
            except StoreUnavailable as error:
                self._logger.warning("Recording postponed", extra={"error": str(error), "count": len(items)})
            if self._is_ending:
                return None
            await asyncio.sleep(PAUSE_SECONDS)


def _group_by_environment(items: Iterable[ItemT]) -> dict[EnvironmentId, list[ItemT]]:
    groups: defaultdict[EnvironmentId, list[ItemT]] = defaultdict(list)
    for item in items:
        groups[item.environment_id].append(item)
    return groups


class Tasks:
    """The tasks that have not ended yet."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def wait(self, seconds: float | None) -> None:
        """Wait until all of the present tasks have ended, but no longer than this; None has no limit."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()

    async def finish(self) -> None:
        """Wait until none is left, those included that others start meanwhile."""
        while self._running:
            await asyncio.wait(self._running)
