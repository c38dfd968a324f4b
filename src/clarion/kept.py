"""What is dear to make and never changes, kept while it is in use."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values used last, bounded by their number and by their weight together; threads may share it."""

    def __init__(self, *, most: int, most_weight: int = 0, weigh: Callable[[K], int] = lambda _: 0) -> None:
        self._most = most
        self._most_weight = most_weight
        self._weigh = weigh
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()
        self._weight = 0

    def find(self, key: K) -> V | None:
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def keep(self, key: K, value: V) -> None:
        with self._lock:
            if key not in self._values:
                self._weight += self._weigh(key)
            self._values[key] = value
            while len(self._values) > self._most or self._weight > self._most_weight:
                oldest, _ = self._values.popitem(last=False)
                self._weight -= self._weigh(oldest)
