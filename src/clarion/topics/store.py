"""SQL of topics."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound, StoreUnavailable
from clarion.ids import EnvironmentId, SubscriberId, TopicId, TopicKey, new_id
from clarion.topics.model import MemberCount, Topic

_COLUMNS = "t.environment_id, t.id, t.key, t.name, t.is_open, t.creator_id, t.created_at, t.updated_at"

FIND_TOPIC = sql(f"""
    SELECT {_COLUMNS} FROM topics AS t WHERE t.environment_id = :environment_id AND t.key = :key
""")
FIND_TOPIC_FOR_UPDATE = sql(f"""
    SELECT {_COLUMNS} FROM topics AS t WHERE t.environment_id = :environment_id AND t.key = :key {{for_update}}
""")
LIST_TOPICS_BY_KEY = sql(f"""
    SELECT {_COLUMNS} FROM topics AS t WHERE t.environment_id = :environment_id AND t.key {{any:keys}}
""")
INSERT_TOPIC = sql("""
    INSERT INTO topics (environment_id, id, key, name, is_open, creator_id, created_at, updated_at)
    VALUES (:environment_id, :id, :key, :name, :is_open, :creator_id, :now, :now)
    ON CONFLICT (environment_id, key) DO NOTHING
    RETURNING environment_id, id, key, name, is_open, creator_id, created_at, updated_at
""")
UPDATE_TOPIC = sql("""
    UPDATE topics SET name = :name, is_open = :is_open, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
DELETE_SUBSCRIPTIONS_OF_TOPIC = sql("""
    DELETE FROM topic_subscriptions WHERE environment_id = :environment_id AND topic_id = :topic_id
""")
# A person may have several subscriptions to a topic.
COUNT_MEMBERS = sql("""
    SELECT count(*) AS subscriptions, count(DISTINCT subscriber_id) AS people FROM (
        SELECT subscriber_id FROM topic_subscriptions
        WHERE environment_id = :environment_id AND topic_id = :topic_id ORDER BY subscriber_id LIMIT :limit
    ) AS members
""")
COUNT_MADE_BY = sql("""
    SELECT count(*) AS made FROM topics WHERE environment_id = :environment_id AND creator_id = :creator_id
""")
DELETE_UNUSED_TOPIC = sql("""
    DELETE FROM topics WHERE environment_id = :environment_id AND id = :topic_id AND creator_id IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM topic_subscriptions WHERE environment_id = :environment_id AND topic_id = :topic_id
    )
""")
DELETE_TOPIC = sql("DELETE FROM topics WHERE environment_id = :environment_id AND id = :topic_id")


async def find_topic(
    db: Connection, environment_id: EnvironmentId, key: TopicKey, *, for_update: bool = False
) -> Topic | None:
    query = FIND_TOPIC_FOR_UPDATE if for_update else FIND_TOPIC
    row = await db.fetch_one(query, environment_id=environment_id, key=key)
    return None if row is None else topic_of(row)


async def get_topic(db: Connection, environment_id: EnvironmentId, key: TopicKey, *, for_update: bool = False) -> Topic:
    topic = await find_topic(db, environment_id, key, for_update=for_update)
    if topic is None:
        raise NotFound("Topic", key)
    return topic


async def list_topics_by_key(
    db: Connection, environment_id: EnvironmentId, keys: list[TopicKey]
) -> dict[TopicKey, Topic]:
    """Return the topics that exist, by key."""
    rows = await db.fetch(LIST_TOPICS_BY_KEY, environment_id=environment_id, keys=keys)
    return {row["key"]: topic_of(row) for row in rows}


async def upsert_topic(
    db: Connection,
    environment_id: EnvironmentId,
    key: TopicKey,
    fields: Mapping[str, Any],
    now: Millis,
    *,
    creator_id: SubscriberId | None = None,
) -> tuple[Topic, bool]:
    """Create the topic, or change the given fields; returns it and whether it was created.

    One that a person creates is open, one that the application creates is not, unless `fields` say so.
    Its row stays locked, so that it cannot be deleted while people are being subscribed.
    """
    for _ in range(3):
        topic = await find_topic(db, environment_id, key, for_update=True)
        if topic is not None:
            return await update_topic(db, topic, fields, now), False
        row = await db.fetch_one(
            INSERT_TOPIC,
            environment_id=environment_id,
            id=new_id(now),
            key=key,
            name=fields.get("name"),
            is_open=fields.get("is_open", creator_id is not None),
            creator_id=creator_id,
            now=now,
        )
        if row is not None:
            return topic_of(row), True
    raise StoreUnavailable(f"Topic '{key}' keeps being created and deleted")


async def update_topic(db: Connection, topic: Topic, fields: Mapping[str, Any], now: Millis) -> Topic:
    """Write the fields that differ; without any, `updated_at` stays as it is."""
    changed = replace(topic, **fields)
    if changed == topic:
        return topic
    await db.execute(
        UPDATE_TOPIC,
        environment_id=topic.environment_id,
        id=topic.id,
        name=changed.name,
        is_open=changed.is_open,
        now=now,
    )
    return replace(changed, updated_at=now)


async def delete_topic(db: Connection, environment_id: EnvironmentId, topic_id: TopicId) -> None:
    """Delete a topic and its subscriptions."""
    for query in (DELETE_SUBSCRIPTIONS_OF_TOPIC, DELETE_TOPIC):
        await db.execute(query, environment_id=environment_id, topic_id=topic_id)


async def count_made_by(db: Connection, environment_id: EnvironmentId, creator_id: SubscriberId) -> int:
    """Return how many topics a person has made."""
    row = await db.fetch_one(COUNT_MADE_BY, environment_id=environment_id, creator_id=creator_id)
    return 0 if row is None else int(row["made"])


async def delete_unused_topic(db: Connection, topic: Topic) -> None:
    """Delete a topic that a person made if nobody is subscribed to it any more; the caller has locked its row."""
    await db.execute(DELETE_UNUSED_TOPIC, environment_id=topic.environment_id, topic_id=topic.id)


async def count_members(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[TopicId], *, limit: int
) -> dict[TopicId, MemberCount]:
    """Count the people of each topic, looking at up to `limit` subscriptions of each."""
    counts = {}
    for topic_id in ids:
        row = await db.fetch_one(COUNT_MEMBERS, environment_id=environment_id, topic_id=topic_id, limit=limit)
        people, subscriptions = (0, 0) if row is None else (row["people"], row["subscriptions"])
        counts[topic_id] = MemberCount(people, subscriptions >= limit)
    return counts


def topics_listing(environment_id: EnvironmentId, *, key: str | None, name: str | None) -> Listing:
    """List the topics with this key whose name contains this text, case-sensitively."""
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if key is not None:
        conditions.append("t.key = :key")
        parameters["key"] = key
    if name:
        parameters["name"] = name
    return Listing(
        columns=_COLUMNS,
        source="topics AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        unindexed="{position}(t.name, :name) > 0" if name else None,
    )


def topic_of(row: Row) -> Topic:
    return Topic(**{**dict(row), "is_open": bool(row["is_open"])})
