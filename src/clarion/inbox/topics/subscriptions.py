"""Subscribing to topics oneself."""

from collections.abc import Sequence
from typing import Any

from msgspec import UnsetType

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid, NotFound
from clarion.http.wire import changes_of
from clarion.ids import TopicKey
from clarion.inbox.topics.wire import OwnSubscriptionIn
from clarion.preferences.topic_rules import list_subscription_workflows, read_rules
from clarion.preferences.topic_wire import SubscriptionPatch, TopicSubscriptionOut
from clarion.subscribers.model import Subscriber
from clarion.topics import subscriptions
from clarion.topics.model import MAX_SUBSCRIPTIONS_PER_PERSON, Subscription, Topic, subscription_identifier
from clarion.topics.rules import WorkflowFilter


async def subscribe(
    db: Connection,
    topic: Topic,
    subscriber: Subscriber,
    body: OwnSubscriptionIn,
    now: Millis,
    *,
    context_keys: Sequence[str],
) -> Subscription:
    """Subscribe a person, or change the subscription that they have; the caller has locked both rows."""
    fields = await _read_fields(db, subscriber, body)
    default = subscription_identifier(topic.key, subscriber.key)
    identifier = str(body.identifier or "") or (f"{default}:ctx_{','.join(context_keys)}" if context_keys else default)
    own = await subscriptions.list_own_subscriptions(db, topic.environment_id, subscriber.id, topic.key)
    existing = next((one for one in own if one.identifier == identifier), None)
    if existing is not None:
        return await subscriptions.update_subscription(db, existing, fields, now)
    if len(own) >= MAX_SUBSCRIPTIONS_PER_PERSON:
        raise Invalid.field(
            "identifier", f"would be more than {MAX_SUBSCRIPTIONS_PER_PERSON} subscriptions to this topic; delete one"
        )
    fields["identifier"] = "" if identifier == default else identifier
    await subscriptions.insert_own_subscription(db, topic, subscriber.id, fields, now)
    return await get_own(db, subscriber, topic.key, identifier)


async def update_own(
    db: Connection, subscriber: Subscriber, subscription: Subscription, body: SubscriptionPatch, now: Millis
) -> Subscription:
    """Change name and rules of a subscription; the caller has locked the person's row."""
    return await subscriptions.update_subscription(db, subscription, await _read_fields(db, subscriber, body), now)


async def find_own(db: Connection, subscriber: Subscriber, topic_key: TopicKey, identifier: str) -> Subscription | None:
    own = await subscriptions.list_own_subscriptions(db, subscriber.environment_id, subscriber.id, topic_key)
    return next((one for one in own if one.is_named_by(identifier)), None)


async def get_own(db: Connection, subscriber: Subscriber, topic_key: TopicKey, identifier: str) -> Subscription:
    found = await find_own(db, subscriber, topic_key, identifier)
    if found is None:
        raise NotFound("Subscription", identifier)
    return found


async def show_subscription(
    db: Connection, subscription: Subscription, wanted: WorkflowFilter | None = None
) -> TopicSubscriptionOut:
    """A subscription with its preferences for the wanted workflows, or for those that it has rules for."""
    filters = [rule.filter for rule in subscription.rules] if wanted is None else [wanted]
    workflows = await list_subscription_workflows(db, subscription.topic.environment_id, filters)
    return TopicSubscriptionOut.of(subscription, workflows)


async def _read_fields(db: Connection, subscriber: Subscriber, body: SubscriptionPatch) -> dict[str, Any]:
    fields = changes_of(body, "name")
    if not isinstance(body.preferences, UnsetType):
        fields["rules"] = await read_rules(db, subscriber.environment_id, body.preferences)
    return fields
