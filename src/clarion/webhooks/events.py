"""Events: written with their deliveries in the transaction of what they tell of, where an endpoint wants them.

Whether any endpoint wants an event is known from memory, so that an environment without endpoints pays nothing. An
endpoint that was created by another process is told of what happens from two seconds later on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion.clock import SECOND, Millis, iso_text
from clarion.db.port import Connection
from clarion.ids import EnvironmentId, MessageId, WebhookEndpointId, WebhookEventId, new_id
from clarion.jsontext import json_text
from clarion.webhooks import store
from clarion.webhooks.model import EventType
from clarion.webhooks.wire import MessageEvent

KNOWN_FOR = Millis(2 * SECOND)
"""An endpoint changed by another process is heeded here as it was for at most this time."""

_MAX_KNOWN = 1_000
_MESSAGES_TOGETHER = 500

Listeners = Mapping[WebhookEndpointId, frozenset[EventType]]


@dataclass(frozen=True, slots=True)
class _CachedListeners:
    listeners: Listeners
    read_at: Millis

    def is_fresh(self, now: Millis) -> bool:
        # A clock that went back makes no knowledge last longer.
        return 0 <= now - self.read_at < KNOWN_FOR


async def append_message_events(
    db: Connection, environment_id: EnvironmentId, happened: Sequence[tuple[EventType, MessageId]], now: Millis
) -> None:
    """Tell of what happened to messages, which are told as they are in the store at this moment."""
    if not happened:
        return
    listeners = await list_listeners(db, environment_id, now)
    wanted = [one for one in happened if _is_wanted(listeners, one[0])] if listeners else []
    for start in range(0, len(wanted), _MESSAGES_TOGETHER):
        part = wanted[start : start + _MESSAGES_TOGETHER]
        rows = await store.list_message_rows(db, environment_id, [message_id for _, message_id in part])
        shown = [(kind, MessageEvent.of(rows[one])) for kind, one in part if one in rows]
        await append_events(db, environment_id, shown, now)


async def append_events(
    db: Connection, environment_id: EnvironmentId, happened: Sequence[tuple[EventType, Any]], now: Millis
) -> None:
    """Tell of events, each with its data, whoever listens to them."""
    listeners = await list_listeners(db, environment_id, now) if happened else {}
    if not listeners:
        return
    events, deliveries = [], []
    for kind, data in happened:
        ids = [one for one, kinds in listeners.items() if not kinds or kind in kinds]
        if ids:
            event_id = WebhookEventId(new_id(now))
            events.append(store.event_row(environment_id, event_id, kind, make_payload(kind, data, now), now))
            deliveries += [store.queued_row(environment_id, one, event_id, now) for one in ids]
    await store.insert_events(db, events, deliveries)


def make_payload(kind: EventType, data: Any, now: Millis) -> str:
    """An event as it is sent."""
    return json_text({"type": kind, "timestamp": iso_text(now), "data": data})


async def list_listeners(db: Connection, environment_id: EnvironmentId, now: Millis) -> Listeners:
    """The active endpoints of the environment, each with the events that it wants; none at all means every one."""
    known = _known.get(environment_id)
    if known is None or not known.is_fresh(now):
        known = _CachedListeners(await store.list_listeners(db, environment_id), now)
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[environment_id] = known
    return known.listeners


def forget_listeners(environment_id: EnvironmentId) -> None:
    """After an endpoint was changed in this process."""
    _known.pop(environment_id, None)


_known: dict[EnvironmentId, _CachedListeners] = {}


def _is_wanted(listeners: Listeners, kind: EventType) -> bool:
    return any(not kinds or kind in kinds for kinds in listeners.values())
