"""Bounded caches that threads may share."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A first-in, first-out cache, bounded by the number of its values and by their total weight."""

    def __init__(self, *, limit: int, weight_limit: int = 0, weigh: Callable[[K, V], int] = lambda _, __: 0) -> None:
        self._limit = limit
        self._weight_limit = weight_limit
        self._weigh = weigh
        self._lock = threading.Lock()
        self._values: dict[K, V] = {}
        self._weight = 0
        # A hit does not move its value, so `get` needs no lock; a value in use that is evicted is loaded again.
        self.get: Callable[[K], V | None] = self._values.get

    def put(self, key: K, value: V) -> None:
        with self._lock:
            if key in self._values:
                self._weight -= self._weigh(key, self._values[key])
            self._values[key] = value
            self._weight += self._weigh(key, value)
            while len(self._values) > self._limit or self._weight > self._weight_limit:
                oldest = next(iter(self._values))
                self._weight -= self._weigh(oldest, self._values.pop(oldest))


class CacheSlot(Generic[K, V]):
    """Declares a cache by its types and its limit; the values are held by a `Caches`, never by the declaring module."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit


class Caches:
    """The caches of one owner, such as a database: one for each slot, created at first use."""

    def __init__(self) -> None:
        self._caches: dict[CacheSlot[Any, Any], BoundedCache[Any, Any]] = {}

    def of(self, slot: CacheSlot[K, V]) -> BoundedCache[K, V]:
        cache = self._caches.get(slot)
        # `setdefault` is atomic: threads that come at the same time get the same cache.
        return cache if cache is not None else self._caches.setdefault(slot, BoundedCache(limit=slot.limit))
