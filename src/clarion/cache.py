"""A bounded cache that threads may share."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A first-in, first-out cache, bounded by the number of its values and by their total weight."""

    def __init__(self, *, limit: int, weight_limit: int = 0, weigh: Callable[[K], int] = lambda _: 0) -> None:
        self._limit = limit
        self._weight_limit = weight_limit
        self._weigh = weigh
        self._lock = threading.Lock()
        self._values: dict[K, V] = {}
        self._weight = 0
        # A hit does not move its value: a value in use that is evicted is simply made again.
        self.get: Callable[[K], V | None] = self._values.get

    def put(self, key: K, value: V) -> None:
        with self._lock:
            if key not in self._values:
                self._weight += self._weigh(key)
            self._values[key] = value
            while len(self._values) > self._limit or self._weight > self._weight_limit:
                oldest = next(iter(self._values))
                del self._values[oldest]
                self._weight -= self._weigh(oldest)
