"""Subscribing to topics oneself: those that are open, and new ones of one's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType, field

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import get_options
from clarion.errors import Invalid, NotFound
from clarion.http.caller import SubscriberSession
from clarion.http.wire import Wire, changes_of
from clarion.ids import EnvironmentId, TopicKey
from clarion.preferences.topic_rules import list_subscription_workflows, read_rules
from clarion.preferences.wire import References, SubscriptionPatch, TopicSubscriptionOut
from clarion.subscribers.model import Subscriber
from clarion.topics import subscriptions
from clarion.topics.model import (
    MAX_SUBSCRIPTIONS_PER_PERSON,
    MAX_TOPICS_PER_PERSON,
    NewSubscription,
    Subscription,
    Topic,
    WorkflowFilter,
    identifier_in_contexts,
    subscription_identifier,
)
from clarion.topics.store import count_made_by, update_topic, upsert_topic
from clarion.topics.wire import SubscriptionIdentifier, TopicName

# The same for a topic that is closed and for one that does not exist: neither is told from the other.
_CLOSED = "is not open to subscribers: only the application subscribes people to it"
_TOO_MANY = (
    f"would be more than {MAX_TOPICS_PER_PERSON} topics that you created; unsubscribe from one that nobody else uses"
)


class NewTopicIn(Wire):
    """Used if the topic does not exist yet."""

    name: TopicName | UnsetType | None = UNSET
    """What people call the new topic."""


class OwnSubscriptionIn(SubscriptionPatch):
    """An empty or absent `identifier` stands for the default one."""

    identifier: SubscriptionIdentifier | UnsetType | None = UNSET
    """Names the subscription; an empty or absent one stands for the default."""
    topic: NewTopicIn | UnsetType = UNSET
    """What a topic gets that does not exist yet."""


class OwnSubscriptionQuery(Wire):
    """The workflows whose preferences are shown; without any, those that the subscription has rules for."""

    workflow_ids: References = field(default_factory=list)
    """The identifiers or `_id`s of workflows whose preferences are shown."""
    tags: References = field(default_factory=list)
    """Workflows with one of these tags are shown too."""


class SuccessOut(Wire):
    success: bool
    """Always true; refusals are errors."""


async def join_topic(
    db: Connection,
    environment_id: EnvironmentId,
    key: TopicKey,
    session: SubscriberSession,
    fields: Mapping[str, Any],
    now: Millis,
) -> tuple[Topic, bool]:
    """Return the topic, locked, and whether the person of the session made it now, with the fields.

    `check_topic` says whether they may, when their row is locked too.
    """
    topic, is_new = await upsert_topic(db, environment_id, key, {}, now, creator_id=session.subscriber_id)
    if is_new and fields:
        topic = await update_topic(db, topic, fields, now)
    return topic, is_new


async def check_topic(db: Connection, topic: Topic, subscriber: Subscriber, *, is_new: bool) -> None:
    """Raise Invalid if the person may neither create the topic nor join it; the caller has locked both rows.

    Whoever is subscribed already may change how, also to a topic that is closed.
    """
    if not is_new:
        if not topic.is_open and not await subscriptions.list_subscription_ids(db, topic, [subscriber.id]):
            raise Invalid.field("topicKey", _CLOSED, topic.key)
        return
    if not (await get_options(db, topic.environment_id)).subscribers_create_topics:
        raise Invalid.field("topicKey", _CLOSED, topic.key)
    if await count_made_by(db, topic.environment_id, subscriber.id) > MAX_TOPICS_PER_PERSON:
        raise Invalid.field("topicKey", _TOO_MANY, topic.key)


async def subscribe(
    db: Connection,
    topic: Topic,
    subscriber: Subscriber,
    body: OwnSubscriptionIn,
    now: Millis,
    *,
    context_keys: tuple[str, ...],
) -> Subscription:
    """Subscribe a person in contexts, or change the subscription that they have; the caller has locked both rows."""
    fields = await _read_fields(db, subscriber, body)
    default = subscription_identifier(topic.key, subscriber.key)
    identifier = str(body.identifier or "") or identifier_in_contexts(topic.key, subscriber.key, context_keys)
    own = await subscriptions.list_own_subscriptions(db, topic.environment_id, subscriber.id, topic.key)
    existing = next((one for one in own if one.identifier == identifier), None)
    if existing is not None and not existing.is_shown_in(context_keys):
        raise Invalid.field("identifier", "names a subscription of yours in another context; choose another one")
    if existing is not None:
        return await subscriptions.update_subscription(db, existing, fields, now)
    if len(own) >= MAX_SUBSCRIPTIONS_PER_PERSON:
        raise Invalid.field(
            "identifier", f"would be more than {MAX_SUBSCRIPTIONS_PER_PERSON} subscriptions to this topic; delete one"
        )
    chosen = "" if identifier == default else identifier
    new = NewSubscription(
        subscriber_id=subscriber.id, chosen_identifier=chosen, context_keys=tuple(sorted(context_keys)), **fields
    )
    await subscriptions.insert_subscriptions(db, topic, [new], now)
    return await get_own(db, subscriber, topic.key, identifier, context_keys)


async def update_own(
    db: Connection, subscriber: Subscriber, subscription: Subscription, body: SubscriptionPatch, now: Millis
) -> Subscription:
    """Change name and rules of a subscription; the caller has locked the person's row."""
    return await subscriptions.update_subscription(db, subscription, await _read_fields(db, subscriber, body), now)


async def list_own(
    db: Connection, subscriber: Subscriber, topic_key: TopicKey, context_keys: Sequence[str]
) -> list[Subscription]:
    """The subscriptions of a person to a topic that messages of exactly these contexts reach, oldest first."""
    own = await subscriptions.list_own_subscriptions(db, subscriber.environment_id, subscriber.id, topic_key)
    return [one for one in own if one.is_shown_in(context_keys)]


async def find_own(
    db: Connection, subscriber: Subscriber, topic_key: TopicKey, identifier: str, context_keys: Sequence[str]
) -> Subscription | None:
    own = await list_own(db, subscriber, topic_key, context_keys)
    return next((one for one in own if one.is_named_by(identifier)), None)


async def get_own(
    db: Connection, subscriber: Subscriber, topic_key: TopicKey, identifier: str, context_keys: Sequence[str]
) -> Subscription:
    subscription = await find_own(db, subscriber, topic_key, identifier, context_keys)
    if subscription is None:
        raise NotFound("Subscription", identifier)
    return subscription


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
