"""From a trigger to the people it is for, each once.

A unit of work that holds the lanes of a trigger's people starts their runs directly: those of people of one lane, or of
anyone where it holds all lanes. Any other trigger is expanded: its people are handed to their lanes in recipient
batches, a chunk of a topic (or of a segment, or of everyone) at a time, and each lane starts the runs of its own
batches. Triggers wait until those before them are begun to be expanded, so nobody is searched for in that step: it
does not depend on how many people an environment has.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.engine.segments import exclude_actor, make_segment_scan
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TriggerId, find_id, id_text, new_id
from clarion.jobs.lanes import lane_of
from clarion.jobs.model import Priority
from clarion.segments.facts import make_fetch
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import COLUMNS, ensure_subscribers, list_subscribers_by_id, subscriber_of
from clarion.triggers.model import ExpansionPosition, RecipientBatch, TopicTarget, Trigger
from clarion.triggers.store import insert_batches, list_triggers_by_id

FIRST_CHUNK = 128
"""How many members of a fan-out go with the priority of their trigger; the rest goes behind single recipients."""
CHUNK = 8192

_MEMBERS = """
    SELECT %(columns)s FROM topic_subscriptions AS m
    JOIN subscribers AS t ON t.environment_id = m.environment_id AND t.id = m.subscriber_id
    WHERE m.environment_id = :environment_id AND m.topic_id = :topic_id AND m.subscriber_id > :after
    AND (m.context_keys IS NULL OR m.context_keys = :context_keys)
    ORDER BY m.subscriber_id LIMIT :limit
"""
_EVERYONE = """
    SELECT %(columns)s FROM subscribers AS t
    WHERE t.environment_id = :environment_id AND t.id > :after ORDER BY t.id LIMIT :limit
"""
LIST_MEMBERS = sql(_MEMBERS % {"columns": COLUMNS})
LIST_MEMBER_KEYS = sql(_MEMBERS % {"columns": "t.id, t.key"})
LIST_EVERYONE = sql(_EVERYONE % {"columns": COLUMNS})
LIST_KEYS_OF_EVERYONE = sql(_EVERYONE % {"columns": "t.id, t.key"})
LIST_EVERYONE_IN_ZONE = sql(f"""
    SELECT {COLUMNS} FROM subscribers AS t
    WHERE t.environment_id = :environment_id AND t.timezone = :zone AND t.id > :after ORDER BY t.id LIMIT :limit
""")
LIST_SERVED = sql("""
    SELECT subscriber_id FROM notifications
    WHERE environment_id = :environment_id AND trigger_id = :trigger_id AND subscriber_id {any:ids}
""")

_FIRST = bytes(16)


class Recipient(Struct, frozen=True):
    """One person of one trigger, and the topic that they are in."""

    trigger: Trigger
    subscriber: Subscriber
    topic: TopicTarget | None
    actor: Subscriber | None
    priority: Priority
    refusal: dict[str, Any] | None = None
    """Why the person gets nothing: what their subscriptions to the topics say."""


class ExpansionProgress(Struct, frozen=True):
    """How far a trigger has come; without a position, each recipient has a run or is in a batch."""

    trigger_id: TriggerId
    priority: Priority
    position: ExpansionPosition | None


class _Member(NamedTuple):
    id: SubscriberId
    key: SubscriberKey


T = TypeVar("T")


class _Reading(Struct, Generic[T], frozen=True):
    """How much is read of the people of a fan-out."""

    list_members: Query
    list_everyone: Query
    of_row: Callable[[Row], T]
    of_subscriber: Callable[[Subscriber], T]


_WHOLE = _Reading(LIST_MEMBERS, LIST_EVERYONE, subscriber_of, lambda one: one)
_KEYS = _Reading(
    LIST_MEMBER_KEYS,
    LIST_KEYS_OF_EVERYONE,
    lambda row: _Member(row["id"], row["key"]),
    lambda one: _Member(one.id, one.key),
)


async def list_direct_recipients(
    db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger], now: Millis
) -> list[Recipient]:
    """The people of triggers for one lane; those who do not exist are created."""
    keys = [one.key for trigger in triggers for one in trigger.recipients.people]
    people = await ensure_subscribers(db, environment_id, keys + _actor_keys(triggers), now)
    return [
        _recipient(trigger, people[person.key], None, _find_actor(trigger, people), trigger.priority)
        for trigger in triggers
        for person in trigger.recipients.people
    ]


async def take_recipients(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, now: Millis, *, limit: int
) -> tuple[list[Recipient], ExpansionProgress]:
    """The next recipients of a trigger, about `limit` of them; the caller holds all lanes."""
    wanted, is_first = trigger.recipients, trigger.position is None
    named = [one.key for one in wanted.people] if is_first else []
    people = await ensure_subscribers(db, environment_id, named + _actor_keys([trigger]), now)
    actor = _find_actor(trigger, people)
    recipients = [_recipient(trigger, people[key], None, actor, trigger.priority) for key in named]
    if not wanted.is_fan_out:
        return recipients, ExpansionProgress(trigger.id, trigger.priority, None)
    place = _topic_place(trigger)
    room = max(limit - len(recipients), 1)
    members, following = await _list_fan_out(db, environment_id, trigger, _WHOLE, limit=room)
    served = await _list_served(db, environment_id, trigger, [one.id for one in members])
    served |= {one.subscriber.id for one in recipients}
    topic = None if place is None else wanted.topics[place]
    priority = trigger.priority if is_first else trigger.priority.of_fan_out
    recipients += [_recipient(trigger, one, topic, actor, priority) for one in members if one.id not in served]
    return recipients, _progress(trigger, following)


async def expand_trigger(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, now: Millis
) -> ExpansionProgress:
    """Hand the next recipients of a trigger to their lanes."""
    wanted, is_first = trigger.recipients, trigger.position is None
    if is_first and wanted.people:
        people = await ensure_subscribers(db, environment_id, [one.key for one in wanted.people], now)
        named = [_Member(people[one.key].id, one.key) for one in wanted.people]
        await _insert_batches(db, trigger, trigger.priority, None, named, now)
    if not wanted.is_fan_out:
        return ExpansionProgress(trigger.id, trigger.priority, None)
    limit = FIRST_CHUNK if is_first else CHUNK
    members, following = await _list_fan_out(db, environment_id, trigger, _KEYS, limit=limit)
    priority = trigger.priority if is_first else trigger.priority.of_fan_out
    await _insert_batches(db, trigger, priority, _topic_place(trigger), members, now)
    return _progress(trigger, following)


def _progress(trigger: Trigger, following: ExpansionPosition | None) -> ExpansionProgress:
    return ExpansionProgress(trigger.id, trigger.priority.of_fan_out if following else trigger.priority, following)


async def list_batch_recipients(
    db: Connection, environment_id: EnvironmentId, batches: Sequence[RecipientBatch], now: Millis
) -> list[Recipient]:
    """The people of batches who still exist and have no run of the trigger yet; none of a canceled trigger.

    A person of several topics is listed with each of them.
    """
    if not batches:
        return []
    triggers = await list_triggers_by_id(db, environment_id, [one.trigger_id for one in batches])
    live = [one for one in batches if not triggers[one.trigger_id].is_canceled]
    ids_of = {batch.id: batch.subscriber_ids for batch in live}
    people = await list_subscribers_by_id(db, environment_id, [one for ids in ids_of.values() for one in ids])
    actors = await ensure_subscribers(db, environment_id, _actor_keys(list(triggers.values())), now)
    served = set()
    for trigger in triggers.values():
        ids = [one for batch in live if batch.trigger_id == trigger.id for one in ids_of[batch.id]]
        served |= {(trigger.id, one) for one in await _list_served(db, environment_id, trigger, ids)}
    recipients = []
    for batch in live:
        trigger = triggers[batch.trigger_id]
        topic = None if batch.topic is None else trigger.recipients.topics[batch.topic]
        for subscriber_id in ids_of[batch.id]:
            if subscriber_id in people and (batch.trigger_id, subscriber_id) not in served:
                actor = _find_actor(trigger, actors)
                recipients.append(_recipient(trigger, people[subscriber_id], topic, actor, batch.priority))
    return recipients


def _topic_place(trigger: Trigger) -> int | None:
    """The topic whose members come next; None where it is not a topic."""
    place = 0 if trigger.position is None else trigger.position.topic
    return place if place < len(trigger.recipients.topics) else None


async def _list_fan_out(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, reading: _Reading[T], *, limit: int
) -> tuple[list[T], ExpansionPosition | None]:
    """The next people of a topic, of segments or of everyone, and where to go on; None at the end."""
    wanted, position = trigger.recipients, trigger.position or ExpansionPosition()
    if position.topic < len(wanted.topics) or wanted.everyone:
        return await _list_rows(db, environment_id, trigger, reading, position, limit=limit)
    if trigger.position is None:
        return [], position
    after = find_id(position.after) if position.after else None
    scan = make_segment_scan(make_fetch(db), trigger)
    members = await scan.find(None if after is None else SubscriberId(after), limit=limit)
    following = None if members.position is None else replace(position, after=id_text(members.position))
    return [reading.of_subscriber(one) for one in members.people], following


async def _list_rows(
    db: Connection,
    environment_id: EnvironmentId,
    trigger: Trigger,
    reading: _Reading[T],
    position: ExpansionPosition,
    *,
    limit: int,
) -> tuple[list[T], ExpansionPosition | None]:
    """The next members of a topic (or of everyone)."""
    wanted = trigger.recipients
    after = (find_id(position.after) if position.after else None) or _FIRST
    scope = {"environment_id": environment_id, "after": after, "limit": limit}
    zone = wanted.zone
    if zone is not None:
        reading = _with_zone(reading)
    members: Sequence[Row]
    if wanted.everyone and zone is not None and zone.name is not None:
        rows = members = await db.fetch(LIST_EVERYONE_IN_ZONE, **scope, zone=zone.name)
    elif wanted.everyone:
        rows = members = await db.fetch(reading.list_everyone, **scope)
    else:
        topic = wanted.topics[position.topic]
        of_topic = {"topic_id": find_id(topic.id), "context_keys": trigger.context_keys}
        rows = await db.fetch(reading.list_members, **scope, **of_topic)
        excluded = exclude_actor(trigger, topic.exclude)
        members = [row for row in rows if row["key"] not in excluded]
    if zone is not None:
        members = [row for row in members if row["timezone"] == zone.name]
    following = None
    if len(rows) == limit:
        following = replace(position, after=id_text(rows[-1]["id"]))
    elif position.topic + 1 < len(wanted.topics) + bool(wanted.segments):
        following = ExpansionPosition(topic=position.topic + 1)
    return [reading.of_row(row) for row in members], following


def _with_zone(reading: _Reading[T]) -> _Reading[T]:
    """The same, reading whole rows, which alone have the time zone."""
    of_subscriber = reading.of_subscriber
    return _Reading(LIST_MEMBERS, LIST_EVERYONE, lambda row: of_subscriber(subscriber_of(row)), of_subscriber)


async def hand_back(db: Connection, trigger: Trigger, recipients: Sequence[Recipient], now: Millis) -> None:
    """Leave recipients of one trigger to the next unit of work."""
    topics = trigger.recipients.topics
    groups: dict[tuple[Priority, int | None], list[_Member]] = {}
    for recipient in recipients:
        place = None if recipient.topic is None else topics.index(recipient.topic)
        groups.setdefault((recipient.priority, place), []).append(
            _Member(recipient.subscriber.id, recipient.subscriber.key)
        )
    for (priority, place), members in groups.items():
        await _insert_batches(db, trigger, priority, place, members, now)


async def _insert_batches(
    db: Connection, trigger: Trigger, priority: Priority, topic: int | None, members: Sequence[_Member], now: Millis
) -> None:
    by_lane: dict[int, list[SubscriberId]] = {}
    for member in members:
        by_lane.setdefault(lane_of(member.key), []).append(member.id)
    batches = [
        RecipientBatch(
            id=new_id(now), trigger_id=trigger.id, priority=priority, lane=lane, topic=topic, packed_ids=b"".join(ids)
        )
        for lane, ids in sorted(by_lane.items())
    ]
    await insert_batches(db, trigger.environment_id, batches)


async def _list_served(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, ids: Sequence[SubscriberId]
) -> set[SubscriberId]:
    """Which of them have a run already; only a trigger with several ways to a person is asked about."""
    if not ids or not trigger.recipients.has_several_ways:
        return set()
    scope = {"environment_id": environment_id, "trigger_id": trigger.id}
    return {row["subscriber_id"] for row in await db.fetch(LIST_SERVED, **scope, ids=list(ids))}


def _actor_keys(triggers: Sequence[Trigger]) -> list[SubscriberKey]:
    return [one.recipients.actor.key for one in triggers if one.recipients.actor is not None]


def _find_actor(trigger: Trigger, people: dict[SubscriberKey, Subscriber]) -> Subscriber | None:
    actor = trigger.recipients.actor
    return None if actor is None else trigger.recipients.overlay(people[actor.key])


def _recipient(
    trigger: Trigger, subscriber: Subscriber, topic: TopicTarget | None, actor: Subscriber | None, priority: Priority
) -> Recipient:
    return Recipient(trigger, trigger.recipients.overlay(subscriber), topic, actor, priority)
