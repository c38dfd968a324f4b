"""Shapes of subscriptions to topics, with the rules that say which workflows reach the person through them."""

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import Wire, given
from clarion.ids import id_text
from clarion.preferences.model import subject_of
from clarion.preferences.wire import PreferenceChannels
from clarion.topics.model import Subscription
from clarion.topics.rules import MAX_RULES, find_rule
from clarion.workflows.model import Workflow
from clarion.workflows.summary import WorkflowSummary

Reference = Annotated[str, Meta(min_length=1, max_length=512)]
References = Annotated[list[Reference], Meta(max_length=100)]
SubscriptionName = Annotated[str, Meta(max_length=255)]


class RuleFilterIn(Wire):
    """The workflows that are named, and those with one of the tags."""

    workflow_ids: References = field(default_factory=list)
    """The identifiers or `_id`s of the workflows."""
    tags: References = field(default_factory=list)
    """Workflows with one of these tags."""


class RuleIn(Wire):
    """A rule for the workflow of `workflowId`, or for those of `filter`."""

    workflow_id: Reference | UnsetType = UNSET
    """The identifier or `_id` of the workflow; without it, `filter` says which."""
    filter: RuleFilterIn | UnsetType = UNSET
    """The workflows that the rule is for, if it is not one alone."""
    enabled: bool = True
    """Whether these workflows reach the person through the topic."""
    condition: dict[str, Any] | bool | None = None
    """JSON Logic over the variables of a trigger: these workflows reach the person if it is true. Null is
    no condition."""


RulesIn = Annotated[list[Reference | RuleIn], Meta(max_length=MAX_RULES)]


class SubscriptionPatch(Wire):
    """Omitted stays as it is, null clears; `preferences` replaces all rules."""

    name: SubscriptionName | UnsetType | None = UNSET
    """What people call the subscription; null clears it."""
    preferences: RulesIn | UnsetType | None = UNSET
    """The rules, of which the first that names a workflow decides; they replace all rules. Null clears them."""


class SubscriptionPreferencePatch(PreferenceChannels):
    """What is to hold for one workflow; a subscription switches all channels together."""

    enabled: bool | UnsetType = UNSET
    """Whether the workflow reaches the person through the topic."""
    condition: dict[str, Any] | bool | UnsetType | None = UNSET


class SubscriptionPreferenceOut(Wire):
    subscription_id: str
    """The identifier of the subscription."""
    enabled: bool
    """Whether the workflow reaches the person through the topic."""
    condition: dict[str, Any] | bool | UnsetType = UNSET
    workflow: WorkflowSummary

    @classmethod
    def of(cls, subscription: Subscription, workflow: Workflow) -> Self:
        rule = find_rule(subscription.rules, subject_of(workflow))
        return cls(
            subscription_id=subscription.identifier,
            enabled=rule is None or rule.enabled,
            condition=UNSET if rule is None else given(rule.condition),
            workflow=WorkflowSummary.of(workflow),
        )


class TopicSubscriptionOut(Wire):
    id: str
    """The `_id` of the subscription."""
    identifier: str
    """Names the subscription, of which a person may have several for one topic."""
    name: str | UnsetType = UNSET
    """What people call the subscription."""
    preferences: list[SubscriptionPreferenceOut]
    """What holds for each workflow that was asked for, or that a rule names."""

    @classmethod
    def of(cls, subscription: Subscription, workflows: list[Workflow]) -> Self:
        return cls(
            id=id_text(subscription.id),
            identifier=subscription.identifier,
            name=given(subscription.name),
            preferences=[SubscriptionPreferenceOut.of(subscription, one) for one in workflows],
        )
