"""Signals between the parts of one process: a cache is out of date, there is work to do, an inbox has changed."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.ids import EnvironmentId, MessageId, SubscriberId


class Signal(StrEnum):
    API_KEY_CHANGED = "api-key-changed"
    LIMITS_CHANGED = "limits-changed"
    MEMBERS_CHANGED = "members-changed"
    """Members, their roles or their sessions."""
    WORK = "work"


class InboxChange(Struct, frozen=True, kw_only=True):
    """What changed in the inbox of one person: messages arrived or changed, or only the counts may be different."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    arrived: tuple[MessageId, ...] = ()
    """New messages, and those that came back from a snooze; in the order of their arrival."""
    changed: tuple[MessageId, ...] = ()
    """Messages that have new content or are withdrawn."""


class Bus:
    """Calls all listeners of a signal when it is published, synchronously and in this process only."""

    def __init__(self) -> None:
        self._listeners: defaultdict[Signal, list[Callable[[], None]]] = defaultdict(list)
        self._inbox_listeners: list[Callable[[Sequence[InboxChange]], None]] = []
        self.is_watched: Callable[[EnvironmentId], bool] = lambda _: False
        """Whether somebody who is connected, to any process, may want to know of changes in an environment."""

    def listen(self, signal: Signal, listener: Callable[[], None]) -> None:
        self._listeners[signal].append(listener)

    def publish(self, signal: Signal) -> None:
        for listener in self._listeners[signal]:
            listener()

    def listen_to_inboxes(self, listener: Callable[[Sequence[InboxChange]], None]) -> None:
        self._inbox_listeners.append(listener)

    def publish_inbox_changes(self, changes: Sequence[InboxChange]) -> None:
        """Announce changes that are durable. Announcements may be lost: they are hints to read the store."""
        for listener in self._inbox_listeners:
            listener(changes)
