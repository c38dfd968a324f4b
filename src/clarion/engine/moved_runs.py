"""Letting runs under way go on with another version of their workflow, because somebody asks for it.

It is done in chunks, under the locks of their people's lanes: nobody decides for a run meanwhile. What a run has done
stays as it was, and a message that is on its way is sent as it is.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.load import load_runs
from clarion.engine.moving import find_only_job, move_run
from clarion.engine.records import Run
from clarion.engine.write import write_runs
from clarion.ids import NotificationId
from clarion.jobs.details import DetailCode
from clarion.jobs.lanes import LaneSet, lock_lanes
from clarion.jobs.model import Job, JobQueue
from clarion.runs.waiting import UNDER_WAY
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.model import Step, Workflow, WorkflowVersion
from clarion.workflows.moving import find_next, find_same, move_version
from clarion.workflows.store import list_versions_by_id

LIST_UNDER_WAY = sql(f"""
    SELECT id, status, workflow_id, version_id FROM notifications
    WHERE environment_id = :environment_id AND {UNDER_WAY} AND (status, id) > (:status, :id)
    ORDER BY status, id LIMIT :limit
""")
LIST_LANES = sql("""
    SELECT DISTINCT lane FROM jobs WHERE environment_id = :environment_id AND notification_id {any:run_ids}
""")
# Whoever records a send locks its job, and then lets the next job of the run go on.
LOCK_JOBS = sql("""
    SELECT id FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:run_ids} AND queue IS NOT NULL
    ORDER BY id {for_update}
""")


class MoveOutcome(StrEnum):
    """What becomes of the step that a run is at."""

    STAYS = "stays"
    """The run stays at it, as it is in the other version."""
    ENDS = "ends"
    """It ends as it has begun, and the run goes on with the other version then."""
    SKIPPED = "skipped"
    """The other version has it no more: it is skipped."""
    CLOSED = "closed"
    """The other version has the digest no more: it goes on at once with the events that it has."""
    LEFT = "left"
    """The run is at several steps at the same time and keeps its version."""


class MovePosition(Struct, frozen=True):
    """How far the runs of an environment have been looked at."""

    status: int
    run_id: NotificationId


class MoveLimits(Struct, frozen=True):
    moved: int = 200
    """Runs that one call moves: it holds the lanes of their people."""
    examined: int = 2_000


class MovedStep(Struct, frozen=True):
    """What becomes of runs that are at a step."""

    step: Step
    outcome: MoveOutcome
    next: Step | None
    """The step of the other version that they come to then; None if none is left."""


class Moved(Struct, frozen=True):
    steps: list[tuple[MovedStep, int]]
    """With the number of runs."""
    position: MovePosition | None
    """Where to go on; None if there is no more."""


LIMITS = MoveLimits()


async def move_runs(
    db: Connection,
    workflow: Workflow,
    versions: tuple[WorkflowVersion, WorkflowVersion],
    now: Millis,
    after: MovePosition | None,
    limits: MoveLimits = LIMITS,
) -> Moved:
    """Let runs of the first version go on with the second one, as far as one call goes."""
    base, onto = versions
    start = after or MovePosition(0, NotificationId(bytes(16)))
    scope = {"environment_id": workflow.environment_id}
    rows = await db.fetch(LIST_UNDER_WAY, **scope, status=start.status, id=start.run_id, limit=limits.examined)
    own = await _choose(db, workflow, base, rows)
    last = rows[-1] if len(rows) == limits.examined else None
    if len(own) > limits.moved:
        own = own[: limits.moved]
        last = own[-1]
    runs = await _load(db, workflow, [NotificationId(row["id"]) for row in own])
    counts: Counter[tuple[str, MoveOutcome]] = Counter()
    shown: dict[tuple[str, MoveOutcome], MovedStep] = {}
    for run in runs:
        if run.version.onto_id == base.id and (moved := await _move(db, run, onto, now)) is not None:
            key = (moved.step.id, moved.outcome)
            counts[key] += 1
            shown.setdefault(key, moved)
    await write_runs(db, workflow.environment_id, [run for run in runs if run.is_moved], now)
    position = None if last is None else MovePosition(last["status"], NotificationId(last["id"]))
    return Moved([(shown[key], count) for key, count in counts.items()], position)


def plan_move(version: WorkflowVersion, position: int, onto: WorkflowVersion) -> MovedStep:
    """What would become of runs that wait at a step; those that are being sent end their step in any case."""
    step = version.steps[position]
    is_gone = find_same(onto.steps, step) is None
    outcome = _decide(step, is_gone=is_gone, is_waiting=step.type in (StepType.DELAY, StepType.DIGEST))
    return MovedStep(step, outcome, find_next(version, onto, position))


def _decide(step: Step, *, is_gone: bool, is_waiting: bool) -> MoveOutcome:
    if not is_waiting:
        return MoveOutcome.ENDS
    if not is_gone:
        return MoveOutcome.STAYS
    return MoveOutcome.CLOSED if step.type is StepType.DIGEST else MoveOutcome.SKIPPED


async def _choose(db: Connection, workflow: Workflow, base: WorkflowVersion, rows: Sequence[Row]) -> list[Row]:
    own = [row for row in rows if row["workflow_id"] == workflow.id]
    versions = await list_versions_by_id(db, workflow.environment_id, [row["version_id"] for row in own])
    return [row for row in own if versions[row["version_id"]].onto_id == base.id]


async def _load(db: Connection, workflow: Workflow, run_ids: Sequence[NotificationId]) -> list[Run]:
    """Lock the lanes of the runs and the jobs that they are at, and read the runs as they are then."""
    if not run_ids:
        return []
    rows = await db.fetch(LIST_LANES, environment_id=workflow.environment_id, run_ids=list(run_ids))
    await lock_lanes(db, workflow.environment_id, LaneSet.of(row["lane"] for row in rows))
    await db.fetch(LOCK_JOBS, environment_id=workflow.environment_id, run_ids=list(run_ids))
    return await load_runs(db, workflow.environment_id, run_ids)


async def _move(db: Connection, run: Run, onto: WorkflowVersion, now: Millis) -> MovedStep | None:
    """Let a run go on with another version; None if it has ended meanwhile."""
    job = find_only_job(run)
    if job is None:
        waiting = next((one for one in run.jobs if one.queue is not None), None)
        return None if waiting is None else MovedStep(run.step_of(waiting), MoveOutcome.LEFT, None)
    step = run.step_of(job)
    planned = MovedStep(step, _outcome_of(job, step, onto), find_next(run.version, onto, job.step))
    keeps_step = planned.outcome is not MoveOutcome.STAYS
    version = await move_version(db, run.version, onto, job.step, now, keeps_step=keeps_step)
    if version is None:
        return MovedStep(step, MoveOutcome.LEFT, None)
    raw = {"from": run.version.shown_number, "to": onto.number, "step": planned.outcome}
    move_run(run, job, version, now)
    job.note(now, DetailCode.RUN_MOVED, raw=raw)
    if planned.outcome is MoveOutcome.CLOSED:
        job.due_at = now
    elif planned.outcome is MoveOutcome.SKIPPED:
        job.finish(JobStatus.SKIPPED)
        if following := next((one for one in run.jobs if one.step > job.step), None):
            following.enqueue(now, JobQueue.DECIDE)
    return planned


def _outcome_of(job: Job, step: Step, onto: WorkflowVersion) -> MoveOutcome:
    """A step that has not begun, or only waits for a moment, may change; any other ends as it has begun."""
    has_begun = job.queue is not JobQueue.DECIDE or job.status is not JobStatus.QUEUED
    is_waiting = job.queue is JobQueue.DECIDE and step.type in (StepType.DELAY, StepType.DIGEST)
    is_gone = find_same(onto.steps, step) is None
    if not has_begun:
        return MoveOutcome.SKIPPED if is_gone else MoveOutcome.STAYS
    return _decide(step, is_gone=is_gone, is_waiting=is_waiting)
