"""From a trigger to the people it is for, each once.

A trigger for people of one lane starts their runs directly. Any other is split: its people are handed to their lanes
in parts, a chunk of a topic (or of everyone) at a time, and each lane starts the runs of its own parts.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TriggerId, find_id, id_text, new_id
from clarion.jobs.lanes import lane_of
from clarion.jobs.model import Priority
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import ensure_subscribers, list_subscribers_by_id
from clarion.triggers.model import Part, Position, TopicTarget, Trigger
from clarion.triggers.store import insert_parts, list_triggers_by_id

FIRST_CHUNK = 128
"""How many members of a crowd go with the priority of their trigger; the rest goes behind single recipients."""
CHUNK = 2048

LIST_MEMBERS = sql("""
    SELECT t.subscriber_id AS id, s.key FROM topic_subscriptions AS t
    JOIN subscribers AS s ON s.environment_id = t.environment_id AND s.id = t.subscriber_id
    WHERE t.environment_id = :environment_id AND t.topic_id = :topic_id AND t.subscriber_id > :after
    ORDER BY t.subscriber_id LIMIT :limit
""")
LIST_EVERYONE = sql("""
    SELECT id, key FROM subscribers
    WHERE environment_id = :environment_id AND id > :after ORDER BY id LIMIT :limit
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


class Progress(Struct, frozen=True):
    """How far a trigger has come; without a position, each recipient has a run or is in a part."""

    trigger_id: TriggerId
    priority: Priority
    position: Position | None


class _Member(NamedTuple):
    id: SubscriberId
    key: SubscriberKey


async def list_direct_recipients(
    db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger], now: Millis
) -> list[Recipient]:
    """The people of triggers for one lane; those who do not exist are created."""
    keys = [one.key for trigger in triggers for one in trigger.recipients.people]
    people = await ensure_subscribers(db, environment_id, keys + _actor_keys(triggers), now)
    return [
        Recipient(trigger, people[one.key], None, _find_actor(trigger, people), trigger.priority)
        for trigger in triggers
        for one in trigger.recipients.people
    ]


async def split_trigger(db: Connection, environment_id: EnvironmentId, trigger: Trigger, now: Millis) -> Progress:
    """Hand the next recipients of a trigger to their lanes."""
    wanted = trigger.recipients
    if trigger.position is None and wanted.people:
        people = await ensure_subscribers(db, environment_id, [one.key for one in wanted.people], now)
        named = [_Member(people[one.key].id, one.key) for one in wanted.people]
        await _insert_parts(db, trigger, trigger.priority, None, named, now)
    if not wanted.topics and not wanted.everyone:
        return Progress(trigger.id, trigger.priority, None)
    is_first = trigger.position is None
    priority = trigger.priority if is_first else trigger.priority.of_fan_out
    position = trigger.position or Position()
    members, following = await _list_crowd(
        db, environment_id, trigger, position, limit=FIRST_CHUNK if is_first else CHUNK
    )
    topic = position.topic if wanted.topics else None
    await _insert_parts(db, trigger, priority, topic, members, now)
    return Progress(trigger.id, trigger.priority.of_fan_out if following else trigger.priority, following)


async def list_part_recipients(
    db: Connection, environment_id: EnvironmentId, parts: Sequence[Part], now: Millis
) -> list[Recipient]:
    """The people of parts who still exist and have no run of the trigger yet; none of a canceled trigger."""
    if not parts:
        return []
    triggers = await list_triggers_by_id(db, environment_id, [one.trigger_id for one in parts])
    live = [one for one in parts if not triggers[one.trigger_id].is_canceled]
    people = await list_subscribers_by_id(db, environment_id, [one for part in live for one in part.subscriber_ids])
    actors = await ensure_subscribers(db, environment_id, _actor_keys(list(triggers.values())), now)
    served = await _list_served(db, environment_id, live, triggers)
    recipients = []
    for part in live:
        trigger = triggers[part.trigger_id]
        topic = None if part.topic is None else trigger.recipients.topics[part.topic]
        for subscriber_id in part.subscriber_ids:
            if subscriber_id in people and (part.trigger_id, subscriber_id) not in served:
                served.add((part.trigger_id, subscriber_id))
                actor = _find_actor(trigger, actors)
                recipients.append(Recipient(trigger, people[subscriber_id], topic, actor, part.priority))
    return recipients


async def _list_crowd(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, position: Position, *, limit: int
) -> tuple[list[_Member], Position | None]:
    """The next members of a topic (or of everyone), and where to go on; None at the end."""
    topics = trigger.recipients.topics
    after = (find_id(position.after) if position.after else None) or _FIRST
    scope = {"environment_id": environment_id, "after": after, "limit": limit}
    if topics:
        topic = topics[position.topic]
        rows = await db.fetch(LIST_MEMBERS, **scope, topic_id=find_id(topic.id))
        actor = trigger.recipients.actor
        # The actor gets no message of their own action through a topic.
        excluded = {*topic.exclude, *([actor.key] if actor else [])}
    else:
        rows, excluded = await db.fetch(LIST_EVERYONE, **scope), set()
    members = [_Member(row["id"], row["key"]) for row in rows if row["key"] not in excluded]
    if len(rows) == limit:
        return members, Position(topic=position.topic, after=id_text(rows[-1]["id"]))
    return members, Position(topic=position.topic + 1) if position.topic + 1 < len(topics) else None


async def _insert_parts(
    db: Connection, trigger: Trigger, priority: Priority, topic: int | None, members: Sequence[_Member], now: Millis
) -> None:
    by_lane: dict[int, list[SubscriberId]] = {}
    for member in members:
        by_lane.setdefault(lane_of(member.key), []).append(member.id)
    parts = [
        Part(id=new_id(now), trigger_id=trigger.id, priority=priority, lane=lane, topic=topic, subscriber_ids=ids)
        for lane, ids in sorted(by_lane.items())
    ]
    await insert_parts(db, trigger.environment_id, parts)


async def _list_served(
    db: Connection, environment_id: EnvironmentId, parts: Sequence[Part], triggers: dict[TriggerId, Trigger]
) -> set[tuple[TriggerId, SubscriberId]]:
    """Who has a run already, of triggers that can reach a person twice: by name and by topics, or by two topics."""
    wanted: dict[TriggerId, list[SubscriberId]] = {}
    for part in parts:
        recipients = triggers[part.trigger_id].recipients
        if bool(recipients.people) + len(recipients.topics) + recipients.everyone > 1:
            wanted.setdefault(part.trigger_id, []).extend(part.subscriber_ids)
    served = set()
    for trigger_id, ids in wanted.items():
        rows = await db.fetch(LIST_SERVED, environment_id=environment_id, trigger_id=trigger_id, ids=ids)
        served |= {(trigger_id, SubscriberId(row["subscriber_id"])) for row in rows}
    return served


def _actor_keys(triggers: Sequence[Trigger]) -> list[SubscriberKey]:
    return [one.recipients.actor.key for one in triggers if one.recipients.actor is not None]


def _find_actor(trigger: Trigger, people: dict[SubscriberKey, Subscriber]) -> Subscriber | None:
    actor = trigger.recipients.actor
    return None if actor is None else people[actor.key]
