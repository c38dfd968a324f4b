"""Runs that go on with another version: after a digest with the newest one, if the step says so."""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.load import add_preferences
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId, new_id
from clarion.jobs.details import DetailCode
from clarion.jobs.model import FINISHED, Job
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.controls import ControlsProblem, DigestControls, VersionChoice, read_as
from clarion.workflows.model import WorkflowVersion
from clarion.workflows.moving import list_next, move_version
from clarion.workflows.store import list_versions_by_id


async def follow_newest(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], now: Millis) -> None:
    """Let runs whose digest may close now, and says so, go on with the newest version, if that has the step still."""
    led = [(run, job) for run in runs if (job := _find_digest(run)) is not None]
    if not led:
        return
    newest = await list_versions_by_id(db, environment_id, [run.workflow.version_id for run, _ in led])
    moved = [run for run, job in led if await _follow(db, run, job, newest[run.workflow.version_id], now)]
    if moved:
        await add_preferences(db, environment_id, moved)


def _find_digest(run: Run) -> Job | None:
    """The digest job that a run waits for, where its workflow has a newer version."""
    if run.workflow.version_id == run.version.onto_id or run.workflow.deleted_at is not None:
        return None
    if StepType.DIGEST not in run.version.step_types:
        return None
    job = find_only_job(run)
    waits = job is not None and job.status is JobStatus.DELAYED and run.step_of(job).type is StepType.DIGEST
    return job if waits else None


def find_only_job(run: Run) -> Job | None:
    """The job that a run is at; None if there are several, as after a redrive, or none."""
    begun = [job for job in run.jobs if job.status not in FINISHED and job.status is not JobStatus.PENDING]
    last = max((job.step for job in run.jobs if job.status is not JobStatus.PENDING), default=None)
    return begun[0] if len(begun) == 1 and begun[0].step == last else None


async def _follow(db: Connection, run: Run, job: Job, newest: WorkflowVersion, now: Millis) -> bool:
    """Let a run go on with the newest version; returns whether it does."""
    before = run.version.shown_number
    if not _follows_newest(run, job):
        return False
    moved = await move_version(db, run.version, newest, job.step, now, keeps_step=False)
    if moved is None:
        _note(job, now, before, newest.number, "step is gone")
        return False
    move_run(run, job, moved, now)
    _note(job, now, before, newest.number, None)
    return True


def move_run(run: Run, job: Job, version: WorkflowVersion, now: Millis) -> None:
    """Let a run that is at a job go on with a version that is as its own up to there."""
    run.dropped_jobs += [later.id for later in run.jobs if later.step > job.step and not later.is_new]
    run.jobs = [earlier for earlier in run.jobs if earlier.step <= job.step]
    for position in list_next(version.steps, job.step):
        if version.steps[position].active:
            made = Job(id=JobId(new_id(now)), step=position, lane=job.lane, priority=job.priority, is_new=True)
            run.jobs.append(made)
    run.version, run.is_moved = version, True


def _follows_newest(run: Run, job: Job) -> bool:
    try:
        return read_as(DigestControls, run.step_of(job).controls).version is VersionChoice.LATEST
    except ControlsProblem:
        return False


def _note(job: Job, now: Millis, before: int, newest: int, problem: str | None) -> None:
    """Note the version once, although a digest that is extended comes here several times."""
    raw = {"from": before, "to": newest} | ({} if problem is None else {"reason": problem})
    code = DetailCode.VERSION_FOLLOWED if problem is None else DetailCode.VERSION_KEPT
    if not any(one.code == code and one.raw == raw for one in job.details):
        job.note(now, code, raw=raw)
