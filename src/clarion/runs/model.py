"""A run as a slim row, and what a list, a count or a stream of runs is limited to."""

from collections import Counter
from enum import StrEnum

from msgspec import Struct

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.ids import EnvironmentId, NotificationId, SubscriberId, TriggerId, WorkflowId
from clarion.vocabulary import JobStatus, RunStatus, StepType


class WaitReason(StrEnum):
    """What a waiting run waits for."""

    DELAY = "delay"
    DIGEST = "digest"
    SCHEDULE = "schedule"
    """The hours in which the person wants messages."""
    RETRY = "retry"
    """The next attempt to send, after one that failed."""
    RATE_LIMIT = "rate_limit"
    """Its turn at an integration."""


class RunStep(Struct, frozen=True, kw_only=True):
    type: StepType
    status: JobStatus
    provider_id: str | None


class RunWait(Struct, frozen=True, kw_only=True):
    until: Millis
    reason: WaitReason


class RunRow(Struct, frozen=True, kw_only=True):
    """A run with what a list shows of it."""

    id: NotificationId
    created_at: Millis
    updated_at: Millis
    transaction_key: str
    subscriber_key: str
    subscriber_name: str | None
    workflow_id: WorkflowId
    workflow_key: str
    workflow_name: str
    status: RunStatus
    wait: RunWait | None
    merged_into: NotificationId | None
    steps: tuple[RunStep, ...]


class RunFilter(Struct, frozen=True, kw_only=True):
    """Which runs are wanted, in ids of the store. None: no limit; an empty set: nothing is found."""

    environment_id: EnvironmentId
    statuses: frozenset[int] | None = None
    step_mask: int = 0
    providers: frozenset[str] | None = None
    workflow_ids: frozenset[WorkflowId] | None = None
    subscriber_ids: frozenset[SubscriberId] | None = None
    trigger_ids: frozenset[TriggerId] | None = None
    topic: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing can match."""
        sets = (self.statuses, self.providers, self.workflow_ids, self.subscriber_ids, self.trigger_ids)
        return any(one is not None and not one for one in sets)


class Interval(StrEnum):
    """The length of a bucket of counts."""

    SECOND = "1s"
    TEN_SECONDS = "10s"
    MINUTE = "1m"
    FIVE_MINUTES = "5m"
    QUARTER = "15m"
    HOUR = "1h"
    SIX_HOURS = "6h"
    DAY = "1d"
    WEEK = "7d"

    @property
    def millis(self) -> Millis:
        return _LENGTHS[self]


_LENGTHS = {
    Interval.SECOND: SECOND,
    Interval.TEN_SECONDS: Millis(10 * SECOND),
    Interval.MINUTE: MINUTE,
    Interval.FIVE_MINUTES: Millis(5 * MINUTE),
    Interval.QUARTER: Millis(15 * MINUTE),
    Interval.HOUR: HOUR,
    Interval.SIX_HOURS: Millis(6 * HOUR),
    Interval.DAY: DAY,
    Interval.WEEK: Millis(7 * DAY),
}


class TimeSpan(Struct, frozen=True):
    """A stretch of time, whole buckets long."""

    after: Millis
    before: Millis
    interval: Interval

    @property
    def buckets(self) -> range:
        return range(self.after, self.before, self.interval.millis)


class Counts(Struct, frozen=True):
    span: TimeSpan
    counts: Counter[tuple[int, RunStatus]]
    """By the beginning of the bucket."""
    is_estimated: bool
