"""How runs end before their last step: canceled, expired, merged, throttled, or stopped by a step that failed."""

from typing import Any

from clarion.clock import Millis
from clarion.engine.records import Run
from clarion.jobs.details import DetailCode, ExecutionDetail, canceled_detail, expired_detail
from clarion.jobs.model import FINISHED
from clarion.triggers.model import TriggerState
from clarion.vocabulary import JobStatus, StepType


def end_stopped(run: Run, now: Millis) -> bool:
    """Whether the trigger of a run was canceled or has expired; ends it then, unless its window is open."""
    if not run.is_new and run.is_canceled:
        # The cancel of its fan-out hands its window to another run first.
        if run.trigger.state is not TriggerState.CANCELING or not _leads_window(run):
            _end(run, canceled_detail(now))
        return True
    if run.is_expired(now) and not _leads_window(run):
        _end(run, expired_detail(run.trigger.expires_at, now))
        return True
    return False


def _end(run: Run, reason: ExecutionDetail) -> None:
    """Cancel what a run has not begun."""
    for job in run.jobs:
        if job.status not in FINISHED and job.status is not JobStatus.RUNNING:
            job.details.append(reason)
            job.changed = True
            job.finish(JobStatus.CANCELED)


def _leads_window(run: Run) -> bool:
    """Whether it waits for the end of a digest window."""
    return any(job.status is JobStatus.DELAYED and run.step_of(job).type is StepType.DIGEST for job in run.jobs)


def close(
    run: Run, place: int, status: JobStatus, reason: DetailCode, now: Millis, *, raw: dict[str, Any] | None = None
) -> None:
    """End the run at this step; those behind it say why."""
    run.jobs[place].status = status
    for job in run.jobs[place + 1 :]:
        job.status = status
        job.note(now, reason, raw=raw)


def stop_on_fail(run: Run, place: int, now: Millis) -> None:
    """Cancel what is left of the run where the failed step asks for it."""
    if run.step_of(run.jobs[place]).stops_on_failure:
        for job in run.jobs[place + 1 :]:
            job.status = JobStatus.CANCELED
            job.note(now, DetailCode.CANCELED_BY_FAILURE)
