"""Signals between the parts of one process: a cache is out of date, there is work to do."""

from collections import defaultdict
from collections.abc import Callable
from enum import StrEnum


class Signal(StrEnum):
    API_KEY_CHANGED = "api-key-changed"
    WORK = "work"


class Bus:
    """Calls all listeners of a signal when it is published, synchronously and in this process only."""

    def __init__(self) -> None:
        self._listeners: defaultdict[Signal, list[Callable[[], None]]] = defaultdict(list)

    def listen(self, signal: Signal, listener: Callable[[], None]) -> None:
        self._listeners[signal].append(listener)

    def publish(self, signal: Signal) -> None:
        for listener in self._listeners[signal]:
            listener()
