"""Triggered events as records: the run of one workflow for one subscriber, its jobs and what they went through."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clarion.clock import Millis
from clarion.ids import (
    EnvironmentId,
    JobId,
    NotificationId,
    SubscriberId,
    TransactionKey,
    TriggerId,
    WorkflowId,
    WorkflowVersionId,
)
from clarion.jobs.details import ExecutionDetail
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.model import Workflow, WorkflowVersion

_BITS = {kind: 1 << number for number, kind in enumerate(StepType)}


class EventChannel(StrEnum):
    """The step types that the API document knows; it has none for throttling."""

    IN_APP = "in_app"
    EMAIL = "email"
    SMS = "sms"
    CHAT = "chat"
    PUSH = "push"
    DIGEST = "digest"
    TRIGGER = "trigger"
    DELAY = "delay"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """The record of one trigger for one subscriber."""

    environment_id: EnvironmentId
    id: NotificationId
    trigger_id: TriggerId
    workflow_id: WorkflowId
    version_id: WorkflowVersionId
    subscriber_id: SubscriberId
    step_types: int
    recipient: Any
    topics: list[dict[str, str]]
    digested_into: NotificationId | None
    created_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What all runs of one trigger share."""

    transaction_key: TransactionKey
    payload: dict[str, Any]
    overrides: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventJob:
    """One step of a run; `step` is its position in the workflow version."""

    id: JobId
    notification_id: NotificationId
    step: int
    type: StepType
    status: JobStatus
    provider_id: str | None
    digest: dict[str, Any] | None
    details: list[ExecutionDetail]
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A run with everything that telling it takes."""

    notification: Notification
    origin: Origin
    subscriber: Subscriber
    workflow: Workflow
    version: WorkflowVersion
    jobs: list[EventJob]


def step_mask(kinds: Iterable[StepType]) -> int:
    """The set of step types as a number with one bit for each."""
    mask = 0
    for kind in kinds:
        mask |= _BITS[kind]
    return mask


def step_types(mask: int) -> list[StepType]:
    """The step types in a mask, in the order of the vocabulary."""
    return [kind for kind, bit in _BITS.items() if mask & bit]


def shown_channel(kind: StepType) -> EventChannel:
    """The step type as clients know it: throttling is shown as a custom step."""
    return EventChannel.CUSTOM if kind is StepType.THROTTLE else EventChannel(kind)


def hidden_types(channel: EventChannel) -> list[StepType]:
    """Every step type that is shown as `channel`."""
    return [kind for kind in StepType if shown_channel(kind) is channel]
