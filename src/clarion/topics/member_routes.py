"""Subscribing several people to a topic at once, and unsubscribing them."""

from collections.abc import Iterator
from typing import Any

from msgspec import UnsetType

from clarion.contexts.requested import store_contexts
from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.http.wire import TopicKeyText, changes_of
from clarion.ids import SubscriberKey, TopicKey
from clarion.preferences.topic_rules import check_tags, read_rules
from clarion.topics import store, subscribing
from clarion.topics.member_wire import MembersIn, SubscriptionErrorOut, SubscriptionsIn, SubscriptionsOut
from clarion.topics.model import MAX_SUBSCRIPTIONS_BY_APPLICATION, MAX_SUBSCRIPTIONS_PER_CALL
from clarion.topics.subscribing import Subscribed, SubscribeOutcome, WantedSubscriptions
from clarion.vocabulary import Scope

SECTION = "Topics"


@operation("POST", "/v2/topics/{topicKey}/subscriptions", scope=Scope.TOPICS_WRITE, status=201, body=SubscriptionsIn)
async def create_subscriptions(call: Call, topic_key: TopicKey, body: SubscriptionsIn) -> SubscriptionsOut:
    """Subscribe up to 100 people to a topic, which is created if need be; unknown ones are reported, not created.

    With `context`, messages of exactly this context reach them. Subscriptions that exist get the given preferences.
    """
    people = _checked(body.people)
    if not TopicKeyText.accepts(topic_key):
        raise Invalid.field("topicKey", TopicKeyText.RULE, topic_key)
    changes: dict[str, Any] = {}
    if not isinstance(body.preferences, UnsetType):
        await check_tags(call.db, call.environment_id, body.preferences or ())
        changes["rules"] = await read_rules(call.db, call.environment_id, body.preferences)
    context_keys = await store_contexts(call, None if isinstance(body.context, UnsetType) else body.context)
    topic, _ = await store.upsert_topic(call.db, call.environment_id, topic_key, changes_of(body, "name"), call.now)
    wanted = WantedSubscriptions(people=people, context_keys=context_keys, changes=changes)
    outcome = await subscribing.subscribe(call.db, topic, wanted, call.now)
    return SubscriptionsOut.of(outcome, _list_errors(outcome))


@operation("DELETE", "/v2/topics/{topicKey}/subscriptions", scope=Scope.TOPICS_WRITE, body=MembersIn)
async def delete_subscriptions(call: Call, topic_key: TopicKey, body: MembersIn) -> SubscriptionsOut:
    """Take up to 100 people out of a topic, or delete single subscriptions; those who are not in it are reported."""
    people = _checked(body.people)
    topic = await store.get_topic(call.db, call.environment_id, topic_key, for_update=True)
    outcome = await subscribing.unsubscribe(call.db, topic, people)
    return SubscriptionsOut.of(outcome, [_not_subscribed(one, topic_key) for one in outcome.unknown])


def _checked(people: list[Subscribed]) -> list[Subscribed]:
    if not people:
        raise Invalid.field("subscriberIds", "is required, or 'subscriptions' in its place")
    if len(people) > MAX_SUBSCRIPTIONS_PER_CALL:
        raise Invalid.field(
            "subscriptions", f"would make {len(people)} people in one call; the most is {MAX_SUBSCRIPTIONS_PER_CALL}"
        )
    return people


def _list_errors(outcome: SubscribeOutcome) -> Iterator[SubscriptionErrorOut]:
    yield from (_unknown_subscriber(one.key) for one in outcome.unknown)
    for subscription in outcome.elsewhere:
        where = (
            f"of the context {', '.join(subscription.context_keys)}" if subscription.context_keys else "of no context"
        )
        yield SubscriptionErrorOut(
            subscriber_id=subscription.member.key,
            code="SUBSCRIPTION_IN_OTHER_CONTEXT",
            message=f"Subscription '{subscription.identifier}' exists, and is {where}; delete it, or choose another "
            "identifier",
        )
    for person in outcome.too_many:
        limit = MAX_SUBSCRIPTIONS_BY_APPLICATION
        message = f"Subscriber '{person.key}' would have more than {limit} subscriptions to the topic; delete one"
        yield SubscriptionErrorOut(subscriber_id=person.key, code="TOO_MANY_SUBSCRIPTIONS", message=message)


def _unknown_subscriber(key: SubscriberKey) -> SubscriptionErrorOut:
    return SubscriptionErrorOut(
        subscriber_id=key,
        code="SUBSCRIBER_NOT_FOUND",
        message=f"Subscriber '{key}' does not exist in this environment; create it first",
    )


def _not_subscribed(person: Subscribed, topic_key: TopicKey) -> SubscriptionErrorOut:
    how = f" as '{person.identifier}'" if person.identifier else ""
    return SubscriptionErrorOut(
        subscriber_id=person.key,
        code="SUBSCRIPTION_NOT_FOUND",
        message=f"Subscriber '{person.key}' is not subscribed to topic '{topic_key}'{how}",
    )
