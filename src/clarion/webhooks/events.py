"""Writes events and their deliveries, in the transaction of the change that they report.

The listening endpoints of each environment are cached, so that an environment without endpoints costs nothing. An
endpoint that another process has created gets the events from up to two seconds later on.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import SECOND, Millis, iso_text
from clarion.db.port import Connection
from clarion.ids import EnvironmentId, MessageId, WebhookEndpointId, WebhookEventId, new_id
from clarion.jsontext import json_text
from clarion.webhooks import store
from clarion.webhooks.model import EventType
from clarion.webhooks.wire import MessageEvent

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may use an endpoint that another process has changed."""

_MAX_CACHED = 1_000
_MESSAGE_BATCH = 500

Listeners = Mapping[WebhookEndpointId, frozenset[EventType]]


class _CachedListeners(Struct, frozen=True, kw_only=True):
    listeners: Listeners
    read_at: Millis

    def is_fresh(self, now: Millis) -> bool:
        # A clock that is set back does not extend the lifetime.
        return 0 <= now - self.read_at < CACHED_FOR


async def append_message_events(
    db: Connection, environment_id: EnvironmentId, events: Sequence[tuple[EventType, MessageId]], now: Millis
) -> None:
    """Write events about messages, with the messages as they are stored now."""
    if not events:
        return
    listeners = await get_listeners(db, environment_id, now)
    wanted = [one for one in events if _is_wanted(listeners, one[0])] if listeners else []
    for start in range(0, len(wanted), _MESSAGE_BATCH):
        batch = wanted[start : start + _MESSAGE_BATCH]
        rows = await store.list_message_rows(db, environment_id, [message_id for _, message_id in batch])
        message_events = [(kind, MessageEvent.of(rows[one])) for kind, one in batch if one in rows]
        await append_events(db, environment_id, message_events, now)


async def append_events(
    db: Connection, environment_id: EnvironmentId, events: Sequence[tuple[EventType, Any]], now: Millis
) -> None:
    """Write events, each with its data, for the endpoints that listen to them."""
    listeners = await get_listeners(db, environment_id, now) if events else {}
    if not listeners:
        return
    event_rows, delivery_rows = [], []
    for kind, data in events:
        ids = [one for one, kinds in listeners.items() if not kinds or kind in kinds]
        if ids:
            event_id = WebhookEventId(new_id(now))
            event_rows.append(store.event_row(environment_id, event_id, kind, make_payload(kind, data, now), now))
            delivery_rows += [store.queued_row(environment_id, one, event_id, now) for one in ids]
    await store.insert_events(db, event_rows, delivery_rows)


def make_payload(kind: EventType, data: Any, now: Millis) -> str:
    """Return the JSON body of an event."""
    return json_text({"type": kind, "timestamp": iso_text(now), "data": data})


async def get_listeners(db: Connection, environment_id: EnvironmentId, now: Millis) -> Listeners:
    """Return the active endpoints of the environment, each with its event types; an empty set means all types."""
    cached = _cache.get(environment_id)
    if cached is None or not cached.is_fresh(now):
        cached = _CachedListeners(listeners=await store.list_listeners(db, environment_id), read_at=now)
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[environment_id] = cached
    return cached.listeners


def invalidate_listeners(environment_id: EnvironmentId) -> None:
    """Drop the cached listeners of an environment after a change of its endpoints in this process."""
    _cache.pop(environment_id, None)


_cache: dict[EnvironmentId, _CachedListeners] = {}


def _is_wanted(listeners: Listeners, kind: EventType) -> bool:
    return any(not kinds or kind in kinds for kinds in listeners.values())
