"""What the application does with several people at once: subscribe them to a topic, and unsubscribe them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import SubscriberId, SubscriberKey, SubscriptionId
from clarion.topics import subscriptions
from clarion.topics.model import (
    MAX_SUBSCRIPTIONS_BY_APPLICATION,
    NewSubscription,
    Subscription,
    Topic,
    identifier_in_contexts,
    subscription_identifier,
)

Place = tuple[SubscriberKey, str]
"""A person, and the identifier of one of their subscriptions to a topic."""


class Subscribed(Struct, frozen=True, kw_only=True):
    """Whom a call names, and which of their subscriptions."""

    key: SubscriberKey
    identifier: str = ""
    """Empty: the default one; for unsubscribing, all that the person has."""
    name: str | None = None
    """What people call the subscription; None: what they call it already."""


class WantedSubscriptions(Struct, frozen=True, kw_only=True):
    """What a call subscribes people to."""

    people: Sequence[Subscribed]
    context_keys: tuple[str, ...]
    changes: Mapping[str, Any]
    """Fields that all of the subscriptions get, new ones or not."""


class SubscribeOutcome(Struct, kw_only=True):
    """The result of a call for several people, in the order of the call."""

    done: list[Subscription] = []
    unknown: list[Subscribed] = []
    """Who does not exist, or is not subscribed so."""
    elsewhere: list[Subscription] = []
    """Subscriptions with a wanted identifier that are of other contexts."""
    too_many: list[Subscribed] = []
    """Who has as many subscriptions to the topic as there can be."""


async def subscribe(db: Connection, topic: Topic, wanted: WantedSubscriptions, now: Millis) -> SubscribeOutcome:
    """Subscribe those who exist; subscriptions that exist get the changes. The caller has locked the topic's row."""
    known = await subscriptions.lock_subscribers(db, topic.environment_id, [one.key for one in wanted.people])
    existing = await _list_existing(db, topic, known)
    outcome = SubscribeOutcome(unknown=[one for one in wanted.people if one.key not in known])
    named = {(one.key, _identifier(topic, one, wanted)): one for one in wanted.people if one.key in known}
    new = {place: one for place, one in named.items() if place not in existing}
    for place in _list_beyond_limit(new, existing):
        outcome.too_many.append(new.pop(place))
    for place, person in named.items():
        if place in existing and existing[place].context_keys == wanted.context_keys:
            await subscriptions.update_subscription(db, existing[place], _changes(person, wanted), now)
        elif place in existing:
            outcome.elsewhere.append(existing[place])
    rows = [_new(topic, place, known[place[0]], one, wanted) for place, one in new.items()]
    await subscriptions.insert_subscriptions(db, topic, rows, now)
    made = await _list_existing(db, topic, known)
    outcome.done = [made[one] for one in named if one in made and made[one].context_keys == wanted.context_keys]
    return outcome


async def unsubscribe(db: Connection, topic: Topic, people: Sequence[Subscribed]) -> SubscribeOutcome:
    """Delete subscriptions and return what was removed; the caller has locked the topic's row."""
    known = await subscriptions.lock_subscribers(db, topic.environment_id, [one.key for one in people])
    existing = await _list_existing(db, topic, known)
    outcome = SubscribeOutcome()
    removed: dict[SubscriptionId, Subscription] = {}
    for person in people:
        own = [found for (key, _), found in existing.items() if key == person.key and _is_meant(person, found)]
        removed |= {subscription.id: subscription for subscription in own}
        # One of a person is told: the default subscription, if they have several.
        outcome.done += sorted(own, key=lambda subscription: bool(subscription.chosen_identifier))[:1]
        outcome.unknown += [] if own else [person]
    await subscriptions.delete_subscriptions(db, topic.environment_id, removed)
    return outcome


async def _list_existing(
    db: Connection, topic: Topic, known: Mapping[SubscriberKey, SubscriberId]
) -> dict[Place, Subscription]:
    """The subscriptions of people to the topic, by person and identifier."""
    ids = await subscriptions.list_subscription_ids(db, topic, known.values())
    found = await subscriptions.list_subscriptions_by_id(db, topic.environment_id, ids)
    return {(one.member.key, one.identifier): one for one in found}


def _is_meant(person: Subscribed, subscription: Subscription) -> bool:
    return not person.identifier or subscription.is_named_by(person.identifier)


def _list_beyond_limit(new: Iterable[Place], existing: Iterable[Place]) -> list[Place]:
    """Those of the new subscriptions that are too many for their person."""
    counts = Counter(key for key, _ in existing)
    beyond = []
    for place in new:
        counts[place[0]] += 1
        if counts[place[0]] > MAX_SUBSCRIPTIONS_BY_APPLICATION:
            beyond.append(place)
    return beyond


def _identifier(topic: Topic, person: Subscribed, wanted: WantedSubscriptions) -> str:
    return person.identifier or identifier_in_contexts(topic.key, person.key, wanted.context_keys)


def _changes(person: Subscribed, wanted: WantedSubscriptions) -> dict[str, Any]:
    return {**wanted.changes, **({} if person.name is None else {"name": person.name})}


def _new(
    topic: Topic, place: Place, subscriber_id: SubscriberId, person: Subscribed, wanted: WantedSubscriptions
) -> NewSubscription:
    key, identifier = place
    return NewSubscription(
        subscriber_id=subscriber_id,
        chosen_identifier="" if identifier == subscription_identifier(topic.key, key) else identifier,
        context_keys=wanted.context_keys,
        **_changes(person, wanted),
    )
