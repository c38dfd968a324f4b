"""Topics and subscriptions as records."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, SubscriptionId, TopicId, TopicKey, id_text
from clarion.topics.rules import Rule

MAX_SUBSCRIPTIONS_PER_CALL = 100
MAX_SUBSCRIPTIONS_PER_PERSON = 10
"""To one topic."""
MAX_TOPICS_PER_PERSON = 10
"""That they made by subscribing."""


class Topic(Struct, frozen=True, kw_only=True):
    environment_id: EnvironmentId
    id: TopicId
    key: TopicKey
    name: str | None
    is_open: bool
    """Whether people may subscribe themselves."""
    creator_id: SubscriberId | None
    """The person who made it by subscribing; None: the application."""
    created_at: Millis
    updated_at: Millis


class SubscribedPerson(Struct, frozen=True, kw_only=True):
    """The subscriber's fields that a subscription shows."""

    id: SubscriberId
    key: SubscriberKey
    first_name: str | None
    last_name: str | None
    email: str | None
    avatar: str | None


class MemberCount(Struct, frozen=True):
    people: int
    is_capped: bool
    """Whether there may be more."""


class SubscriptionSizes(Struct, frozen=True):
    """Of one person: how many subscriptions, and how long their texts are together."""

    count: int
    size: int


class Subscription(Struct, frozen=True, kw_only=True):
    """One person in one topic. A person may have several subscriptions to a topic, with different identifiers."""

    id: SubscriptionId
    topic: Topic
    member: SubscribedPerson
    chosen_identifier: str
    """Empty: the default one."""
    name: str | None
    rules: list[Rule]
    created_at: Millis
    updated_at: Millis

    @property
    def identifier(self) -> str:
        return self.chosen_identifier or subscription_identifier(self.topic.key, self.member.key)

    def is_named_by(self, reference: str) -> bool:
        """Whether the reference is its identifier or its id."""
        return reference in (self.identifier, id_text(self.id))


class SubscribeOutcome(Struct, frozen=True, kw_only=True):
    """The result of a call for several people; both lists are in the order of the call."""

    done: list[Subscription]
    missing: list[SubscriberKey]


def subscription_identifier(topic_key: TopicKey, subscriber_key: SubscriberKey) -> str:
    return f"tk_{topic_key}:si_{subscriber_key}"
