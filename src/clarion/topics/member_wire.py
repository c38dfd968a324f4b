"""Shapes of subscribing several people to a topic at once, and of unsubscribing them."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.contexts.wire import ContextsIn
from clarion.http.wire import Wire
from clarion.ids import SubscriberKey
from clarion.preferences.wire import RulesIn, SubscriptionName
from clarion.topics.model import MAX_SUBSCRIPTIONS_PER_CALL
from clarion.topics.subscribing import Subscribed, SubscribeOutcome
from clarion.topics.wire import SubscriptionIdentifier, SubscriptionOut, TopicName

_Keys = Annotated[list[str], Meta(min_length=1, max_length=MAX_SUBSCRIPTIONS_PER_CALL)]


class NewMemberIn(Wire):
    """A person to subscribe, and how."""

    subscriber_id: str
    identifier: SubscriptionIdentifier | UnsetType | None = UNSET
    """Names the subscription, of which a person may have several; an empty or absent one stands for the default."""
    name: SubscriptionName | UnsetType | None = UNSET
    """What people call the subscription."""


class MemberIn(Wire):
    """A person to unsubscribe: from everything, or from the subscription that is named."""

    subscriber_id: str
    identifier: SubscriptionIdentifier | UnsetType | None = UNSET
    """The identifier or `_id` of the subscription; without it, all that the person has to the topic are deleted."""


class MembersIn(Wire):
    """Up to 100 people, in either list or both."""

    subscriber_ids: _Keys | None = None
    """Your own ids of the people."""
    subscriptions: Annotated[list[str | MemberIn], Meta(min_length=1, max_length=MAX_SUBSCRIPTIONS_PER_CALL)] | None = (
        None
    )
    """The people, each as a `subscriberId` or as an object with one."""

    @property
    def people(self) -> list[Subscribed]:
        return _list_people(self.subscriber_ids, self.subscriptions)


class SubscriptionsIn(Wire):
    """Up to 100 people to subscribe, in either list or both; `name` names the topic."""

    subscriber_ids: _Keys | None = None
    """Your own ids of the people."""
    subscriptions: (
        Annotated[list[str | NewMemberIn], Meta(min_length=1, max_length=MAX_SUBSCRIPTIONS_PER_CALL)] | None
    ) = None
    """The people, each as a `subscriberId` or as an object with one."""
    name: TopicName | UnsetType | None = UNSET
    """What people call the topic, if the call creates it."""
    context: ContextsIn | UnsetType | None = UNSET
    """The subscriptions are for messages of exactly this context; without it, for messages of any context."""
    preferences: RulesIn | UnsetType | None = UNSET
    """The rules of all these subscriptions, of which the first that names a workflow decides. Null clears them."""

    @property
    def people(self) -> list[Subscribed]:
        return _list_people(self.subscriber_ids, self.subscriptions)


class SubscriptionErrorOut(Wire):
    subscriber_id: str
    code: Literal[
        "SUBSCRIBER_NOT_FOUND", "SUBSCRIPTION_NOT_FOUND", "SUBSCRIPTION_IN_OTHER_CONTEXT", "TOO_MANY_SUBSCRIPTIONS"
    ]
    """Why the person was left out: there is no such subscriber, no subscription to delete, one with the identifier
    that is of another context, or too many subscriptions to the topic."""
    message: str
    """The reason in words."""


class SubscriptionsMeta(Wire):
    total_count: int
    """How many people were named."""
    successful: int
    """For how many of them it was done."""
    failed: int
    """How many of them were left out; `errors` says why."""


class SubscriptionsOut(Wire):
    """The result for each person of a call; `errors` is absent when there is none."""

    data: list[SubscriptionOut]
    """The subscriptions, one for each person that it was done for."""
    meta: SubscriptionsMeta
    """How many there were."""
    errors: list[SubscriptionErrorOut] | UnsetType = UNSET
    """The people that were left out; absent if there are none."""

    @classmethod
    def of(cls, outcome: SubscribeOutcome, errors: Iterable[SubscriptionErrorOut]) -> Self:
        done, left_out = len(outcome.done), list(errors)
        return cls(
            data=[SubscriptionOut.of(one) for one in outcome.done],
            meta=SubscriptionsMeta(total_count=done + len(left_out), successful=done, failed=len(left_out)),
            errors=left_out or UNSET,
        )


def _list_people(keys: list[str] | None, listed: Sequence[str | NewMemberIn | MemberIn] | None) -> list[Subscribed]:
    """The people of both lists without duplicates, in the order of the call."""
    return list(dict.fromkeys([*map(_person, keys or ()), *map(_person, listed or ())]))


def _person(member: str | NewMemberIn | MemberIn) -> Subscribed:
    if isinstance(member, str):
        return Subscribed(key=SubscriberKey(member))
    name = member.name if isinstance(member, NewMemberIn) else None
    return Subscribed(
        key=SubscriberKey(member.subscriber_id),
        identifier="" if isinstance(member.identifier, UnsetType) else str(member.identifier or ""),
        name=None if isinstance(name, UnsetType) else name,
    )
