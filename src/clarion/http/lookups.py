"""Finds secrets in the store by their hashes, many with one statement: unknown ones must not be a way to load it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from clarion.batching import Batch, Batcher
from clarion.db.port import Connection, Database
from clarion.errors import RateLimited

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_WAITING = 1_000

Find: TypeAlias = Callable[[Connection, Sequence[K]], Awaitable[Mapping[K, V]]]


class HashLookup(Generic[K, V]):
    """Looks hashes up in batches, one after the other, with a pause in between if it is to be slow."""

    def __init__(self, database: Database, find: Find[K, V], *, things: str, pause_seconds: float = 0.0) -> None:
        self._database = database
        self._find_all = find
        self._things = things
        self._pause_seconds = pause_seconds
        self._batcher: Batcher[K] = Batcher(self._find)
        self._waiting: dict[K, asyncio.Task[V | None]] = {}
        """The hashes that no batch has taken yet; requests with one hash wait together."""

    async def find(self, hashed: K) -> V | None:
        """Find what has a hash; raises RateLimited if too many others wait already."""
        lookup = self._waiting.get(hashed)
        if lookup is None:
            if len(self._waiting) >= MAX_WAITING:
                raise RateLimited(
                    f"Too many unknown {self._things} are being looked up; try again in 1 s", retry_after=1
                )
            lookup = self._waiting[hashed] = asyncio.create_task(self._batcher.submit(hashed))
        # A client that goes away must not end the look-up of the others.
        return await asyncio.shield(lookup)

    async def _find(self, batch: Batch[K]) -> list[V | None]:
        if self._pause_seconds:
            await asyncio.sleep(self._pause_seconds)
        hashes = batch.take()
        # What is asked from now on is looked up again: it may have changed since.
        for one in hashes:
            del self._waiting[one]

        async def find(db: Connection) -> Mapping[K, V]:
            return await self._find_all(db, hashes)

        found = await self._database.read(find)
        return [found.get(one) for one in hashes]
