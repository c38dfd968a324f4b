"""Topics and subscriptions as records."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, SubscriptionId, TopicId, TopicKey

MAX_SUBSCRIPTIONS_PER_CALL = 100


class Topic(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: TopicId
    key: TopicKey
    name: str | None
    created_at: Millis
    updated_at: Millis


class Member(Struct, frozen=True, kw_only=True):
    """The subscriber's fields that a subscription shows."""

    id: SubscriberId
    key: SubscriberKey
    first_name: str | None
    last_name: str | None
    email: str | None
    avatar: str | None


class Subscription(Struct, frozen=True, kw_only=True):
    """One person in one topic; it never changes."""

    id: SubscriptionId
    topic: Topic
    member: Member
    created_at: Millis

    @property
    def identifier(self) -> str:
        return subscription_identifier(self.topic.key, self.member.key)


class SubscribeOutcome(Struct, frozen=True, kw_only=True):
    """The result of a call for several people; both lists are in the order of the call."""

    done: list[Subscription]
    missing: list[SubscriberKey]


def subscription_identifier(topic_key: TopicKey, subscriber_key: SubscriberKey) -> str:
    return f"tk_{topic_key}:si_{subscriber_key}"
