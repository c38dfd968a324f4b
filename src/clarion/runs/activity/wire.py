"""Shapes of the activity of workflows."""

from typing import Annotated, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.clock import DAY, Millis, iso_text
from clarion.errors import Invalid
from clarion.http.wire import DateTimeText, MomentText, Wire
from clarion.ids import id_text
from clarion.runs.activity.store import LastRun
from clarion.runs.activity.summary import Activity, ChannelCounts, StepActivity
from clarion.vocabulary import Channel, RunStatus, StepType
from clarion.workflows.model import Workflow

_DEFAULT_TIME = 7 * DAY
MAX_WORKFLOWS = 50


class ActivityQuery(Wire):
    """The time that is counted: from `after`, by default a week ago, until `before`, by default now."""

    after: MomentText | None = None
    """When the time begins that is counted; by default a week before it ends."""
    before: MomentText | None = None
    """When the time ends that is counted; by default now."""

    def time(self, now: Millis) -> tuple[Millis, Millis]:
        """Return the first and the last moment; raises Invalid if they are in the wrong order."""
        last = now if self.before is None else self.before.moment
        first = Millis(last - _DEFAULT_TIME) if self.after is None else self.after.moment
        if first > last:
            raise Invalid.field("after", "must not be later than 'before'", self.after)
        return first, last


class ActivitiesQuery(ActivityQuery):
    workflow_ids: Annotated[list[str], Meta(max_length=MAX_WORKFLOWS)] | None = None
    """The identifiers, `_id`s or slugs of the workflows; by default the newest ones."""


class LastRunOut(Wire):
    id: str = field(name="_id")
    status: RunStatus
    """What has become of the run."""
    created_at: DateTimeText

    @classmethod
    def of(cls, run: LastRun) -> Self:
        return cls(id=id_text(run.id), status=run.status, created_at=iso_text(run.created_at))


class ChannelActivityOut(Wire):
    """What came of the steps of a channel. `seen` and `read` are among `sent`; of e-mails, receipts report them."""

    sent: int
    """How many messages were sent."""
    failed: int
    """How many steps failed."""
    skipped: int
    """How many steps were skipped, by a condition or a preference."""
    canceled: int
    """How many steps were canceled."""
    merged: int
    """How many steps were taken in by the digest of another run."""
    waiting: int
    """How many steps are not done yet."""
    seen: int
    """How many of the sent messages were seen."""
    read: int
    """How many of the sent messages were read."""
    clicked: int
    """In how many of the sent e-mails a link was followed."""

    @classmethod
    def of(cls, counts: ChannelCounts) -> Self:
        return cls(**{name: round(getattr(counts, name)) for name in cls.__struct_fields__})


class StepActivityOut(Wire):
    """What came of a step that sends through a channel, or of a branch."""

    step_id: str
    name: str
    """What people call the step."""
    type: StepType
    """The type of the step."""
    counts: ChannelActivityOut
    """What came of the step in the runs that reached it."""
    paths: dict[str, int] | UnsetType = UNSET
    """Of a branch, how many runs took each path, by the names of the paths."""

    @classmethod
    def of(cls, activity: StepActivity) -> Self:
        step, counts = activity.step, activity.counts
        paths = {name: round(runs) for name, runs in counts.paths.items()}
        is_branch = step.type is StepType.BRANCH
        return cls(
            step_id=step.step_id,
            name=step.name,
            type=step.type,
            counts=ChannelActivityOut.of(counts),
            paths=paths if is_branch else UNSET,
        )


class WorkflowActivityOut(Wire):
    """What a workflow did in a time."""

    id: str = field(name="_id")
    workflow_id: str
    after: str
    before: str
    runs: int
    """How many runs began in the time."""
    estimated: bool
    """Whether the numbers come from samples, because there were too many runs to count."""
    last_run: LastRunOut | UnsetType = UNSET
    """The newest run at any time; absent if there is none."""
    channels: dict[Channel, ChannelActivityOut]
    """What came of the steps, by channel."""
    steps: list[StepActivityOut]
    """What came of each step that sends through a channel, and of each branch."""

    @classmethod
    def of(cls, workflow: Workflow, time: tuple[Millis, Millis], activity: Activity) -> Self:
        return cls(
            id=id_text(workflow.id),
            workflow_id=workflow.key,
            after=iso_text(time[0]),
            before=iso_text(time[1]),
            runs=round(activity.runs),
            estimated=activity.is_estimated,
            last_run=UNSET if activity.last_run is None else LastRunOut.of(activity.last_run),
            channels={name: ChannelActivityOut.of(one) for name, one in activity.channels.items()},
            steps=[StepActivityOut.of(one) for one in activity.steps],
        )
