"""Shapes of topics and subscriptions."""

from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, UnsetType, field, structs

from clarion.clock import iso_text
from clarion.contexts.wire import ContextKeysFilter
from clarion.http.pages import CursorQuery
from clarion.http.wire import CheckedText, DateTimeText, TopicKeyText, Wire, given
from clarion.ids import OrganizationId, SubscriberId, SubscriberKey, id_text
from clarion.topics.model import (
    MemberCount,
    Rule,
    SubscribedPerson,
    Subscription,
    Topic,
)

TopicName = Annotated[str, Meta(max_length=255)]


class TopicPatch(Wire):
    """Omitted stays as it is, null clears."""

    name: TopicName | UnsetType | None = UNSET
    """What people call the topic; null clears it."""
    is_open: bool | UnsetType = UNSET
    """Whether people may subscribe to it themselves, in their inbox; false for a new topic."""


class TopicIn(TopicPatch):
    key: TopicKeyText
    """Your own id of the topic, by which triggers name it."""


class CreateTopicQuery(Wire):
    fail_if_exists: bool = False


class CountsQuery(Wire):
    include_counts: bool = False
    """Whether to count the members."""


class TopicQuery(CursorQuery):
    key: str | None = None
    """Only the topic with exactly this key."""
    name: str | None = None
    """Only topics whose name contains this text, case-sensitively."""
    include_counts: bool = False
    """Whether to count the members, up to 1000 of each topic."""


class TopicSubscriptionQuery(CursorQuery):
    subscriber_id: str | None = None
    context_keys: ContextKeysFilter | None = None
    """Only those of exactly this context, as `type:id` texts in any order; one empty text is for none."""


class SubscriberSubscriptionQuery(CursorQuery):
    key: str | None = None
    """Only subscriptions to the topic with this key."""
    context_keys: ContextKeysFilter | None = None
    """Only those of exactly this context, as `type:id` texts in any order; one empty text is for none."""


class SubscriptionIdentifier(CheckedText):
    __slots__ = ()
    RULE = "must have at most 512 characters, no control characters and no white space at its ends"
    EXAMPLE = "weekly-digest"
    MAX_LENGTH: ClassVar[int] = 512

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= cls.MAX_LENGTH and (not text or text.isprintable()) and text.strip() == text


class TopicOut(Wire):
    id: str = field(name="_id")
    key: str
    """Your own id of the topic."""
    name: str | UnsetType = UNSET
    """What people call the topic."""
    is_open: bool | UnsetType = UNSET
    """Whether people may subscribe to it themselves; absent in a subscription."""
    created_at: DateTimeText
    updated_at: DateTimeText
    member_count: int | UnsetType = UNSET
    """How many people are subscribed; absent unless `includeCounts` is set."""
    member_count_capped: bool | UnsetType = UNSET
    """Whether there may be more members than were counted."""

    @classmethod
    def of(cls, topic: Topic, count: MemberCount | None = None) -> Self:
        return structs.replace(
            cls.of_subscription(topic),
            is_open=topic.is_open,
            member_count=UNSET if count is None else count.people,
            member_count_capped=UNSET if count is None else count.is_capped,
        )

    @classmethod
    def of_subscription(cls, topic: Topic) -> Self:
        return cls(
            id=id_text(topic.id),
            key=topic.key,
            name=given(topic.name),
            created_at=iso_text(topic.created_at),
            updated_at=iso_text(topic.updated_at),
        )


class TopicSubscriberOut(Wire):
    id: str = field(name="_id")
    subscriber_id: str
    avatar: str | None
    first_name: str | None
    last_name: str | None
    email: str | None

    @classmethod
    def of(cls, member: SubscribedPerson) -> Self:
        return cls(
            id=id_text(member.id),
            subscriber_id=member.key,
            avatar=member.avatar,
            first_name=member.first_name,
            last_name=member.last_name,
            email=member.email,
        )


class SubscriptionRuleOut(Wire):
    """Whether the workflows that are named, and those with one of the tags, reach the person through the topic."""

    workflow_ids: list[str]
    """The identifiers of the workflows that the rule is for."""
    tags: list[str]
    """The rule is also for workflows with one of these tags."""
    enabled: bool
    """Whether these workflows reach the person through the topic."""
    condition: dict[str, Any] | bool | UnsetType = UNSET
    """JSON Logic over the variables of the trigger: these workflows reach the person if it is true."""

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls(
            workflow_ids=rule.filter.workflow_ids,
            tags=rule.filter.tags,
            enabled=rule.enabled,
            condition=given(rule.condition),
        )


class SubscriptionOut(Wire):
    id: str = field(name="_id")
    identifier: str
    """Names the subscription, of which a person may have several for one topic."""
    name: str | UnsetType = UNSET
    """What people call the subscription."""
    topic: TopicOut
    """The topic that the person is subscribed to."""
    subscriber: TopicSubscriberOut
    rules: list[SubscriptionRuleOut] | UnsetType = UNSET
    """What the person decided about workflows of this topic; the first rule that names a workflow decides."""
    context_keys: list[str] | UnsetType = UNSET
    """Messages of exactly this context reach the person, as `type:id` texts; absent: messages of any context."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, subscription: Subscription) -> Self:
        return cls(
            id=id_text(subscription.id),
            identifier=subscription.identifier,
            name=given(subscription.name),
            topic=TopicOut.of_subscription(subscription.topic),
            subscriber=TopicSubscriberOut.of(subscription.member),
            rules=[SubscriptionRuleOut.of(one) for one in subscription.rules] or UNSET,
            context_keys=list(subscription.context_keys) or UNSET,
            created_at=iso_text(subscription.created_at),
            updated_at=iso_text(subscription.updated_at),
        )


class TopicMemberOut(Wire):
    """A subscription as v1 sends it."""

    organization_id: str = field(name="_organizationId")
    environment_id: str = field(name="_environmentId")
    subscriber_id: str = field(name="_subscriberId")
    topic_id: str = field(name="_topicId")
    topic_key: str
    external_subscriber_id: str

    @classmethod
    def of(cls, topic: Topic, subscriber_id: SubscriberId, key: SubscriberKey, organization_id: OrganizationId) -> Self:
        return cls(
            organization_id=id_text(organization_id),
            environment_id=id_text(topic.environment_id),
            subscriber_id=id_text(subscriber_id),
            topic_id=id_text(topic.id),
            topic_key=topic.key,
            external_subscriber_id=key,
        )


class TopicDeletedOut(Wire):
    acknowledged: bool
