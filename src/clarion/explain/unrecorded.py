"""What no execution detail tells: what a job waits for now, ends without a reason, and marks of in-app messages."""

from collections.abc import Iterator, Sequence
from typing import Any

from clarion.clock import Millis, iso_text
from clarion.explain.model import STEP_KINDS, Decision, DecisionKind, Verdict, derived
from clarion.explain.rules.observed import ObservedJob
from clarion.explain.store import StoredJob, StoredMessage
from clarion.explain.words import STEP_WORDS
from clarion.ids import id_text
from clarion.jobs.model import FINISHED, JobQueue
from clarion.vocabulary import JobStatus, StepType

_ENDS = {
    JobStatus.SKIPPED: frozenset({Verdict.STOPPED}),
    JobStatus.FAILED: frozenset({Verdict.FAILED, Verdict.STOPPED}),
    JobStatus.CANCELED: frozenset({Verdict.STOPPED, Verdict.FAILED}),
    JobStatus.MERGED: frozenset({Verdict.STOPPED}),
}
"""The verdicts that can explain an end state; a completed job needs none."""


def list_marks(observed: ObservedJob) -> Iterator[Decision]:
    """What the person did with the message of an in-app step; its deletion is a detail of the job."""
    run, job, name = observed.run, observed.job, observed.name
    if job.type is not StepType.IN_APP or job.status is not JobStatus.COMPLETED:
        return
    messages = run.messages_of(job)
    for message in messages:
        values = {"_messageId": id_text(message.id)}
        for at, what in _list_moments(message):
            yield _mark(observed, at, Verdict.PASSED, f"{name} {what} the message on {observed.day(at)}.", values)
        until = message.snoozed_until
        if until is not None and until > observed.now:
            moment, values = observed.moment(until), values | {"snoozedUntil": iso_text(until)}
            summary = f"{name} snoozed the message: it is hidden until {moment}, and comes back then."
            yield _mark(observed, None, Verdict.WAITING, summary, values, f"{name} ends the snooze in the inbox.")
    if not messages and not job.has_deleted_message:
        summary = "The message is not in the inbox any more; when it was deleted, and by whom, was not recorded."
        yield _mark(observed, None, Verdict.STOPPED, summary, {})


def find_gap(observed: ObservedJob, told: Sequence[Decision]) -> Decision | None:
    """The decision that is missing for the state of a job, if there is one."""
    job = observed.job
    if job.status in FINISHED:
        ends = _ENDS.get(job.status)
        is_told = ends is None or not ends.isdisjoint(one.verdict for one in told)
        return None if is_told else _end(observed)
    if job.status is JobStatus.PENDING:
        return _behind(observed)
    if job.queue is JobQueue.SEND or job.status is JobStatus.RUNNING:
        return _wait(observed, _sending_text(observed))
    if job.status is not JobStatus.DELAYED:
        return _wait(observed, "The step is due, and waits for a worker.")
    if told and told[-1].verdict is Verdict.WAITING:
        return None
    due = "" if job.due_at is None else f" until {observed.moment(job.due_at)}"
    return _wait(observed, f"The step waits{due}.")


def _list_moments(message: StoredMessage) -> Iterator[tuple[Millis, str]]:
    marks = ((message.seen_at, "saw"), (message.read_at, "read"), (message.archived_at, "archived"))
    return ((at, what) for at, what in marks if at is not None)


def _mark(
    observed: ObservedJob,
    at: Millis | None,
    verdict: Verdict,
    summary: str,
    values: dict[str, str],
    remedy: str | None = None,
) -> Decision:
    return observed.of_step(derived(at, DecisionKind.RECEIPT, verdict, summary, values, remedy))


def _end(observed: ObservedJob) -> Decision:
    status = observed.job.status
    kind = DecisionKind.CANCEL if status is JobStatus.CANCELED else _kind(observed.job)
    verdict = Verdict.FAILED if status is JobStatus.FAILED else Verdict.STOPPED
    summary = f"The step is {status}; why was not recorded."
    return observed.of_step(derived(None, kind, verdict, summary, _values(observed, observed.job)))


def _behind(observed: ObservedJob) -> Decision:
    """A step that is not reached yet waits for the one before it."""
    run, job = observed.run, observed.job
    blocker = next((one for one in run.jobs if one.step < job.step and one.status not in FINISHED), None)
    if blocker is None:
        return _wait(observed, "The step is next, and waits for a worker.")
    step = run.step_of(blocker)
    name = f"the {STEP_WORDS[blocker.type]} step" if step is None else f"the step '{step.name}'"
    due = "" if blocker.due_at is None else f", which is due on {observed.moment(blocker.due_at)}"
    return _wait(observed, f"It is not reached yet: it comes after {name}{due}.", cause=blocker)


def _sending_text(observed: ObservedJob) -> str:
    job = observed.job
    if job.status is JobStatus.RUNNING:
        return "The message is being sent."
    if job.due_at is not None and job.due_at > observed.now:
        return f"The next attempt is due on {observed.moment(job.due_at)}."
    return "The message is due, and waits for a worker."


def _wait(observed: ObservedJob, summary: str, *, cause: StoredJob | None = None) -> Decision:
    job = cause or observed.job
    values = _values(observed, job)
    return observed.of_step(derived(observed.now, _kind(job), Verdict.WAITING, summary, values))


def _kind(job: StoredJob) -> DecisionKind:
    return STEP_KINDS.get(job.type, DecisionKind.ATTEMPT)


def _values(observed: ObservedJob, cause: StoredJob) -> dict[str, Any]:
    until = {} if cause.due_at is None else {"until": iso_text(cause.due_at)}
    return {"status": observed.job.status, **until}
