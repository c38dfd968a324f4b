"""Shapes of preferences, and of the rules in subscriptions to topics: which workflows reach the person through them."""

import re
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.contexts.wire import ContextKeysFilter, ContextsIn
from clarion.http.wire import CheckedText, DateTimeText, Wire, given, one_of, parse_checked
from clarion.ids import id_text
from clarion.preferences.model import SOURCES, ChangeReason, DecidingLayer, PreferenceDecision, Source, subject_of
from clarion.subscribers.model import Subscriber
from clarion.topics.model import MAX_RULES, Subscription, find_rule
from clarion.vocabulary import Channel, Criticality
from clarion.workflows.listing import WorkflowSummary
from clarion.workflows.model import Workflow

Reference = Annotated[str, Meta(min_length=1, max_length=512)]
References = Annotated[list[Reference], Meta(max_length=100)]
SubscriptionName = Annotated[str, Meta(max_length=255)]


class PreferenceChannels(Wire):
    email: bool | UnsetType = UNSET
    """Whether e-mails are wanted."""
    sms: bool | UnsetType = UNSET
    """Whether SMS are wanted."""
    in_app: bool | UnsetType = field(name="in_app", default=UNSET)
    """Whether messages in the inbox are wanted."""
    chat: bool | UnsetType = UNSET
    """Whether chat messages are wanted."""
    push: bool | UnsetType = UNSET
    """Whether push messages are wanted."""
    tool: bool | UnsetType = UNSET
    """Whether alerts in tools are wanted."""

    def given(self) -> dict[Channel, bool]:
        values = {channel: getattr(self, channel.value) for channel in Channel}
        return {channel: value for channel, value in values.items() if value is not UNSET}


class TimeText(CheckedText):
    __slots__ = ()
    RULE = "must be a time of day such as 09:00 AM"
    EXAMPLE = "09:00 AM"
    _PATTERN: ClassVar[re.Pattern[str]] = re.compile(r"(0[1-9]|1[0-2]):[0-5][0-9] (AM|PM)")

    @classmethod
    def accepts(cls, text: str) -> bool:
        return cls._PATTERN.fullmatch(text) is not None


class TimeRange(Wire):
    start: TimeText
    """When messages may begin to arrive."""
    end: TimeText
    """When messages stop; a time before `start` is on the next day, and 11:59 PM is midnight."""


class DaySchedule(Wire):
    is_enabled: bool
    """Whether messages are wanted on this day."""
    hours: Annotated[list[TimeRange], Meta(max_length=24)] | UnsetType = UNSET
    """The hours in which they are wanted; without any, the whole day."""


class WeeklySchedule(Wire):
    monday: DaySchedule | UnsetType = UNSET
    """The hours of Mondays; absent: no messages on that day."""
    tuesday: DaySchedule | UnsetType = UNSET
    """The hours of Tuesdays; absent: no messages on that day."""
    wednesday: DaySchedule | UnsetType = UNSET
    """The hours of Wednesdays; absent: no messages on that day."""
    thursday: DaySchedule | UnsetType = UNSET
    """The hours of Thursdays; absent: no messages on that day."""
    friday: DaySchedule | UnsetType = UNSET
    """The hours of Fridays; absent: no messages on that day."""
    saturday: DaySchedule | UnsetType = UNSET
    """The hours of Saturdays; absent: no messages on that day."""
    sunday: DaySchedule | UnsetType = UNSET
    """The hours of Sundays; absent: no messages on that day."""


class Schedule(Wire):
    """The hours in which a subscriber wants to receive messages, in their time zone."""

    is_enabled: bool
    """Whether the schedule applies; if not, messages arrive at any time."""
    weekly_schedule: WeeklySchedule | UnsetType = UNSET
    """The hours of each day, in the time zone of the person; without any day, messages arrive at any time."""


class PreferencesQuery(Wire):
    criticality: Criticality = Criticality.NON_CRITICAL
    context_keys: ContextKeysFilter | None = None
    """What holds for messages of exactly this context, as `type:id` texts; without it, for those without a context."""


class PreferencesPatch(Wire):
    """Preferences for the workflow of `workflowId`, or for all workflows without it."""

    channels: PreferenceChannels | UnsetType = UNSET
    """The channels to switch; those that are left out stay as they are."""
    workflow_id: Annotated[str, Meta(min_length=1, max_length=512)] | UnsetType = UNSET
    """The identifier, `_id` or slug of the workflow; without it, the change is for all workflows."""
    schedule: Schedule | UnsetType = UNSET
    """The hours in which the person wants messages; without it, they stay as they are."""
    context: ContextsIn | UnsetType | None = UNSET
    """Switch the channels for messages of exactly this context alone."""


class WorkflowPreferencePatch(Wire):
    workflow_id: Annotated[str, Meta(min_length=1, max_length=512)]
    """The identifier, `_id` or slug of the workflow."""
    channels: PreferenceChannels
    """The channels to switch; those that are left out stay as they are."""


class BulkPreferencesPatch(Wire):
    preferences: Annotated[list[WorkflowPreferencePatch], Meta(min_length=1, max_length=100)]
    """The changes, one for each workflow: all are done, or none."""
    context: ContextsIn | UnsetType | None = UNSET
    """Switch the channels for messages of exactly this context alone."""


class OverrideOut(Wire):
    channel: Channel
    source: Source
    """Whose decision it is: that of the person, of the workflow or of the team."""
    layer: DecidingLayer
    """Which of the layers decided."""
    reason: Annotated[str, one_of(ChangeReason)] | UnsetType = UNSET
    """What changed it, if not the settings of the person: they unsubscribed, or subscribed again."""


class WorkflowInfo(Wire):
    slug: str
    identifier: str
    """The identifier of the workflow."""
    name: str
    """What people call the workflow."""
    updated_at: DateTimeText


class GlobalPreferenceOut(Wire):
    enabled: bool
    channels: PreferenceChannels
    schedule: Schedule | UnsetType = UNSET

    @classmethod
    def of(cls, subscriber: Subscriber, decision: PreferenceDecision) -> Self:
        return cls(enabled=decision.enabled, channels=channels_out(decision), schedule=schedule_out(subscriber))


class WorkflowPreferenceOut(Wire):
    enabled: bool
    channels: PreferenceChannels
    overrides: list[OverrideOut]
    """For each channel that someone decided about, who did."""
    workflow: WorkflowInfo

    @classmethod
    def of(cls, workflow: Workflow, decision: PreferenceDecision) -> Self:
        return cls(
            enabled=decision.enabled,
            channels=channels_out(decision),
            overrides=overrides_out(decision),
            workflow=WorkflowInfo(
                slug=workflow.slug,
                identifier=workflow.key,
                name=workflow.name,
                updated_at=iso_text(workflow.updated_at),
            ),
        )


class PreferencesOut(Wire):
    global_preference: GlobalPreferenceOut = field(name="global")
    """What the person wants of all workflows."""
    workflows: list[WorkflowPreferenceOut]
    """What holds for each active workflow."""


class ChangedPreferenceOut(Wire):
    """A workflow's preference after a bulk change."""

    level: Literal["template"]
    """Always `template`: it is about one workflow."""
    enabled: bool
    channels: PreferenceChannels
    overrides: list[OverrideOut]
    """For each channel that someone decided about, who did."""
    workflow: WorkflowSummary

    @classmethod
    def of(cls, workflow: Workflow, decision: PreferenceDecision) -> Self:
        return cls(
            level="template",
            enabled=decision.enabled,
            channels=channels_out(decision),
            overrides=overrides_out(decision),
            workflow=WorkflowSummary.of(workflow),
        )


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
    context_keys: list[str] | UnsetType = UNSET
    """Messages of exactly this context reach the person, as `type:id` texts; absent: messages of any context."""

    @classmethod
    def of(cls, subscription: Subscription, workflows: list[Workflow]) -> Self:
        return cls(
            id=id_text(subscription.id),
            identifier=subscription.identifier,
            name=given(subscription.name),
            preferences=[SubscriptionPreferenceOut.of(subscription, one) for one in workflows],
            context_keys=list(subscription.context_keys) or UNSET,
        )


def channels_out(decision: PreferenceDecision) -> PreferenceChannels:
    return PreferenceChannels(**{channel.value: one.enabled for channel, one in decision.channels.items()})


def schedule_out(subscriber: Subscriber) -> Schedule | UnsetType:
    if subscriber.schedule is None:
        return UNSET
    schedule: Schedule = msgspec.convert(subscriber.schedule, Schedule, dec_hook=parse_checked)
    return schedule


def overrides_out(decision: PreferenceDecision) -> list[OverrideOut]:
    return [
        OverrideOut(channel=channel, source=SOURCES[decided.layer], layer=decided.layer, reason=given(decided.reason))
        for channel, decided in decision.channels.items()
        if decided.layer is not None
    ]
