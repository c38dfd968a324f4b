"""Finds API keys in the store by their hashes, many with one statement: unknown keys must not be a way to load it."""

import asyncio

from clarion.db.port import Database
from clarion.environments import store
from clarion.environments.model import ApiKey, KeyHash
from clarion.errors import RateLimited
from clarion.http.batching import Batch, Batcher
from clarion.ids import OrganizationId

MAX_WAITING = 1_000

Found = tuple[ApiKey, OrganizationId]


class KeyLookup:
    """Looks keys up in batches, one after the other, with a pause in between if it is to be slow."""

    def __init__(self, database: Database, *, pause_seconds: float = 0.0) -> None:
        self._database = database
        self._pause_seconds = pause_seconds
        self._batcher: Batcher[KeyHash] = Batcher(self._find, identity=lambda _: None)
        self._waiting = 0

    async def find(self, key_hash: KeyHash) -> Found | None:
        """Find a key; raises RateLimited if too many wait already."""
        if self._waiting >= MAX_WAITING:
            raise RateLimited("Too many unknown API keys are being looked up; try again in 1 s", retry_after=1)
        self._waiting += 1
        try:
            found: Found | None = await self._batcher.submit(key_hash)
            return found
        finally:
            self._waiting -= 1

    async def _find(self, batch: Batch[KeyHash]) -> list[Found | None]:
        if self._pause_seconds:
            await asyncio.sleep(self._pause_seconds)
        hashes = batch.take()
        found = await self._database.read(lambda db: store.list_api_keys_by_hash(db, list(set(hashes))))
        return [found.get(one) for one in hashes]
