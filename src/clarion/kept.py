"""What is dear to make and never changes, kept for a while."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values kept last, bounded by their number and by their weight together; threads may share it."""

    def __init__(self, *, most: int, most_weight: int = 0, weigh: Callable[[K], int] = lambda _: 0) -> None:
        self._most = most
        self._most_weight = most_weight
        self._weigh = weigh
        self._lock = threading.Lock()
        self._values: dict[K, V] = {}
        self._weight = 0
        # Nothing is moved when it is found: what leaves because it was kept first is made again where it is in use.
        self.find: Callable[[K], V | None] = self._values.get

    def keep(self, key: K, value: V) -> None:
        with self._lock:
            if key not in self._values:
                self._weight += self._weigh(key)
            self._values[key] = value
            while len(self._values) > self._most or self._weight > self._most_weight:
                oldest = next(iter(self._values))
                del self._values[oldest]
                self._weight -= self._weigh(oldest)
