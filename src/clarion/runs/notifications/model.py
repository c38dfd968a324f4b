"""Triggered events as records: the run of one workflow for one subscriber, its jobs and their execution details."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from msgspec import Struct

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
    """The step types of the API; all others are custom."""

    IN_APP = "in_app"
    EMAIL = "email"
    SMS = "sms"
    CHAT = "chat"
    PUSH = "push"
    DIGEST = "digest"
    TRIGGER = "trigger"
    DELAY = "delay"
    CUSTOM = "custom"


_NAMED: frozenset[str] = frozenset(EventChannel)


class Notification(Struct, frozen=True, kw_only=True):
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


class EventOrigin(Struct, frozen=True, kw_only=True):
    """The fields that all runs of one trigger share."""

    transaction_key: TransactionKey
    payload: dict[str, Any]
    overrides: dict[str, Any] | None
    warnings: list[str]
    context_keys: tuple[str, ...]


class EventJob(Struct, frozen=True, kw_only=True):
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


class NotificationDetails(Struct, frozen=True, kw_only=True):
    """A run with everything that its response shape needs."""

    notification: Notification
    origin: EventOrigin
    subscriber: Subscriber
    workflow: Workflow
    version: WorkflowVersion
    jobs: list[EventJob]


def step_mask(kinds: Iterable[StepType]) -> int:
    """Encode a set of step types as a number with one bit for each."""
    mask = 0
    for kind in kinds:
        mask |= _BITS[kind]
    return mask


def step_types(mask: int) -> list[StepType]:
    """Decode a mask into step types, in the order of the vocabulary."""
    return [kind for kind, bit in _BITS.items() if mask & bit]


def event_channel_of(kind: StepType) -> EventChannel:
    """Return the step type as the API shows it: those that it has no name for are custom steps."""
    return EventChannel(kind) if kind in _NAMED else EventChannel.CUSTOM


def step_types_of(channel: EventChannel) -> list[StepType]:
    """List the step types that the API shows as `channel`."""
    return [kind for kind in StepType if event_channel_of(kind) is channel]
