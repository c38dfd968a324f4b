"""Which topics people may subscribe to themselves: those that are open, and new ones of their own."""

from collections.abc import Mapping
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.store import get_options
from clarion.errors import Invalid
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, TopicKey
from clarion.subscribers.model import Subscriber
from clarion.topics.model import MAX_TOPICS_PER_PERSON, Topic
from clarion.topics.store import count_made_by, update_topic, upsert_topic
from clarion.topics.subscriptions import list_subscription_ids

# The same for a topic that is closed and for one that does not exist: neither is told from the other.
_CLOSED = "is not open to subscribers: only the application subscribes people to it"
_TOO_MANY = (
    f"would be more than {MAX_TOPICS_PER_PERSON} topics that you created; unsubscribe from one that nobody else uses"
)


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
        if not topic.is_open and not await list_subscription_ids(db, topic, [subscriber.id]):
            raise Invalid.field("topicKey", _CLOSED, topic.key)
        return
    if not (await get_options(db, topic.environment_id)).subscribers_create_topics:
        raise Invalid.field("topicKey", _CLOSED, topic.key)
    if await count_made_by(db, topic.environment_id, subscriber.id) > MAX_TOPICS_PER_PERSON:
        raise Invalid.field("topicKey", _TOO_MANY, topic.key)
