"""What is not recorded as a decision: what a job waits for now, and ends whose reason nobody wrote down."""

from collections.abc import Sequence

from clarion.clock import Millis, iso_text
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.store import StoredJob, StoredRun
from clarion.explain.words import STEP_WORDS, find_channel, moment_text
from clarion.jobs.model import FINISHED, JobQueue
from clarion.vocabulary import JobStatus, StepType

_KINDS = {
    StepType.DIGEST: DecisionKind.DIGEST,
    StepType.DELAY: DecisionKind.DELAY,
    StepType.THROTTLE: DecisionKind.THROTTLE,
    StepType.CUSTOM: DecisionKind.CONTENT,
}
_ENDS = {
    JobStatus.SKIPPED: frozenset({Verdict.STOPPED}),
    JobStatus.FAILED: frozenset({Verdict.FAILED, Verdict.STOPPED}),
    JobStatus.CANCELED: frozenset({Verdict.STOPPED, Verdict.FAILED}),
    JobStatus.MERGED: frozenset({Verdict.STOPPED}),
}
"""The verdicts that can explain an end state; a completed job needs none."""


def list_gaps(run: StoredRun, job: StoredJob, found: Sequence[Decision], now: Millis) -> list[Decision]:
    """The decision that is missing for the state of a job, if there is one."""
    verdicts = {one.verdict for one in found}
    if job.status in FINISHED:
        wanted = _ENDS.get(job.status)
        if wanted is None or verdicts & wanted:
            return []
        return [_gap(run, job, None, _end_verdict(job), f"The step is {job.status}; why was not recorded.")]
    if job.status is JobStatus.PENDING:
        return [_behind(run, job, now)]
    if job.queue is JobQueue.SEND or job.status is JobStatus.RUNNING:
        return [_sending(run, job, now)]
    is_told = bool(found) and found[-1].verdict is Verdict.WAITING
    if job.status is JobStatus.DELAYED and is_told:
        return []
    due = "" if job.due_at is None else f" until {moment_text(job.due_at, now)}"
    waits = f"The step waits{due}." if job.status is JobStatus.DELAYED else "The step is due, and waits for a worker."
    return [_gap(run, job, now, Verdict.WAITING, waits)]


def _sending(run: StoredRun, job: StoredJob, now: Millis) -> Decision:
    if job.status is JobStatus.RUNNING:
        text = "The message is being sent."
    elif job.due_at is not None and job.due_at > now:
        text = f"The next attempt is due on {moment_text(job.due_at, now)}."
    else:
        text = "The message is due, and waits for a worker."
    return _gap(run, job, now, Verdict.WAITING, text)


def _behind(run: StoredRun, job: StoredJob, now: Millis) -> Decision:
    """A step that is not reached yet waits for the one before it."""
    earlier = (one for one in run.jobs if one.step < job.step and one.status not in FINISHED)
    blocker = next(earlier, None)
    if blocker is None:
        return _gap(run, job, now, Verdict.WAITING, "The step is next, and waits for a worker.")
    step = run.step_of(blocker)
    name = f"the {STEP_WORDS[blocker.type]} step" if step is None else f"the step '{step.name}'"
    due = "" if blocker.due_at is None else f", which is due on {moment_text(blocker.due_at, now)}"
    return _gap(run, job, now, Verdict.WAITING, f"It is not reached yet: it comes after {name}{due}.", of=blocker)


def _end_verdict(job: StoredJob) -> Verdict:
    return Verdict.FAILED if job.status is JobStatus.FAILED else Verdict.STOPPED


def _gap(
    run: StoredRun, job: StoredJob, at: Millis | None, verdict: Verdict, summary: str, *, of: StoredJob | None = None
) -> Decision:
    step, cause = run.step_of(job), of or job
    is_canceled = job.status is JobStatus.CANCELED
    return Decision(
        at=at,
        kind=DecisionKind.CANCEL if is_canceled else _KINDS.get(cause.type, DecisionKind.ATTEMPT),
        verdict=verdict,
        summary=summary,
        step_id=None if step is None else step.step_id,
        channel=find_channel(job.type),
        values={"status": job.status} | ({} if cause.due_at is None else {"until": iso_text(cause.due_at)}),
        source=DecisionSource.DERIVED,
    )
