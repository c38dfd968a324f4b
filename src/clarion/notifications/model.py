"""Triggered events as records: the run of one workflow for one subscriber, its jobs and their execution details."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec
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
    id_text,
)
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.model import Workflow, WorkflowVersion

_BITS = {kind: 1 << number for number, kind in enumerate(StepType)}


class EventChannel(StrEnum):
    """The step types of the API; it has none for throttling."""

    IN_APP = "in_app"
    EMAIL = "email"
    SMS = "sms"
    CHAT = "chat"
    PUSH = "push"
    DIGEST = "digest"
    TRIGGER = "trigger"
    DELAY = "delay"
    CUSTOM = "custom"


class DetailStatus(StrEnum):
    SUCCESS = "Success"
    WARNING = "Warning"
    FAILED = "Failed"
    PENDING = "Pending"
    QUEUED = "Queued"
    READ_CONFIRMATION = "ReadConfirmation"


class DetailSource(StrEnum):
    CREDENTIALS = "Credentials"
    INTERNAL = "Internal"
    PAYLOAD = "Payload"
    WEBHOOK = "Webhook"


class ExecutionDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One decision or outcome of a job, as it is kept in the job's JSON; `raw` is any JSON value that explains it."""

    id: str = ""
    """Given when it is read: by its place, for details are only ever added at the end."""
    at: Millis
    status: DetailStatus
    detail: str
    source: DetailSource = DetailSource.INTERNAL
    is_retry: bool = False
    is_test: bool = False
    provider_id: str | None = None
    raw: Any = None


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


class Event(Struct, frozen=True, kw_only=True):
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
    """Return the step type as the API shows it: a throttle step is a custom step."""
    return EventChannel.CUSTOM if kind is StepType.THROTTLE else EventChannel(kind)


def step_types_of(channel: EventChannel) -> list[StepType]:
    """List the step types that the API shows as `channel`."""
    return [kind for kind in StepType if event_channel_of(kind) is channel]


def read_details(job_id: JobId, text: str) -> list[ExecutionDetail]:
    """The details of a job by their moment, each with its id."""
    details = [
        detail if detail.id else msgspec.structs.replace(detail, id=_detail_id(job_id, place))
        for place, detail in enumerate(decode_details(text), start=1)
    ]
    return in_time_order(details)


def _detail_id(job_id: JobId, place: int) -> str:
    """An id of its own that is always the same: the job's, moved on by the place."""
    moved = (int.from_bytes(job_id) + place) % (1 << 128)
    return id_text(moved.to_bytes(16))


def in_time_order(details: Iterable[ExecutionDetail]) -> list[ExecutionDetail]:
    """Details by their moment; those of one moment stay in the order they were written."""
    return sorted(details, key=lambda one: one.at)


decode_details = msgspec.json.Decoder(list[ExecutionDetail]).decode

APPENDED_DETAIL = """
    CASE WHEN details = '[]' THEN '[' ELSE substr(details, 1, length(details) - 1) || ',' END || :detail || ']'
"""
"""SQL: the details of a job with one more at the end, for changes of many jobs at once."""
