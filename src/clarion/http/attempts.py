"""Requests with unknown secrets: counted by client address, and looked up many at a time.

Those who try many secrets are slowed down, and cannot load the store with them.
"""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from clarion.batching import Batch, Batcher
from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.errors import RateLimited, Unauthenticated

MAX_COUNTED = 10_000
"""Those that were counted last are kept."""
_IPV6_NETWORK = 64
"""The bits of an address that one customer of a network cannot choose freely."""


class AttemptLimit(Struct, frozen=True):
    """How many attempts are possible at once, and how many milliseconds it takes until one more is."""

    burst: int
    every: float


class LeakyCounters:
    """Counts that drain with time, by key."""

    def __init__(self) -> None:
        self.levels: dict[Hashable, tuple[float, Millis]] = {}

    def get_level(self, key: Hashable, limit: AttemptLimit, now: Millis) -> float:
        level, since = self.levels.get(key, (0.0, now))
        return max(0.0, level - (now - since) / limit.every)

    def add(self, key: Hashable, limit: AttemptLimit, now: Millis) -> None:
        level = min(self.get_level(key, limit, now) + 1, float(limit.burst))
        # Those that were counted last are at the end, so the first one is the one to forget.
        self.levels.pop(key, None)
        if len(self.levels) >= MAX_COUNTED:
            del self.levels[next(iter(self.levels))]
        self.levels[key] = (level, now)

    def admit(self, key: Hashable, limit: AttemptLimit, now: Millis) -> bool:
        """Count one more, unless there are too many; returns whether it was counted."""
        if self.get_level(key, limit, now) + 1 > limit.burst:
            return False
        self.add(key, limit, now)
        return True

    def remove(self, key: Hashable) -> None:
        """Take one back."""
        level, since = self.levels.get(key, (0.0, Millis(0)))
        if level > 1:
            self.levels[key] = (level - 1, since)
        else:
            self.forget(key)

    def forget(self, key: Hashable) -> None:
        self.levels.pop(key, None)


class FailedAttempts:
    """The failures of each client address.

    They decide only how a failure is answered and how fast an unknown key is looked up: a valid key is accepted from
    every address, because many clients may share one.
    """

    def __init__(self, clock: Clock, per_minute: int) -> None:
        self._clock = clock
        self._limit = AttemptLimit(per_minute, MINUTE / per_minute) if per_minute else None
        self._failures = LeakyCounters()

    def is_suspect(self, address: str) -> bool:
        """Whether an address has failed more often than it may."""
        if self._limit is None or not self._failures.levels:
            return False
        level = self._failures.get_level(network_of(address), self._limit, self._clock.now())
        return level >= self._limit.burst

    def answer(self, address: str, error: Unauthenticated) -> Unauthenticated | RateLimited:
        """Record a failure; returns what to answer: the error, or a refusal if the address has failed too often."""
        if self._limit is None:
            return error
        network, now = network_of(address), self._clock.now()
        level = self._failures.get_level(network, self._limit, now)
        self._failures.add(network, self._limit, now)
        return error if level + 1 <= self._limit.burst else _make_refusal(Millis(int(self._limit.every)))


def _make_refusal(wait: Millis) -> RateLimited:
    seconds = max(1, -(-wait // SECOND))
    return RateLimited(
        "Too many requests with invalid API keys came from this address, this one included; "
        f"check the Authorization header, and try again in {seconds} s",
        retry_after=seconds,
        ctx={"category": "authentication", "retryAfter": seconds},
    )


@lru_cache(maxsize=1024)
def network_of(address: str) -> str:
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], _IPV6_NETWORK), strict=False))
    except ValueError:
        return address


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
