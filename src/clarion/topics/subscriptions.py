"""SQL of subscriptions to topics."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.contexts.model import stored_keys
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, SubscriptionId, TopicId, TopicKey, find_id, new_id
from clarion.jsontext import json_text, json_value
from clarion.topics.model import (
    NewSubscription,
    Rule,
    SubscribedPerson,
    Subscription,
    SubscriptionSizes,
    Topic,
    decode_rules,
)

ContextKeys = Sequence[str] | None
"""Exactly these, none if it is empty, or any (None)."""

_SUBSCRIPTIONS = """
    SELECT
        t.id, t.identifier, t.name, t.preferences, t.context_keys, t.created_at, t.updated_at, t.environment_id,
        t.topic_id,
        topic.key AS topic_key, topic.name AS topic_name, topic.is_open AS topic_is_open, topic.creator_id,
        topic.created_at AS topic_created_at, topic.updated_at AS topic_updated_at,
        t.subscriber_id, member.key AS member_key, member.first_name, member.last_name, member.email, member.avatar
    FROM topic_subscriptions AS t
    JOIN topics AS topic ON topic.environment_id = t.environment_id AND topic.id = t.topic_id
    JOIN subscribers AS member ON member.environment_id = t.environment_id AND member.id = t.subscriber_id
    WHERE t.environment_id = :environment_id
"""
LIST_SUBSCRIPTIONS_BY_ID = sql(f"{_SUBSCRIPTIONS} AND t.id {{any:ids}}")
LIST_SUBSCRIPTION_IDS = sql("""
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = :topic_id AND subscriber_id {any:subscriber_ids}
""")
# Ordered by key, so that two calls lock rows in the same order and cannot deadlock.
LOCK_SUBSCRIBERS = sql("""
    SELECT id, key FROM subscribers WHERE environment_id = :environment_id AND key {any:keys}
    ORDER BY key {for_update}
""")
INSERT_SUBSCRIPTION = sql("""
    INSERT INTO topic_subscriptions (
        environment_id, id, topic_id, subscriber_id, identifier, name, preferences, context_keys, created_at
    ) VALUES (
        :environment_id, :id, :topic_id, :subscriber_id, :identifier, :name, :preferences, :context_keys, :now
    )
""")
UPDATE_SUBSCRIPTION = sql("""
    UPDATE topic_subscriptions SET name = :name, preferences = :preferences, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_SUBSCRIPTIONS = sql("DELETE FROM topic_subscriptions WHERE environment_id = :environment_id AND id {any:ids}")

# Pages list ids alone, so that an index answers page and total; topic and subscriber are read for one page only.
_ID_OF_SUBSCRIBER = "SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :key"
_ID_OF_TOPIC = "SELECT id FROM topics WHERE environment_id = :environment_id AND key = :key"

MEASURE_SUBSCRIPTIONS = sql("""
    SELECT count(*) AS count, COALESCE(
        sum(
            length(identifier) + length(COALESCE(name, '')) + length(COALESCE(preferences, ''))
            + length(COALESCE(context_keys, ''))
        ), 0
    ) AS size
    FROM topic_subscriptions WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
LIST_OWN_IDS = sql(f"""
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = ({_ID_OF_TOPIC}) AND subscriber_id = :subscriber_id
""")
# The subquery makes SQLite use the index of people: without statistics, it takes an environment for a few rows.
LIST_OWN_IDS_BY_REFERENCE = sql(f"""
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM topic_subscriptions WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
    ) AND (identifier = :reference OR id = :id OR (identifier = '' AND topic_id = ({_ID_OF_TOPIC})))
    ORDER BY id
""")


# By `_id`, by the default identifier, or by one that was chosen; people of the same topic may have chosen the same.
LIST_BY_ID_OR_DEFAULT = sql(f"""
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = :topic_id AND id = :id
    UNION
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = :topic_id AND identifier = ''
    AND subscriber_id = ({_ID_OF_SUBSCRIBER})
""")
LIST_BY_IDENTIFIER = sql("""
    SELECT id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id = :topic_id AND identifier = :identifier AND identifier <> ''
    LIMIT 2
""")


async def lock_subscribers(
    db: Connection, environment_id: EnvironmentId, keys: list[SubscriberKey]
) -> dict[SubscriberKey, SubscriberId]:
    """Lock the subscribers that exist until the end of this transaction, so that nobody deletes them."""
    rows = await db.fetch(LOCK_SUBSCRIBERS, environment_id=environment_id, keys=keys)
    return {row["key"]: row["id"] for row in rows}


async def list_own_subscriptions(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, topic_key: TopicKey
) -> list[Subscription]:
    """The subscriptions of one person to a topic, oldest first."""
    scope = {"environment_id": environment_id, "subscriber_id": subscriber_id}
    ids = sorted(row["id"] for row in await db.fetch(LIST_OWN_IDS, **scope, key=topic_key))
    return await list_subscriptions_by_id(db, environment_id, ids)


async def measure_subscriptions(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId
) -> SubscriptionSizes:
    """Return how much the subscriptions of one person are, to all topics together."""
    row = await db.fetch_one(MEASURE_SUBSCRIPTIONS, environment_id=environment_id, subscriber_id=subscriber_id)
    return SubscriptionSizes(0, 0) if row is None else SubscriptionSizes(int(row["count"]), int(row["size"]))


async def list_own_by_reference(
    db: Connection, environment_id: EnvironmentId, subscriber: tuple[SubscriberId, SubscriberKey], reference: str
) -> list[Subscription]:
    """The subscriptions of one person with an identifier or id, to whatever topic; several topics may have one each."""
    subscriber_id, subscriber_key = subscriber
    rows = await db.fetch(
        LIST_OWN_IDS_BY_REFERENCE,
        environment_id=environment_id,
        subscriber_id=subscriber_id,
        reference=reference,
        id=find_id(reference),
        # Of the default identifier.
        key=reference.removeprefix("tk_").removesuffix(f":si_{subscriber_key}"),
    )
    found = await list_subscriptions_by_id(db, environment_id, [row["id"] for row in rows])
    return [one for one in found if one.is_named_by(reference)]


async def list_by_reference(db: Connection, topic: Topic, reference: str) -> list[Subscription]:
    """The subscriptions to a topic with an `_id` or identifier, at most two."""
    scope = {"environment_id": topic.environment_id, "topic_id": topic.id}
    key = reference.removeprefix(f"tk_{topic.key}:si_")
    rows = await db.fetch(LIST_BY_ID_OR_DEFAULT, **scope, id=find_id(reference), key=key)
    found = await list_subscriptions_by_id(db, topic.environment_id, [row["id"] for row in rows])
    named = [one for one in found if one.is_named_by(reference)]
    if named:
        return named
    rows = await db.fetch(LIST_BY_IDENTIFIER, **scope, identifier=reference) if reference else ()
    return await list_subscriptions_by_id(db, topic.environment_id, [row["id"] for row in rows])


async def insert_subscriptions(db: Connection, topic: Topic, new: Iterable[NewSubscription], now: Millis) -> None:
    """Subscribe people; the caller has locked their rows and knows that they do not have the identifiers yet."""
    common = {"environment_id": topic.environment_id, "topic_id": topic.id, "now": now}
    rows = [
        {
            **common,
            "id": new_id(now),
            "subscriber_id": subscription.subscriber_id,
            "identifier": subscription.chosen_identifier,
            "name": subscription.name,
            "preferences": _rules_text(subscription.rules),
            "context_keys": stored_keys(subscription.context_keys) if subscription.context_keys else None,
        }
        for subscription in new
    ]
    await db.execute_many(INSERT_SUBSCRIPTION, rows)


async def update_subscription(
    db: Connection, subscription: Subscription, fields: Mapping[str, Any], now: Millis
) -> Subscription:
    """Change name and rules where they differ; the caller has locked the person's row."""
    changed = replace(subscription, **fields)
    if changed == subscription:
        return subscription
    await db.execute(
        UPDATE_SUBSCRIPTION,
        environment_id=subscription.topic.environment_id,
        id=subscription.id,
        name=changed.name,
        preferences=_rules_text(changed.rules),
        now=now,
    )
    return replace(changed, updated_at=now)


async def delete_subscriptions(db: Connection, environment_id: EnvironmentId, ids: Iterable[SubscriptionId]) -> None:
    await db.execute(DELETE_SUBSCRIPTIONS, environment_id=environment_id, ids=list(ids))


async def list_subscriptions_by_id(
    db: Connection, environment_id: EnvironmentId, ids: list[SubscriptionId]
) -> list[Subscription]:
    """Return the given subscriptions with topic and subscriber, in the order of `ids`."""
    rows = await db.fetch(LIST_SUBSCRIPTIONS_BY_ID, environment_id=environment_id, ids=ids) if ids else ()
    found = {row["id"]: subscription_of(row) for row in rows}
    return [found[one] for one in ids if one in found]


async def list_subscription_ids(
    db: Connection, topic: Topic, subscriber_ids: Iterable[SubscriberId]
) -> list[SubscriptionId]:
    """Return the subscriptions that the given people have to the topic."""
    rows = await db.fetch(
        LIST_SUBSCRIPTION_IDS,
        environment_id=topic.environment_id,
        topic_id=topic.id,
        subscriber_ids=list(subscriber_ids),
    )
    return [row["id"] for row in rows]


def members_listing(
    environment_id: EnvironmentId, topic_id: TopicId, *, subscriber_key: str | None, context_keys: ContextKeys
) -> Listing:
    """List the subscriptions of a topic, or those of a given subscriber; those of exactly some contexts, or of any."""
    where = "t.environment_id = :environment_id AND t.topic_id = :topic_id"
    parameters: dict[str, Any] = {"environment_id": environment_id, "topic_id": topic_id}
    if subscriber_key is not None:
        where += f" AND t.subscriber_id = ({_ID_OF_SUBSCRIBER})"
        parameters["key"] = subscriber_key
    return _subscriptions_listing(where, parameters, context_keys)


def memberships_listing(
    environment_id: EnvironmentId, subscriber_id: SubscriberId, *, topic_key: str | None, context_keys: ContextKeys
) -> Listing:
    """List the subscriptions of a subscriber, or those to a given topic; those of exactly some contexts, or of any."""
    where = "t.environment_id = :environment_id AND t.subscriber_id = :subscriber_id"
    parameters: dict[str, Any] = {"environment_id": environment_id, "subscriber_id": subscriber_id}
    if topic_key is not None:
        where += f" AND t.topic_id = ({_ID_OF_TOPIC})"
        parameters["key"] = topic_key
    return _subscriptions_listing(where, parameters, context_keys)


def _subscriptions_listing(where: str, parameters: dict[str, Any], context_keys: ContextKeys) -> Listing:
    if context_keys:
        where += " AND t.context_keys = :context_keys"
        parameters["context_keys"] = stored_keys(context_keys)
    elif context_keys is not None:
        where += " AND t.context_keys IS NULL"
    return Listing(columns="t.id", source="topic_subscriptions AS t", where=where, parameters=parameters)


def subscription_of(row: Row) -> Subscription:
    return Subscription(
        id=row["id"],
        chosen_identifier=row["identifier"],
        name=row["name"],
        rules=[] if row["preferences"] is None else decode_rules(row["preferences"]),
        context_keys=() if row["context_keys"] is None else tuple(json_value(row["context_keys"])),
        created_at=row["created_at"],
        updated_at=row["created_at"] if row["updated_at"] is None else row["updated_at"],
        topic=Topic(
            environment_id=row["environment_id"],
            id=row["topic_id"],
            key=TopicKey(row["topic_key"]),
            name=row["topic_name"],
            is_open=bool(row["topic_is_open"]),
            creator_id=row["creator_id"],
            created_at=row["topic_created_at"],
            updated_at=row["topic_updated_at"],
        ),
        member=SubscribedPerson(
            id=row["subscriber_id"],
            key=SubscriberKey(row["member_key"]),
            first_name=row["first_name"],
            last_name=row["last_name"],
            email=row["email"],
            avatar=row["avatar"],
        ),
    )


def _rules_text(rules: Sequence[Rule] | None) -> str | None:
    """NULL for no rules: a fan-out looks only at rows that have some."""
    return json_text(rules) if rules else None
