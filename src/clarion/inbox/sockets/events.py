"""What is pushed: events with JSON, encoded once for all sockets that get them."""

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from clarion.inbox.counts import InboxCounts
from clarion.inbox.pushed import PushedMessage
from clarion.vocabulary import Severity


class SocketEvent(Struct, frozen=True):
    """An event and its data as JSON; sockets put it into the frame of their protocol."""

    name: str
    data: bytes


def message_event(message: PushedMessage) -> SocketEvent:
    return SocketEvent("notification_received", msgspec.json.encode({"message": message}))


def unread_event(counts: InboxCounts) -> SocketEvent:
    return _make_unread_event(counts.total_unread, tuple(counts.unread.items()), counts.has_more_unread)


def unseen_event(counts: InboxCounts) -> SocketEvent:
    return _make_unseen_event(counts.unseen, counts.has_more_unseen)


def changed_count_events(counts: InboxCounts, before: InboxCounts | None) -> list[SocketEvent]:
    """The events for counts that differ from those that were sent before."""
    if counts is before:
        return []
    events = []
    if before is None or _unread_part(before) != _unread_part(counts):
        events.append(unread_event(counts))
    if before is None or (before.unseen, before.has_more_unseen) != (counts.unseen, counts.has_more_unseen):
        events.append(unseen_event(counts))
    return events


def _unread_part(counts: InboxCounts) -> tuple[dict[Severity, int], bool]:
    return counts.unread, counts.has_more_unread


# Cached, because most people have one of a few counts.
@lru_cache(maxsize=1024)
def _make_unread_event(total: int, unread: tuple[tuple[Severity, int], ...], has_more: bool) -> SocketEvent:  # noqa: FBT001
    severity = dict.fromkeys(Severity, 0) | dict(unread)
    data: dict[str, Any] = {
        "counts": {"total": total, "severity": severity},
        "unreadCount": total,
        "hasMore": has_more,
    }
    return SocketEvent("unread_count_changed", msgspec.json.encode(data))


@lru_cache(maxsize=1024)
def _make_unseen_event(unseen: int, has_more: bool) -> SocketEvent:  # noqa: FBT001
    return SocketEvent("unseen_count_changed", msgspec.json.encode({"unseenCount": unseen, "hasMore": has_more}))
