"""Writes events and their deliveries, in the transaction of the change that they report.

The engine caches the listening endpoints of each environment, so that an environment without endpoints costs nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from clarion.cache import CacheSlot
from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.environments.configuration import Versioned, get_or_load
from clarion.ids import EnvironmentId, MessageId, SubscriberId, WebhookEndpointId, WebhookEventId, new_id
from clarion.jsontext import json_text, plain_value
from clarion.waits.message_events import emit_message_events
from clarion.webhooks import store
from clarion.webhooks.model import EventType
from clarion.webhooks.wire import MessageEvent

Listeners = Mapping[WebhookEndpointId, frozenset[EventType]]
"""The event types of each active endpoint; an empty set means all types."""

LISTENERS: CacheSlot[EnvironmentId, Versioned[dict[WebhookEndpointId, frozenset[EventType]]]] = CacheSlot(limit=10_000)

_MESSAGE_BATCH = 500


async def append_message_events(
    db: Connection,
    environment_id: EnvironmentId,
    events: Sequence[tuple[EventType, MessageId]],
    now: Millis,
    *,
    listeners: Listeners | None = None,
) -> None:
    """Write events about messages, with the messages as they are stored now, and emit them for steps that wait.

    `listeners` are read if not given.
    """
    if not events:
        return
    await emit_message_events(db, environment_id, events, now)
    if listeners is None:
        listeners = await store.list_listeners(db, environment_id)
    wanted = [one for one in events if _is_wanted(listeners, one[0])] if listeners else []
    for start in range(0, len(wanted), _MESSAGE_BATCH):
        batch = wanted[start : start + _MESSAGE_BATCH]
        rows = await store.list_message_rows(db, environment_id, [message_id for _, message_id in batch])
        message_events = [
            (kind, MessageEvent.of(rows[one]), rows[one]["subscriber_id"]) for kind, one in batch if one in rows
        ]
        await _append_for(db, environment_id, listeners, message_events, now)


async def append_detailed_events(
    db: Connection,
    environment_id: EnvironmentId,
    kind: EventType,
    details: Sequence[tuple[MessageId, Mapping[str, Any]]],
    now: Millis,
) -> None:
    """Write events of one kind about messages, each with more members of its own, and emit them for steps that wait."""
    emitted = [(kind, message_id) for message_id, _ in details]
    await emit_message_events(db, environment_id, emitted, now, details=dict(details))
    listeners = await store.list_listeners(db, environment_id) if details else {}
    if not _is_wanted(listeners, kind):
        return
    rows = await store.list_message_rows(db, environment_id, [message_id for message_id, _ in details])
    shown = {one: plain_value(MessageEvent.of(row)) for one, row in rows.items()}
    events = [(kind, shown[one] | more, rows[one]["subscriber_id"]) for one, more in details if one in rows]
    await _append_for(db, environment_id, listeners, events, now)


async def append_events(
    db: Connection,
    environment_id: EnvironmentId,
    events: Sequence[tuple[EventType, Any]],
    now: Millis,
    *,
    about: SubscriberId | None = None,
) -> None:
    """Write events, each with its data, for the endpoints that listen to them; `about` is the person in question."""
    if events:
        listeners = await store.list_listeners(db, environment_id)
        await _append_for(db, environment_id, listeners, [(kind, data, about) for kind, data in events], now)


def make_payload(kind: EventType, data: Any, now: Millis) -> str:
    """Return the JSON body of an event."""
    return json_text({"type": kind, "timestamp": iso_text(now), "data": data})


async def get_listeners(db: Connection, environment_id: EnvironmentId, version: int) -> Listeners:
    """Return the listeners of the environment at this version of its configuration."""
    return await get_or_load(db, LISTENERS, environment_id, version, store.list_listeners)


async def _append_for(
    db: Connection,
    environment_id: EnvironmentId,
    listeners: Listeners,
    events: Sequence[tuple[EventType, Any, SubscriberId | None]],
    now: Millis,
) -> None:
    event_rows, delivery_rows, people_rows = [], [], []
    for kind, data, about in events:
        ids = [one for one, kinds in listeners.items() if not kinds or kind in kinds]
        if ids:
            event_id = WebhookEventId(new_id(now))
            event_rows.append(store.event_row(environment_id, event_id, kind, make_payload(kind, data, now), now))
            delivery_rows += [store.queued_row(environment_id, one, event_id, now) for one in ids]
            if about is not None:
                people_rows.append((environment_id, about, event_id))
    await store.insert_events(db, event_rows, delivery_rows, people_rows)


def _is_wanted(listeners: Listeners, kind: EventType) -> bool:
    return any(not kinds or kind in kinds for kinds in listeners.values())
