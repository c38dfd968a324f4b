"""Topics and who is subscribed to them, as records."""

from dataclasses import dataclass

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, SubscriptionId, TopicId, TopicKey

MAX_SUBSCRIPTIONS_PER_CALL = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    environment_id: EnvironmentId
    id: TopicId
    key: TopicKey
    name: str | None
    created_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What a subscription tells of the person behind it."""

    id: SubscriberId
    key: SubscriberKey
    first_name: str | None
    last_name: str | None
    email: str | None
    avatar: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """One person in one topic; it never changes."""

    id: SubscriptionId
    topic: Topic
    member: Member
    created_at: Millis

    @property
    def identifier(self) -> str:
        return subscription_identifier(self.topic.key, self.member.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscribeOutcome:
    """What became of a call for several people, both parts in the order of the call."""

    done: list[Subscription]
    missing: list[SubscriberKey]


def subscription_identifier(topic_key: TopicKey, subscriber_key: SubscriberKey) -> str:
    return f"tk_{topic_key}:si_{subscriber_key}"
