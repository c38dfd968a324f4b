"""Shapes of runs: filters, slim rows, counts and events of the stream."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import Millis, iso_text
from clarion.http.wire import DateTimeText, IdText, MomentText, Wire, given
from clarion.ids import id_text
from clarion.providers.builtin import BuiltinNames
from clarion.runs.model import Counts, Interval, RunRow, WaitReason
from clarion.vocabulary import JobStatus, RunStatus, StepType

MAX_VALUES = 50
"""How many values a filter takes."""

_Texts = Annotated[tuple[str, ...], Meta(max_length=MAX_VALUES)]


class RunFilterQuery(Wire):
    """Filters are combined; of several values of one filter, one has to match."""

    status: Annotated[tuple[RunStatus, ...], Meta(max_length=MAX_VALUES)] = ()
    step_type: Annotated[tuple[StepType, ...], Meta(max_length=MAX_VALUES)] = ()
    provider_id: _Texts = ()
    workflow_id: _Texts = ()
    subscriber_id: _Texts = ()
    transaction_id: _Texts = ()
    topic_key: str | None = None


class RunQuery(RunFilterQuery):
    after: MomentText | None = None
    """Only runs that began at this moment or later."""
    before: MomentText | None = None
    """Only runs that began at this moment or earlier."""
    cursor: IdText | None = None
    """The `next` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 100


class RunCountsQuery(RunFilterQuery):
    after: MomentText | None = None
    """When the time begins that is counted; by default a day before it ends."""
    before: MomentText | None = None
    """When the time ends that is counted; by default now."""
    interval: Interval | None = None
    """How long a bucket is; by default one that suits the time."""


class RunStreamQuery(RunFilterQuery):
    after: MomentText | None = None
    """Send what happened since this moment first, such as the `id` of the last event; by default only what happens from
    now on."""


class RunSubscriberOut(Wire):
    subscriber_id: str
    name: str | UnsetType = UNSET
    """The first and last name of the person."""


class RunWorkflowOut(Wire):
    id: str = field(name="_id")
    workflow_id: str
    name: str
    """What people call the workflow."""


class StepOutcomeOut(Wire):
    type: StepType
    """What the step does."""
    status: JobStatus
    """What has become of the step."""
    provider_id: str | UnsetType = UNSET
    """The provider that sent it; absent if none did."""


class RunOut(Wire):
    """A run as one row of a list; `/v1/notifications/{notificationId}` has everything about it."""

    id: str = field(name="_id")
    status: RunStatus
    """What has become of the run."""
    waiting_until: DateTimeText | UnsetType = UNSET
    """When a waiting run goes on."""
    waiting_for: WaitReason | UnsetType = UNSET
    """Why a run waits."""
    merged_into: str | UnsetType = UNSET
    """The `_id` of the run whose digest took it in."""
    transaction_id: str
    subscriber: RunSubscriberOut
    workflow: RunWorkflowOut
    """The workflow that it is a run of."""
    steps: list[StepOutcomeOut]
    """What has become of each step, in their order."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, row: RunRow, names: BuiltinNames) -> Self:
        return cls(
            id=id_text(row.id),
            status=row.status,
            waiting_until=UNSET if row.wait is None else iso_text(row.wait.until),
            waiting_for=UNSET if row.wait is None else row.wait.reason,
            merged_into=UNSET if row.merged_into is None else id_text(row.merged_into),
            transaction_id=row.transaction_key,
            subscriber=RunSubscriberOut(subscriber_id=row.subscriber_key, name=given(row.subscriber_name)),
            workflow=RunWorkflowOut(id=id_text(row.workflow_id), workflow_id=row.workflow_key, name=row.workflow_name),
            steps=[
                StepOutcomeOut(
                    type=step.type,
                    status=step.status,
                    provider_id=UNSET if step.provider_id is None else names.to_wire(step.provider_id),
                )
                for step in row.steps
            ],
            created_at=iso_text(row.created_at),
            updated_at=iso_text(row.updated_at),
        )


class RunPage(Wire):
    """Runs, newest first.

    A page may be short, or empty, although there is a `next`: filters that match few runs are searched for a limited
    time. `searchedUntil` says how far back this page looked; ask for the next one with `cursor` to look further.
    """

    data: list[RunOut]
    next: str | None
    """The cursor of the next page, for `cursor`; null if there is nothing older."""
    searched_until: DateTimeText | None
    """How far back this page looked; null if there was nothing to look at."""


class RunBucketOut(Wire):
    at: DateTimeText
    """When the bucket begins."""
    total: int
    """How many runs began in it."""
    statuses: dict[RunStatus, int]
    """How many of them have which status now."""


class RunCountsOut(Wire):
    """How many runs began in each bucket of time, by their status now."""

    interval: Interval
    """How long each bucket is."""
    estimated: bool
    """Whether the counts come from samples, because there are too many runs to count in time."""
    total: int
    """How many runs there are in all buckets."""
    buckets: list[RunBucketOut]
    """The buckets, the oldest first, with empty ones."""

    @classmethod
    def of(cls, counts: Counts) -> Self:
        by_bucket: dict[int, dict[RunStatus, int]] = {}
        for (bucket, status), count in counts.counts.items():
            if count:
                by_bucket.setdefault(bucket, {})[status] = count
        buckets = [
            RunBucketOut(at=iso_text(Millis(at)), total=sum(statuses.values()), statuses=statuses)
            for at in counts.span.buckets
            for statuses in [by_bucket.get(at, {})]
        ]
        total = sum(one.total for one in buckets)
        return cls(interval=counts.span.interval, estimated=counts.is_estimated, total=total, buckets=buckets)


class RunsSampledOut(Wire):
    """More runs appeared than a listener is sent: these were left out."""

    left_out: int
    """How many runs were left out."""


class RunsMissedOut(Wire):
    """The listener fell behind, or came back too late: these runs were not sent. List them with `/v1/runs`."""

    count: int
    """How many runs were not sent."""
    at_least: bool
    """Whether there may be more than that."""
    after: DateTimeText
    """When the time begins in which runs were missed."""
    before: DateTimeText
    """When the time ends in which runs were missed."""


class RunsEndOut(Wire):
    """The last event: why the service ends the stream."""

    reason: str
    """Why the stream ends, in words."""


class RunEventsOut(Wire):
    """The data of the events of the stream, by the name of the event."""

    run: RunOut | UnsetType = UNSET
    """A run that is new or has changed."""
    sampled: RunsSampledOut | UnsetType = UNSET
    """Runs were left out, because there are too many."""
    missed: RunsMissedOut | UnsetType = UNSET
    """Runs were not sent, because the listener was too slow or away."""
    end: RunsEndOut | UnsetType = UNSET
    """The stream ends."""
