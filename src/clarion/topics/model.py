"""Topics, subscriptions and their rules as records.

Rules say which workflows reach the person through the topic, and under which conditions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.conditions import OF_SUBSCRIBERS, decide_logic, explain_logic
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, SubscriptionId, TopicId, TopicKey, id_text

MAX_SUBSCRIPTIONS_PER_CALL = 100
MAX_SUBSCRIPTIONS_PER_PERSON = 10
"""To one topic."""
MAX_SUBSCRIPTIONS_BY_APPLICATION = 100
"""Of one person to one topic, however they were made: a fan-out reads all of those with rules."""
MAX_TOPICS_PER_PERSON = 10
"""That they made by subscribing."""

MAX_RULES = 100
"""Of one subscription."""
MAX_RULES_BYTES = 16 * 1024
"""Of one subscription, as JSON: a fan-out reads the rules of hundreds of people at once."""

Variables = Callable[[], Mapping[str, Any]]
"""Makes what conditions see; called only for a rule with a condition."""


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


class Subject(Struct, frozen=True, kw_only=True):
    """What rules ask about a workflow."""

    id: str
    key: str
    tags: Sequence[str]
    is_critical: bool


class WorkflowFilter(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The workflows that are named by id or identifier, and those with one of the tags."""

    workflow_ids: list[str] = []
    tags: list[str] = []

    def includes(self, subject: Subject) -> bool:
        named = subject.id in self.workflow_ids or subject.key in self.workflow_ids
        return named or not set(self.tags).isdisjoint(subject.tags)


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether some workflows reach the person; `condition` is JSON-logic, and None is no condition."""

    filter: WorkflowFilter
    enabled: bool = True
    condition: Any = None

    @property
    def can_refuse(self) -> bool:
        return not self.enabled or self.condition is not None

    def is_about(self, subject: Subject) -> bool:
        """Whether it is for this workflow alone."""
        named = self.filter.workflow_ids
        return not self.filter.tags and len(named) == 1 and named[0] in (subject.id, subject.key)


class Subscription(Struct, frozen=True, kw_only=True):
    """One person in one topic. A person may have several subscriptions to a topic, with different identifiers."""

    id: SubscriptionId
    topic: Topic
    member: SubscribedPerson
    chosen_identifier: str
    """Empty: the default one."""
    context_keys: tuple[str, ...] = ()
    """Messages of exactly these contexts reach the person; of any, if there are none."""
    name: str | None
    rules: list[Rule]
    created_at: Millis
    updated_at: Millis

    @property
    def identifier(self) -> str:
        return self.chosen_identifier or subscription_identifier(self.topic.key, self.member.key)

    def is_shown_in(self, context_keys: Sequence[str]) -> bool:
        """Whether messages of exactly these contexts reach the person through it, so that their inbox shows it."""
        return not self.context_keys or self.context_keys == tuple(sorted(context_keys))

    def is_named_by(self, reference: str) -> bool:
        """Whether the reference is its identifier or its id."""
        return reference in (self.identifier, id_text(self.id))


class NewSubscription(Struct, frozen=True, kw_only=True):
    subscriber_id: SubscriberId
    chosen_identifier: str = ""
    """Empty: the default one."""
    name: str | None = None
    rules: list[Rule] = []
    context_keys: tuple[str, ...] = ()


def subscription_identifier(topic_key: TopicKey, subscriber_key: SubscriberKey) -> str:
    return f"tk_{topic_key}:si_{subscriber_key}"


def identifier_in_contexts(topic_key: TopicKey, subscriber_key: SubscriberKey, context_keys: Sequence[str]) -> str:
    """The identifier of a subscription in contexts for which none was chosen."""
    default = subscription_identifier(topic_key, subscriber_key)
    return f"{default}:ctx_{','.join(context_keys)}" if context_keys else default


def is_of_context(subscription_keys: str | None, trigger_keys: str | None) -> bool:
    """Whether messages of a trigger reach a subscription, by the keys of both as they are stored."""
    return subscription_keys is None or subscription_keys == trigger_keys


def find_rule(rules: Sequence[Rule], subject: Subject) -> Rule | None:
    """The first rule for a workflow, which decides; people cannot switch off a critical workflow."""
    if subject.is_critical:
        return None
    return next((rule for rule in rules if rule.filter.includes(subject)), None)


def decide_rules(rules: Sequence[Rule], subject: Subject, variables: Variables, *, now: Millis) -> bool:
    """Whether a subscription with these rules lets the workflow reach the person."""
    rule = find_rule(rules, subject)
    if rule is None:
        return True
    if not rule.enabled or rule.condition is None:
        return rule.enabled
    return decide_logic(rule.condition, variables(), now=now, limits=OF_SUBSCRIBERS)


def explain_rules(rules: Sequence[Rule], subject: Subject, variables: Variables, *, now: Millis) -> dict[str, Any]:
    """What the rule for a workflow says, and which comparisons its condition made."""
    rule = find_rule(rules, subject)
    if rule is None or not rule.enabled or rule.condition is None:
        return {"enabled": rule is None or rule.enabled}
    explained = explain_logic(rule.condition, variables(), now=now, limits=OF_SUBSCRIBERS)
    return {"enabled": True, "condition": explained.explanation}


def change_rule(rules: Sequence[Rule], subject: Subject, change: Mapping[str, Any]) -> list[Rule]:
    """The rules after changing `enabled` or `condition` for one workflow; those for others decide as before."""
    current = find_rule(rules, subject)
    own = replace(current or Rule(filter=WorkflowFilter()), filter=WorkflowFilter(workflow_ids=[subject.id]), **change)
    # Ahead of the rule that decides now: no rule before that one is for the workflow.
    place = len(rules) if current is None else rules.index(current)
    others = rules[place:] if current is None or not current.is_about(subject) else rules[place + 1 :]
    return [*rules[:place], own, *others]


decode_rules = msgspec.json.Decoder(list[Rule]).decode
