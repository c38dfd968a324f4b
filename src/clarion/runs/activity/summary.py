"""What workflows did in a time: how many runs they had, and what came of the steps of each channel.

The work is bounded, however many runs there are: of very many, some are looked at, and the counts are estimated.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.sampling import Counted, SampledRange, count_ranges
from clarion.ids import EnvironmentId, JobId, NotificationId, WorkflowId, WorkflowVersionId
from clarion.runs.activity import store
from clarion.runs.activity.store import LastRun, Marks, RunJob, SampledRun
from clarion.vocabulary import Channel, JobStatus
from clarion.workflows.model import Step
from clarion.workflows.store import list_versions_by_id

T = TypeVar("T")


class CountingEffort(Struct, frozen=True, kw_only=True):
    """How much work the counts may take."""

    rows_per_probe: int
    max_probes: int
    max_runs: int
    """How many runs are looked at, of all workflows together."""
    max_messages: int
    """How many messages of each channel are looked at, to see whether they were read, of all workflows together."""


ONE_WORKFLOW = CountingEffort(rows_per_probe=5_000, max_probes=150, max_runs=2_000, max_messages=1_000)
MANY_WORKFLOWS = CountingEffort(rows_per_probe=1_000, max_probes=300, max_runs=4_000, max_messages=2_000)


class ChannelCounts(Struct, kw_only=True):
    """What came of the steps of a channel."""

    sent: float = 0
    failed: float = 0
    skipped: float = 0
    canceled: float = 0
    merged: float = 0
    waiting: float = 0
    seen: float = 0
    read: float = 0
    clicked: float = 0


class StepCounts(ChannelCounts, kw_only=True):
    """What came of one step."""

    paths: dict[str, float] = {}
    """Of a branch, how many runs took each path."""

    def add(self, other: "StepCounts") -> None:
        """Add what came of the step in another version."""
        for name in ChannelCounts.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for path, runs in other.paths.items():
            self.paths[path] = self.paths.get(path, 0) + runs


class StepActivity(Struct, frozen=True, kw_only=True):
    step: Step
    counts: StepCounts


class Activity(Struct, frozen=True, kw_only=True):
    """What a workflow did in a time."""

    runs: float
    is_estimated: bool
    last_run: LastRun | None
    """At any time."""
    channels: dict[Channel, ChannelCounts]
    steps: Sequence[StepActivity]
    """Those that send through a channel, and branches."""


async def count_activity(
    db: Connection,
    environment_id: EnvironmentId,
    workflow_ids: Sequence[WorkflowId],
    time: tuple[Millis, Millis],
    effort: CountingEffort,
) -> dict[WorkflowId, Activity]:
    """Return the activity of each of the workflows between two moments."""
    kinds = await store.list_kinds(db, environment_id, workflow_ids)
    ranges = [SampledRange(key=kind, first=time[0], last=time[1]) for kind in kinds]
    parts = await count_ranges(
        lambda one: store.count_runs(db, environment_id, one, limit=effort.rows_per_probe),
        ranges,
        max_probes=effort.max_probes,
    )
    last_runs = await store.list_last_runs(db, environment_id, kinds)
    max_runs, max_messages = (most // max(1, len(workflow_ids)) for most in (effort.max_runs, effort.max_messages))
    counter = _Counter(db, environment_id, max_runs=max_runs, max_messages=max_messages)
    return {
        workflow_id: await counter.summarize(
            [part for part in parts if store.workflow_of_kind(part.range.key) == workflow_id],
            last_runs.get(workflow_id),
        )
        for workflow_id in workflow_ids
    }


class _Counter:
    """Looks at some of the runs of a workflow."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, *, max_runs: int, max_messages: int) -> None:
        self._db = db
        self._environment_id = environment_id
        self._max_runs = max_runs
        self._max_messages = max_messages

    async def summarize(self, parts: Sequence[Counted], last_run: LastRun | None) -> Activity:
        runs = await self._choose_runs([one for one in parts if one.count])
        jobs = await store.list_jobs(self._db, self._environment_id, runs)
        channels: dict[Channel, ChannelCounts] = {}
        places: dict[tuple[WorkflowVersionId, int], StepCounts] = {}
        for job in jobs:
            step = places.setdefault(job.place, StepCounts())
            _add(step, job.status, job.run.weight)
            if job.channel is not None:
                _add(channels.setdefault(job.channel, ChannelCounts()), job.status, job.run.weight)
            elif job.path is not None:
                step.paths[job.path] = step.paths.get(job.path, 0) + job.run.weight
        estimate = sum(one.estimate for one in parts)
        has_all = len(runs) == estimate
        for channel, counts in channels.items():
            sent = [one for one in jobs if one.channel is channel and one.status is JobStatus.COMPLETED]
            chosen = _spread(sent, self._max_messages)
            has_all = has_all and len(chosen) == len(sent)
            marks = await store.list_marks(self._db, self._environment_id, chosen) if chosen else {}
            _add_marks(counts, chosen, marks)
            for place in {one.place for one in chosen}:
                _add_marks(places[place], [one for one in chosen if one.place == place], marks)
        steps = await self._join_versions(places)
        return Activity(runs=estimate, is_estimated=not has_all, last_run=last_run, channels=channels, steps=steps)

    async def _join_versions(self, places: Mapping[tuple[WorkflowVersionId, int], StepCounts]) -> list[StepActivity]:
        """The counts of each step in all versions, in the order of the newest one."""
        ids = sorted({version_id for version_id, _ in places}, reverse=True)
        versions = await list_versions_by_id(self._db, self._environment_id, ids) if ids else {}
        joined: dict[str, StepActivity] = {}
        for version_id in ids:
            for position, step in enumerate(versions[version_id].steps):
                counts = places.get((version_id, position))
                if counts is not None:
                    joined.setdefault(step.id, StepActivity(step=step, counts=StepCounts())).counts.add(counts)
        return list(joined.values())

    async def _choose_runs(self, parts: Sequence[Counted]) -> dict[NotificationId, SampledRun]:
        """Return runs from all parts of the time, with the number of runs that each stands for."""
        has_few = sum(one.estimate for one in parts) <= self._max_runs
        runs: dict[NotificationId, SampledRun] = {}
        for part in parts:
            limit = part.count if has_few else max(1, self._max_runs // len(parts))
            rows = await store.list_runs(self._db, self._environment_id, part.range, limit=limit)
            for row in rows:
                run_id = NotificationId(bytes(row["id"]))
                weight = part.estimate / len(rows)
                runs[run_id] = SampledRun(
                    id=run_id, subscriber_id=row["subscriber_id"], version_id=row["version_id"], weight=weight
                )
        return runs


def _add_marks(counts: ChannelCounts, chosen: Sequence[RunJob], marks: Mapping[JobId, Marks]) -> None:
    """Add how many messages were seen, read and clicked, as a share of those that were sent."""
    total = sum(one.run.weight for one in chosen)
    for name in Marks._fields if total else ():
        marked = sum(one.run.weight for one in chosen if getattr(marks.get(one.id, Marks()), name))
        setattr(counts, name, counts.sent * marked / total)


def _spread(items: Sequence[T], limit: int) -> Sequence[T]:
    """Return at most `limit` of the items, evenly spread."""
    if len(items) <= limit:
        return items
    return [items[number * len(items) // limit] for number in range(limit)]


def _add(counts: ChannelCounts, status: JobStatus, weight: float) -> None:
    match status:
        case JobStatus.COMPLETED:
            counts.sent += weight
        case JobStatus.FAILED:
            counts.failed += weight
        case JobStatus.SKIPPED:
            counts.skipped += weight
        case JobStatus.CANCELED:
            counts.canceled += weight
        case JobStatus.MERGED:
            counts.merged += weight
        case _:
            counts.waiting += weight
