"""Shapes of preferences."""

import re
from typing import Annotated, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import iso_text
from clarion.http.wire import CheckedText, DateTimeText, Wire, parse_checked
from clarion.preferences.model import SOURCES, DecidingLayer, PreferenceDecision, Source
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel, Criticality
from clarion.workflows.model import Workflow
from clarion.workflows.summary import WorkflowSummary


class PreferenceChannels(Wire):
    email: bool | UnsetType = UNSET
    sms: bool | UnsetType = UNSET
    in_app: bool | UnsetType = field(name="in_app", default=UNSET)
    chat: bool | UnsetType = UNSET
    push: bool | UnsetType = UNSET

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
    end: TimeText


class DaySchedule(Wire):
    is_enabled: bool
    hours: Annotated[list[TimeRange], Meta(max_length=24)] | UnsetType = UNSET


class WeeklySchedule(Wire):
    monday: DaySchedule | UnsetType = UNSET
    tuesday: DaySchedule | UnsetType = UNSET
    wednesday: DaySchedule | UnsetType = UNSET
    thursday: DaySchedule | UnsetType = UNSET
    friday: DaySchedule | UnsetType = UNSET
    saturday: DaySchedule | UnsetType = UNSET
    sunday: DaySchedule | UnsetType = UNSET


class Schedule(Wire):
    """The hours in which a subscriber wants to receive messages, in their time zone."""

    is_enabled: bool
    weekly_schedule: WeeklySchedule | UnsetType = UNSET


class PreferencesQuery(Wire):
    criticality: Criticality = Criticality.NON_CRITICAL


class PreferencesPatch(Wire):
    """Preferences for the workflow of `workflowId`, or for all workflows without it."""

    channels: PreferenceChannels | UnsetType = UNSET
    workflow_id: Annotated[str, Meta(min_length=1, max_length=512)] | UnsetType = UNSET
    schedule: Schedule | UnsetType = UNSET


class WorkflowPreferencePatch(Wire):
    workflow_id: Annotated[str, Meta(min_length=1, max_length=512)]
    channels: PreferenceChannels


class BulkPreferencesPatch(Wire):
    preferences: Annotated[list[WorkflowPreferencePatch], Meta(min_length=1, max_length=100)]


class OverrideOut(Wire):
    channel: Channel
    source: Source
    layer: DecidingLayer
    """Which of the layers decided."""


class WorkflowInfo(Wire):
    slug: str
    identifier: str
    name: str
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
    workflows: list[WorkflowPreferenceOut]


class ChangedPreferenceOut(Wire):
    """A workflow's preference after a bulk change."""

    level: Literal["template"]
    enabled: bool
    channels: PreferenceChannels
    overrides: list[OverrideOut]
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


def channels_out(decision: PreferenceDecision) -> PreferenceChannels:
    return PreferenceChannels(**{channel.value: one.enabled for channel, one in decision.channels.items()})


def schedule_out(subscriber: Subscriber) -> Schedule | UnsetType:
    if subscriber.schedule is None:
        return UNSET
    schedule: Schedule = msgspec.convert(subscriber.schedule, Schedule, dec_hook=parse_checked)
    return schedule


def overrides_out(decision: PreferenceDecision) -> list[OverrideOut]:
    return [
        OverrideOut(channel=channel, source=SOURCES[one.layer], layer=one.layer)
        for channel, one in decision.channels.items()
        if one.layer is not None
    ]
