"""Subscribe and unsubscribe many people at once."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.ids import SubscriberKey
from clarion.topics import subscriptions
from clarion.topics.model import SubscribeOutcome, Subscription, Topic


async def subscribe(db: Connection, topic: Topic, keys: list[SubscriberKey], now: Millis) -> SubscribeOutcome:
    """Subscribe those who exist; existing subscriptions are kept. The caller has locked the topic's row."""
    known = await subscriptions.lock_subscribers(db, topic.environment_id, keys)
    await subscriptions.insert_subscriptions(db, topic, [known[key] for key in keys if key in known], now)
    ids = await subscriptions.list_subscription_ids(db, topic, known.values())
    return _outcome(keys, await subscriptions.list_subscriptions_by_id(db, topic.environment_id, ids))


async def unsubscribe(db: Connection, topic: Topic, keys: list[SubscriberKey]) -> SubscribeOutcome:
    """Unsubscribe people and return what was removed; the caller has locked the topic's row."""
    known = await subscriptions.lock_subscribers(db, topic.environment_id, keys)
    ids = await subscriptions.list_subscription_ids(db, topic, known.values())
    removed = await subscriptions.list_subscriptions_by_id(db, topic.environment_id, ids)
    await subscriptions.delete_subscriptions(db, topic.environment_id, ids)
    return _outcome(keys, removed)


def _outcome(keys: list[SubscriberKey], done: list[Subscription]) -> SubscribeOutcome:
    # One for each person: the default subscription, if they have several.
    by_key = {one.member.key: one for one in sorted(done, key=lambda one: not one.chosen_identifier)}
    return SubscribeOutcome(
        done=[by_key[key] for key in keys if key in by_key], missing=[key for key in keys if key not in by_key]
    )
