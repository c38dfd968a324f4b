"""What is pushed: events with JSON, encoded once for all sockets that get them."""

from typing import Any

import msgspec
from msgspec import Struct

from clarion.messages.inbox_counts import InboxCounts
from clarion.messages.pushed import PushedMessage
from clarion.vocabulary import Severity


class Event(Struct, frozen=True):
    """An event and its data as JSON; sockets put it into the frame of their protocol."""

    name: str
    data: bytes


def message_event(message: PushedMessage) -> Event:
    return Event("notification_received", msgspec.json.encode({"message": message}))


def unread_event(counts: InboxCounts) -> Event:
    total = counts.total_unread
    severity = {one: counts.unread.get(one, 0) for one in Severity}
    data: dict[str, Any] = {
        "counts": {"total": total, "severity": severity},
        "unreadCount": total,
        "hasMore": counts.has_more_unread,
    }
    return Event("unread_count_changed", msgspec.json.encode(data))


def unseen_event(counts: InboxCounts) -> Event:
    data = {"unseenCount": counts.unseen, "hasMore": counts.has_more_unseen}
    return Event("unseen_count_changed", msgspec.json.encode(data))


def changed_count_events(counts: InboxCounts, before: InboxCounts | None) -> list[Event]:
    """The events for counts that differ from those that were sent before."""
    events = []
    if before is None or _unread_part(before) != _unread_part(counts):
        events.append(unread_event(counts))
    if before is None or (before.unseen, before.has_more_unseen) != (counts.unseen, counts.has_more_unseen):
        events.append(unseen_event(counts))
    return events


def _unread_part(counts: InboxCounts) -> tuple[dict[Severity, int], bool]:
    return counts.unread, counts.has_more_unread
