"""Topic subscriptions of a session's subscriber: subscribe, read, change, unsubscribe."""

from msgspec import UnsetType

from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.http.responses import JsonResponse
from clarion.http.wire import TopicKeyText, changes_of
from clarion.ids import TopicKey
from clarion.inbox.sessions.quota import limited_subscriptions
from clarion.inbox.sessions.tokens import get_session_subscriber
from clarion.inbox.topic_subscriptions import (
    OwnSubscriptionIn,
    OwnSubscriptionQuery,
    SuccessOut,
    check_topic,
    find_own,
    get_own,
    join_topic,
    list_own,
    show_subscription,
    subscribe,
    update_own,
)
from clarion.inbox.wire import Reply
from clarion.preferences.topic_rules import update_subscription_preference
from clarion.preferences.wire import (
    SubscriptionPatch,
    SubscriptionPreferenceOut,
    SubscriptionPreferencePatch,
    TopicSubscriptionOut,
)
from clarion.topics import subscriptions
from clarion.topics.model import WorkflowFilter
from clarion.topics.store import delete_unused_topic, find_topic


@operation("GET", "/v1/inbox/topics/{topicKey}/subscriptions", session=True)
async def list_own_subscriptions(call: Call, topic_key: TopicKey) -> Reply[list[TopicSubscriptionOut]]:
    """List one's own subscriptions to a topic."""
    subscriber = await get_session_subscriber(call)
    found = await list_own(call.db, subscriber, topic_key, call.session.context_keys)
    return Reply(data=[await show_subscription(call.db, one) for one in found])


@operation(
    "POST",
    "/v1/inbox/topics/{topicKey}/subscriptions",
    session=True,
    status=201,
    body=OwnSubscriptionIn,
    body_optional=True,
)
async def create_own_subscription(
    call: Call, topic_key: TopicKey, body: OwnSubscriptionIn
) -> Reply[TopicSubscriptionOut]:
    """Subscribe to a topic that is open, which is created if need be; an existing subscription is changed."""
    if not TopicKeyText.accepts(topic_key):
        raise Invalid.field("topicKey", TopicKeyText.RULE, topic_key)
    fields = {} if isinstance(body.topic, UnsetType) else changes_of(body.topic, "name")
    # Topics are locked before people, as everywhere.
    topic, is_new = await join_topic(call.db, call.environment_id, topic_key, call.session, fields, call.now)
    subscriber = await get_session_subscriber(call, for_update=True)
    await check_topic(call.db, topic, subscriber, is_new=is_new)
    keys = call.session.context_keys
    async with limited_subscriptions(call, "preferences"):
        subscription = await subscribe(call.db, topic, subscriber, body, call.now, context_keys=keys)
    return Reply(data=await show_subscription(call.db, subscription))


@operation(
    "GET",
    "/v1/inbox/topics/{topicKey}/subscriptions/{identifier}",
    session=True,
    status=(200, 204),
    query=OwnSubscriptionQuery,
)
async def get_own_subscription(
    call: Call, topic_key: TopicKey, identifier: str, query: OwnSubscriptionQuery
) -> JsonResponse[Reply[TopicSubscriptionOut] | None]:
    """Retrieve one's own subscription to a topic; 204 if there is none."""
    subscriber = await get_session_subscriber(call)
    subscription = await find_own(call.db, subscriber, topic_key, identifier, call.session.context_keys)
    if subscription is None:
        return JsonResponse(204, None)
    wanted = WorkflowFilter(workflow_ids=query.workflow_ids, tags=query.tags)
    is_asked = bool(query.workflow_ids or query.tags)
    shown = await show_subscription(call.db, subscription, wanted if is_asked else None)
    return JsonResponse(200, Reply(data=shown))


@operation(
    "PATCH",
    "/v1/inbox/topics/{topicKey}/subscriptions/{identifier}",
    session=True,
    body=SubscriptionPatch,
    body_optional=True,
)
async def update_own_subscription(
    call: Call, topic_key: TopicKey, identifier: str, body: SubscriptionPatch
) -> Reply[TopicSubscriptionOut]:
    """Change the name or the preferences of one's own subscription to a topic."""
    subscriber = await get_session_subscriber(call, for_update=True)
    subscription = await get_own(call.db, subscriber, topic_key, identifier, call.session.context_keys)
    async with limited_subscriptions(call, "preferences"):
        changed = await update_own(call.db, subscriber, subscription, body, call.now)
    return Reply(data=await show_subscription(call.db, changed))


@operation("DELETE", "/v1/inbox/topics/{topicKey}/subscriptions/{identifier}", session=True)
async def delete_own_subscription(call: Call, topic_key: TopicKey, identifier: str) -> Reply[SuccessOut]:
    """Unsubscribe from a topic; one that people made is deleted with its last subscription."""
    topic = await find_topic(call.db, call.environment_id, topic_key, for_update=True)
    subscriber = await get_session_subscriber(call, for_update=True)
    found = await get_own(call.db, subscriber, topic_key, identifier, call.session.context_keys)
    await subscriptions.delete_subscriptions(call.db, call.environment_id, [found.id])
    if topic is not None:
        await delete_unused_topic(call.db, topic)
    return Reply(data=SuccessOut(success=True))


@operation(
    "PATCH",
    "/v1/inbox/subscriptions/{identifier}/preferences/{workflowId}",
    session=True,
    body=SubscriptionPreferencePatch,
    body_optional=True,
)
async def update_own_subscription_preference(
    call: Call, identifier: str, workflow_id: str, body: SubscriptionPreferencePatch
) -> Reply[SubscriptionPreferenceOut]:
    """Switch a workflow on or off for one's own subscription to a topic, or set a condition for it."""
    subscriber = await get_session_subscriber(call, for_update=True)
    async with limited_subscriptions(call, "condition"):
        subscription, workflow = await update_subscription_preference(
            call.db, subscriber, identifier, workflow_id, body, call.now, context_keys=call.session.context_keys
        )
    return Reply(data=SubscriptionPreferenceOut.of(subscription, workflow))
