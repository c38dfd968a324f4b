"""From a trigger's recipients to people, a chunk at a time and each person once."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TriggerId, find_id, id_text
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import ensure_subscribers, list_subscribers_by_id, update_subscriber
from clarion.triggers.model import Person, Position, Priority, TopicTarget, Trigger

LIST_MEMBERS = sql("""
    SELECT subscriber_id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = :topic_id AND subscriber_id > :after
    ORDER BY subscriber_id LIMIT :limit
""")
LIST_EVERYONE = sql("""
    SELECT id AS subscriber_id FROM subscribers
    WHERE environment_id = :environment_id AND id > :after ORDER BY id LIMIT :limit
""")
LIST_SERVED = sql("""
    SELECT subscriber_id FROM notifications
    WHERE environment_id = :environment_id AND trigger_id = :trigger_id AND subscriber_id BETWEEN :first AND :last
""")

_FIRST = bytes(16)


class Recipient(Struct, frozen=True):
    """One person of one trigger, and the topic that they came by."""

    trigger: Trigger
    subscriber: Subscriber
    topic: TopicTarget | None
    actor: Subscriber | None


class Progress(Struct, frozen=True):
    """How far a trigger has come; without a position, everyone has a run."""

    trigger_id: TriggerId
    priority: Priority
    position: Position | None


async def expand_triggers(
    db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger], *, limit: int, now: Millis
) -> tuple[list[Recipient], list[Progress]]:
    """The people of the given triggers, in order, until there are `most`; the rest is for a later unit of work."""
    people = await _ensure_people(db, environment_id, triggers, now)
    recipients: list[Recipient] = []
    progress: list[Progress] = []
    for trigger in triggers:
        if len(recipients) >= limit:
            break
        room = limit - len(recipients)
        found, state = await _expand_one(db, environment_id, trigger, people, room=room)
        recipients += found
        progress.append(state)
    return recipients, progress


async def _expand_one(
    db: Connection,
    environment_id: EnvironmentId,
    trigger: Trigger,
    people: dict[SubscriberKey, Subscriber],
    *,
    room: int,
) -> tuple[list[Recipient], Progress]:
    wanted = trigger.recipients
    actor = people[wanted.actor.key] if wanted.actor else None
    found: list[Recipient] = []
    if trigger.position is None:
        found = [Recipient(trigger, people[one.key], None, actor) for one in wanted.people]
        if not wanted.topics and not wanted.everyone:
            return found, Progress(trigger.id, trigger.priority, None)
    position = trigger.position or Position()
    served = {one.subscriber.id for one in found}
    more, position_after = await _expand_crowd(db, environment_id, trigger, position, limit=max(room - len(found), 1))
    for subscriber, topic in more:
        is_own = topic is not None and actor is not None and subscriber.id == actor.id
        if subscriber.id not in served and not is_own:
            served.add(subscriber.id)
            found.append(Recipient(trigger, subscriber, topic, actor))
    if position_after is None:
        return found, Progress(trigger.id, trigger.priority, None)
    # A crowd gives way: it goes on behind everything that is waiting in its environment.
    priority = trigger.priority if trigger.priority is Priority.CRITICAL else Priority.FAN_OUT
    return found, Progress(trigger.id, priority, position_after)


async def _expand_crowd(
    db: Connection, environment_id: EnvironmentId, trigger: Trigger, position: Position, *, limit: int
) -> tuple[list[tuple[Subscriber, TopicTarget | None]], Position | None]:
    """The next people of a topic (or of everyone) who have no run yet, and where to go on; None at the end."""
    topics = trigger.recipients.topics
    topic = topics[position.topic] if position.topic < len(topics) else None
    if topic is None and not trigger.recipients.everyone:
        return [], None
    ids = await _next_ids(db, environment_id, topic, position, limit=limit)
    # The first crowd is gone through once, in order: nobody in it can have a run unless they were named as well.
    is_first = position.topic == 0 and not trigger.recipients.people
    fresh = ids if is_first else await _not_served(db, environment_id, trigger.id, ids)
    known = await list_subscribers_by_id(db, environment_id, fresh)
    excluded = set(topic.exclude) if topic else set()
    found = [(known[one], topic) for one in fresh if one in known and known[one].key not in excluded]
    if len(ids) == limit:
        return found, Position(topic=position.topic, after=id_text(ids[-1]))
    following = Position(topic=position.topic + 1)
    return found, following if following.topic < len(topics) else None


async def _next_ids(
    db: Connection, environment_id: EnvironmentId, topic: TopicTarget | None, position: Position, *, limit: int
) -> list[SubscriberId]:
    after = (find_id(position.after) if position.after else None) or _FIRST
    scope = {"environment_id": environment_id, "after": after, "limit": limit}
    if topic is None:
        rows = await db.fetch(LIST_EVERYONE, **scope)
    else:
        rows = await db.fetch(LIST_MEMBERS, **scope, topic_id=find_id(topic.id))
    return [SubscriberId(row["subscriber_id"]) for row in rows]


async def _not_served(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, ids: Sequence[SubscriberId]
) -> list[SubscriberId]:
    """Those who have no run yet; the ids are in order."""
    if not ids:
        return []
    rows = await db.fetch(LIST_SERVED, environment_id=environment_id, trigger_id=trigger_id, first=ids[0], last=ids[-1])
    served = {row["subscriber_id"] for row in rows}
    return [one for one in ids if one not in served]


async def _ensure_people(
    db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger], now: Millis
) -> dict[SubscriberKey, Subscriber]:
    """Everyone whom the triggers name, made where unknown and changed where a trigger says so."""
    named: list[Person] = []
    for trigger in triggers:
        if trigger.position is None:
            named += trigger.recipients.people
        if trigger.recipients.actor is not None:
            named.append(trigger.recipients.actor)
    found = await ensure_subscribers(db, environment_id, [one.key for one in named], now)
    for one in named:
        if one.fields:
            found[one.key] = await update_subscriber(db, found[one.key], one.fields, now)
    return found
