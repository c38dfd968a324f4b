"""Shapes of preferences as the inbox has them."""

from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import Wire
from clarion.preferences.actions import WorkflowDecision
from clarion.preferences.model import PreferenceDecision
from clarion.preferences.wire import (
    ChangedPreferenceOut,
    OverrideOut,
    PreferenceChannels,
    Schedule,
    SubscriptionPreferenceOut,
    SubscriptionPreferencePatch,
    channels_out,
    overrides_out,
    schedule_out,
)
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Criticality, Severity
from clarion.workflows.listing import WorkflowSummary

MAX_BULK = 100


class PreferenceLevel(StrEnum):
    GLOBAL = "global"
    TEMPLATE = "template"


class InboxPreferencesQuery(Wire):
    """Only workflows that have one of the `tags` and one of the severities."""

    criticality: Criticality = Criticality.NON_CRITICAL
    tags: list[str] = field(default_factory=list)
    severity: list[Severity] = field(default_factory=list)


class InboxPreferencePatch(PreferenceChannels):
    schedule: Schedule | UnsetType = UNSET
    """The hours in which the person wants messages; without it, they stay as they are."""


class BulkPreferenceIn(SubscriptionPreferencePatch):
    """For a workflow or, with `subscriptionIdentifier`, for a workflow in a subscription to a topic."""

    workflow_id: Annotated[str, Meta(min_length=1, max_length=512)]
    """The identifier, `_id` or slug of the workflow."""
    subscription_identifier: str | UnsetType = UNSET
    """The identifier of a subscription to a topic, if the change is for it alone."""


class InboxBulkPreferencesPatch(Wire):
    preferences: Annotated[list[BulkPreferenceIn], Meta(min_length=1, max_length=MAX_BULK)]
    """The changes: all are done, or none."""


class InboxPreferenceOut(Wire):
    """The preference for all workflows, with the schedule if there is one, or that for one workflow."""

    level: PreferenceLevel
    """Whether it is about all workflows (`global`) or one (`template`)."""
    enabled: bool
    channels: PreferenceChannels
    overrides: list[OverrideOut] | UnsetType = UNSET
    """For each channel that someone decided about, who did; absent for all workflows."""
    workflow: WorkflowSummary | UnsetType = UNSET
    schedule: Schedule | UnsetType = UNSET

    @classmethod
    def of_all(cls, subscriber: Subscriber, decision: PreferenceDecision) -> Self:
        return cls(
            level=PreferenceLevel.GLOBAL,
            enabled=decision.enabled,
            channels=channels_out(decision),
            schedule=schedule_out(subscriber),
        )

    @classmethod
    def of_workflow(cls, decided: WorkflowDecision) -> Self:
        return cls(
            level=PreferenceLevel.TEMPLATE,
            enabled=decided.decision.enabled,
            channels=channels_out(decided.decision),
            overrides=overrides_out(decided.decision),
            workflow=WorkflowSummary.of(decided.workflow),
        )


class BulkPreferenceOut(Wire):
    """What holds for a workflow now or, with `subscriptionId`, for a workflow in a subscription to a topic."""

    level: PreferenceLevel | UnsetType = UNSET
    """`template` if it is about a workflow; absent if it is about a subscription."""
    subscription_id: str | UnsetType = UNSET
    """The identifier of the subscription; absent if it is about a workflow."""
    enabled: bool
    """Whether the workflow reaches the person."""
    condition: dict[str, Any] | bool | UnsetType = UNSET
    channels: PreferenceChannels | UnsetType = UNSET
    overrides: list[OverrideOut] | UnsetType = UNSET
    """For each channel that someone decided about, who did; absent for a subscription."""
    workflow: WorkflowSummary

    @classmethod
    def of(cls, changed: ChangedPreferenceOut | SubscriptionPreferenceOut) -> Self:
        return cls(**{name: getattr(changed, name) for name in changed.__struct_fields__})
