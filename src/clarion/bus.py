"""What happens in one part of the process and others want to know: cache drops now, wake-ups and real-time later."""

from collections import defaultdict
from collections.abc import Callable
from enum import StrEnum


class Topic(StrEnum):
    API_KEY_CHANGED = "api-key-changed"
    INTEGRATION_CHANGED = "integration-changed"
    WORK = "work"


class Bus:
    """Calls every listener of a topic at once, in the process it is published in."""

    def __init__(self) -> None:
        self._listeners: defaultdict[Topic, list[Callable[[], None]]] = defaultdict(list)

    def listen(self, topic: Topic, listener: Callable[[], None]) -> None:
        self._listeners[topic].append(listener)

    def publish(self, topic: Topic) -> None:
        for listener in self._listeners[topic]:
            listener()
