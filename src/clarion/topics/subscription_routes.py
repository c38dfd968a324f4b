"""One subscription to a topic, whoever it is of: read it, and change its name and its rules."""

from msgspec import UnsetType

from clarion.db.port import Connection
from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.wire import changes_of
from clarion.ids import EnvironmentId, TopicKey
from clarion.preferences.topic_rules import check_tags, list_subscription_workflows, read_rules
from clarion.preferences.wire import SubscriptionPatch, TopicSubscriptionOut
from clarion.subscribers.store import get_subscriber
from clarion.topics import store, subscriptions
from clarion.topics.model import Subscription
from clarion.topics.subscription_wire import DetailedSubscriptionOut
from clarion.vocabulary import Scope
from clarion.workflows.model import Workflow

SECTION = "Topics"


@operation(
    "GET",
    "/v2/topics/{topicKey}/subscriptions/{identifier}",
    scope=Scope.TOPICS_READ,
    transaction=Transaction.SCAN,
)
async def get_topic_subscription(call: Call, topic_key: TopicKey, identifier: str) -> TopicSubscriptionOut:
    """Retrieve a subscription to a topic by its identifier or `_id`, with its preferences."""
    subscription = await _get_subscription(call.db, call.environment_id, topic_key, identifier)
    return TopicSubscriptionOut.of(subscription, await _list_workflows(call.db, subscription))


@operation(
    "PATCH",
    "/v2/topics/{topicKey}/subscriptions/{identifier}",
    scope=Scope.TOPICS_WRITE,
    body=SubscriptionPatch,
)
async def update_topic_subscription(
    call: Call, topic_key: TopicKey, identifier: str, body: SubscriptionPatch
) -> DetailedSubscriptionOut:
    """Change the name or the preferences of a subscription to a topic; `preferences` replaces all of them."""
    before = await _get_subscription(call.db, call.environment_id, topic_key, identifier)
    fields = changes_of(body, "name")
    if not isinstance(body.preferences, UnsetType):
        await check_tags(call.db, call.environment_id, body.preferences or ())
        fields["rules"] = await read_rules(call.db, call.environment_id, body.preferences)
    # The person's row is locked, as where people change their own subscriptions; then the state is read again.
    await get_subscriber(call.db, call.environment_id, before.member.key, for_update=True)
    current = await subscriptions.list_subscriptions_by_id(call.db, call.environment_id, [before.id])
    if not current:
        raise NotFound("Subscription", identifier)
    changed = await subscriptions.update_subscription(call.db, current[0], fields, call.now)
    return DetailedSubscriptionOut.with_preferences(changed, await _list_workflows(call.db, changed))


async def _get_subscription(
    db: Connection, environment_id: EnvironmentId, topic_key: TopicKey, identifier: str
) -> Subscription:
    topic = await store.get_topic(db, environment_id, topic_key)
    named = await subscriptions.list_by_reference(db, topic, identifier)
    if not named:
        raise NotFound("Subscription", identifier)
    if len(named) > 1:
        message = "names subscriptions of several people to this topic; name one by its `_id` instead"
        raise Invalid.field("identifier", message, identifier)
    return named[0]


async def _list_workflows(db: Connection, subscription: Subscription) -> list[Workflow]:
    filters = [rule.filter for rule in subscription.rules]
    return await list_subscription_workflows(db, subscription.topic.environment_id, filters)
