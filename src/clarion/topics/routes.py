"""Topics: create, read, change, list, delete, and who is subscribed to them."""

from collections.abc import Sequence

import msgspec

from clarion.contexts.wire import read_keys
from clarion.db.listing import MAX_COUNT, Listing
from clarion.errors import AlreadyExists, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, CursorQuery, list_cursor_page
from clarion.http.responses import JsonResponse
from clarion.http.wire import changes_of
from clarion.ids import SubscriberKey, TopicId, TopicKey
from clarion.subscribers.store import get_subscriber
from clarion.topics import store, subscriptions
from clarion.topics.model import MemberCount, Topic, subscription_identifier
from clarion.topics.wire import (
    CountsQuery,
    CreateTopicQuery,
    SubscriberSubscriptionQuery,
    SubscriptionOut,
    TopicDeletedOut,
    TopicIn,
    TopicMemberOut,
    TopicOut,
    TopicPatch,
    TopicQuery,
    TopicSubscriptionQuery,
)
from clarion.vocabulary import OrderBy, Scope

_LISTED_MEMBERS = 1_000
"""How many members of each topic of a list are counted at most."""


@operation("POST", "/v2/topics", scope=Scope.TOPICS_WRITE, status=(201, 200), query=CreateTopicQuery, body=TopicIn)
async def create_topic(call: Call, query: CreateTopicQuery, body: TopicIn) -> JsonResponse[TopicOut]:
    """Create a topic (201), or change the existing one (200)."""
    topic, created = await store.upsert_topic(
        call.db, call.environment_id, TopicKey(body.key), changes_of(body, "name", "is_open"), call.now
    )
    if query.fail_if_exists and not created:
        raise AlreadyExists(f"Topic '{topic.key}' exists already; leave out failIfExists to update it")
    return JsonResponse(201 if created else 200, TopicOut.of(topic))


@operation("GET", "/v2/topics", scope=Scope.TOPICS_READ, query=TopicQuery, transaction=Transaction.SCAN)
async def list_topics(call: Call, query: TopicQuery) -> CursorPage[TopicOut]:
    """List topics; `key` is matched whole, `name` contains the text, case sensitively."""
    listing = store.topics_listing(call.environment_id, key=query.key, name=query.name)
    page = await list_cursor_page(call.db, listing, query, store.topic_of)
    counts = await _count_members(call, page.data, _LISTED_MEMBERS) if query.include_counts else {}
    return page.with_data([TopicOut.of(one, counts.get(one.id)) for one in page.data])


@operation("GET", "/v2/topics/{topicKey}", scope=Scope.TOPICS_READ, query=CountsQuery, transaction=Transaction.SCAN)
async def get_topic(call: Call, topic_key: TopicKey, query: CountsQuery) -> TopicOut:
    """Retrieve a topic."""
    topic = await store.get_topic(call.db, call.environment_id, topic_key)
    counts = await _count_members(call, [topic], MAX_COUNT) if query.include_counts else {}
    return TopicOut.of(topic, counts.get(topic.id))


@operation("PATCH", "/v2/topics/{topicKey}", scope=Scope.TOPICS_WRITE, body=TopicPatch)
async def update_topic(call: Call, topic_key: TopicKey, body: TopicPatch) -> TopicOut:
    """Change the name of a topic, which null clears, or whether it is open."""
    found = await store.get_topic(call.db, call.environment_id, topic_key, for_update=True)
    return TopicOut.of(await store.update_topic(call.db, found, changes_of(body, "name", "is_open"), call.now))


@operation("DELETE", "/v2/topics/{topicKey}", scope=Scope.TOPICS_WRITE)
async def delete_topic(call: Call, topic_key: TopicKey) -> TopicDeletedOut:
    """Delete a topic and its subscriptions; the subscribers stay."""
    found = await store.get_topic(call.db, call.environment_id, topic_key, for_update=True)
    await store.delete_topic(call.db, call.environment_id, found.id)
    return TopicDeletedOut(acknowledged=True)


@operation(
    "GET",
    "/v2/topics/{topicKey}/subscriptions",
    scope=Scope.TOPICS_READ,
    query=TopicSubscriptionQuery,
    transaction=Transaction.SCAN,
)
async def list_topic_subscriptions(
    call: Call, topic_key: TopicKey, query: TopicSubscriptionQuery
) -> CursorPage[SubscriptionOut]:
    """List who is subscribed to a topic."""
    topic = await store.get_topic(call.db, call.environment_id, topic_key)
    listing = subscriptions.members_listing(
        call.environment_id, topic.id, subscriber_key=query.subscriber_id, context_keys=read_keys(query.context_keys)
    )
    return await _subscriptions_page(call, listing, query)


@operation(
    "GET",
    "/v2/subscribers/{subscriberId}/subscriptions",
    scope=Scope.TOPICS_READ,
    query=SubscriberSubscriptionQuery,
    transaction=Transaction.SCAN,
)
async def list_subscriber_subscriptions(
    call: Call, subscriber_key: SubscriberKey, query: SubscriberSubscriptionQuery
) -> CursorPage[SubscriptionOut]:
    """List the topics that a subscriber is subscribed to."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    listing = subscriptions.memberships_listing(
        call.environment_id, subscriber.id, topic_key=query.key, context_keys=read_keys(query.context_keys)
    )
    return await _subscriptions_page(call, listing, query)


@operation("GET", "/v1/topics/{topicKey}/subscribers/{externalSubscriberId}", scope=Scope.TOPICS_READ)
async def get_topic_member(call: Call, topic_key: TopicKey, subscriber_key: SubscriberKey) -> TopicMemberOut:
    """Check whether a subscriber is in a topic: 404 if not."""
    topic = await store.get_topic(call.db, call.environment_id, topic_key)
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    if not await subscriptions.list_subscription_ids(call.db, topic, [subscriber.id]):
        raise NotFound("Subscription", subscription_identifier(topic.key, subscriber.key))
    return TopicMemberOut.of(topic, subscriber.id, subscriber.key, call.organization_id)


async def _count_members(call: Call, topics: Sequence[Topic], limit: int) -> dict[TopicId, MemberCount]:
    return await store.count_members(call.db, call.environment_id, [one.id for one in topics], limit=limit)


async def _subscriptions_page(call: Call, listing: Listing, query: CursorQuery) -> CursorPage[SubscriptionOut]:
    # Subscriptions rarely change, and have no index by their last update.
    by_creation = msgspec.structs.replace(query, order_by=OrderBy.ID)
    page = await list_cursor_page(call.db, listing, by_creation, lambda row: row["id"])
    found = await subscriptions.list_subscriptions_by_id(call.db, call.environment_id, page.data)
    return page.with_data([SubscriptionOut.of(one) for one in found])
