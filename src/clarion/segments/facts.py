"""SQL of what conditions of segments ask about people beside their rows: topics, and channels at providers."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId
from clarion.jsontext import json_value
from clarion.segments.condition import PersonFacts, SegmentCondition

Fetch = Callable[..., Awaitable[Sequence[Row]]]
"""Runs a query in which tables have the prefix `stored.`."""

MAX_SUBSCRIPTIONS: Final = 5_000
"""Of several people who are read together; if they have more, fewer people are read."""

_LIST_TOPICS = """
    SELECT m.subscriber_id, p.key FROM stored.topic_subscriptions AS m
    JOIN stored.topics AS p ON p.environment_id = m.environment_id AND p.id = m.topic_id
    WHERE m.environment_id = :environment_id AND m.subscriber_id {any:ids}
    ORDER BY m.subscriber_id, m.id LIMIT :limit
"""
_LIST_ENTRIES = """
    SELECT c.subscriber_id, i.channel, c.credentials FROM stored.subscriber_channels AS c
    JOIN stored.integrations AS i ON i.environment_id = c.environment_id AND i.id = c.integration_id
    WHERE c.environment_id = :environment_id AND c.subscriber_id {any:ids} AND i.deleted_at IS NULL
"""
_LIST_ENDPOINTS = """
    SELECT DISTINCT e.subscriber_id, i.channel FROM stored.channel_endpoints AS e
    JOIN stored.integrations AS i ON i.environment_id = e.environment_id AND i.id = e.integration_id
    WHERE e.environment_id = :environment_id AND e.subscriber_id {any:ids} AND i.deleted_at IS NULL
"""
_ALL: Final = 1_000_000


def make_fetch(db: Connection) -> Fetch:
    """Reads the store itself; a sandbox has one of its own."""
    return partial(_fetch, db)


async def _fetch(db: Connection, text: str, **parameters: Any) -> Sequence[Row]:
    return await db.fetch(sql(text.replace("stored.", "")), **parameters)


async def list_facts(
    fetch: Fetch,
    environment_id: EnvironmentId,
    ids: Sequence[SubscriberId],
    conditions: Sequence[SegmentCondition],
) -> dict[SubscriberId, PersonFacts]:
    """What the conditions ask about the first of the people; fewer than were asked for if they have many topics."""
    known = list(ids)
    topics: dict[SubscriberId, list[str]] = {}
    if any(one.reads_topics for one in conditions):
        known, topics = await _list_topics(fetch, environment_id, known)
    providers: dict[SubscriberId, list[str]] = {}
    if any(one.reads_channels for one in conditions) and known:
        providers = await _list_providers(fetch, environment_id, known)
    return {one: PersonFacts(topics.get(one, ()), providers.get(one, ())) for one in known}


async def list_all_facts(
    fetch: Fetch,
    environment_id: EnvironmentId,
    ids: Sequence[SubscriberId],
    conditions: Sequence[SegmentCondition],
) -> dict[SubscriberId, PersonFacts]:
    """What the conditions ask about all of a few people."""
    facts: dict[SubscriberId, PersonFacts] = {}
    left = list(dict.fromkeys(ids))
    while left:
        listed = await list_facts(fetch, environment_id, left, conditions)
        facts |= listed
        left = left[len(listed) :]
    return facts


async def _list_topics(
    fetch: Fetch, environment_id: EnvironmentId, ids: list[SubscriberId]
) -> tuple[list[SubscriberId], dict[SubscriberId, list[str]]]:
    """The topics of the first people, and who these are."""
    while True:
        limit = MAX_SUBSCRIPTIONS if len(ids) > 1 else _ALL
        rows = await fetch(_LIST_TOPICS, environment_id=environment_id, ids=ids, limit=limit) if ids else ()
        if len(rows) < limit:
            break
        ids = ids[: max(len(ids) // 2, 1)]
    topics: dict[SubscriberId, dict[str, None]] = {}
    for row in rows:
        topics.setdefault(row["subscriber_id"], {})[row["key"]] = None
    return ids, {one: list(keys) for one, keys in topics.items()}


async def _list_providers(
    fetch: Fetch, environment_id: EnvironmentId, ids: list[SubscriberId]
) -> dict[SubscriberId, list[str]]:
    """The channels in which people have something at a provider: device tokens, webhooks, endpoints."""
    scope = {"environment_id": environment_id, "ids": ids}
    entries = await fetch(_LIST_ENTRIES, **scope)
    endpoints = await fetch(_LIST_ENDPOINTS, **scope)
    rows = [*(row for row in entries if any(json_value(row["credentials"]).values())), *endpoints]
    channels: dict[SubscriberId, list[str]] = {}
    for row in sorted(rows, key=lambda row: str(row["channel"])):
        channels.setdefault(row["subscriber_id"], []).append(row["channel"])
    return channels
