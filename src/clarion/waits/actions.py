"""Emits events: stores them for the workers that offer them to steps."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.ids import EmittedEventId, EnvironmentId, SubscriberId, SubscriberKey, TopicId, TopicKey, new_id
from clarion.jobs.lanes import lane_of
from clarion.subscribers.store import list_subscribers_by_key
from clarion.topics.store import find_topic
from clarion.waits import store
from clarion.waits.model import EmittedEvent


class Occurrence(Struct, frozen=True, kw_only=True):
    """Something that happened, as a caller tells it."""

    environment_id: EnvironmentId
    name: str
    data: dict[str, Any] = {}
    id: str | None = None
    """The caller's own: an event that was emitted under it before is not emitted again."""

    def make_event(
        self, now: Millis, *, subscriber_id: SubscriberId | None = None, topic_id: TopicId | None = None
    ) -> EmittedEvent:
        return EmittedEvent(
            environment_id=self.environment_id,
            id=EmittedEventId(new_id(now)),
            name=self.name,
            created_at=now,
            data=self.data,
            subscriber_id=subscriber_id,
            topic_id=topic_id,
        )

    def make_source_key(self, about: bytes) -> bytes | None:
        """Identify the event as one about a person, a topic or everyone; None without an id of the caller's."""
        if self.id is None:
            return None
        return blake2b(b"\0".join((self.id.encode(), self.name.encode(), about)), digest_size=16).digest()


class Emitted(Struct, frozen=True, kw_only=True):
    """What came of emitting an event."""

    is_awaited: bool
    """Whether a step waits for events of the name, or may; others are not stored."""
    count: int = 0
    """How many events are new: one for each person."""
    unknown: Sequence[SubscriberKey] = ()
    """Those who do not exist."""


async def emit_to_people(db: Connection, happened: Occurrence, keys: Sequence[SubscriberKey], now: Millis) -> Emitted:
    people = await list_subscribers_by_key(db, happened.environment_id, keys)
    unknown = [key for key in keys if key not in people]
    if not await _is_awaited(db, happened):
        return Emitted(is_awaited=False, unknown=unknown)
    rows = [
        store.event_row(
            happened.make_event(now, subscriber_id=person.id),
            lane=lane_of(person.key),
            source_key=happened.make_source_key(person.id),
        )
        for person in people.values()
    ]
    return Emitted(is_awaited=True, count=await store.insert_events(db, rows), unknown=unknown)


async def emit_to_topic(db: Connection, happened: Occurrence, key: TopicKey, now: Millis) -> Emitted:
    topic = await find_topic(db, happened.environment_id, key)
    if topic is None:
        raise Invalid.field("topic", f"there is no topic '{key}'")
    return await _emit_to_many(db, happened, now, topic_id=topic.id)


async def emit_to_everyone(db: Connection, happened: Occurrence, now: Millis) -> Emitted:
    return await _emit_to_many(db, happened, now, topic_id=None)


async def _emit_to_many(db: Connection, happened: Occurrence, now: Millis, *, topic_id: TopicId | None) -> Emitted:
    if not await _is_awaited(db, happened):
        return Emitted(is_awaited=False)
    event = happened.make_event(now, topic_id=topic_id)
    row = store.event_row(event, source_key=happened.make_source_key(topic_id or b""))
    return Emitted(is_awaited=True, count=await store.insert_events(db, [row]))


async def _is_awaited(db: Connection, happened: Occurrence) -> bool:
    return bool(await store.list_awaited_of(db, happened.environment_id, [happened.name]))
