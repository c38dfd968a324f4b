"""Jobs and their execution details with the run that they belong to: what rules make decisions of.

What no detail tells is decided from the state of the job: what it waits for now, an end without a reason, and marks of
in-app messages.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis, iso_text
from clarion.explain.model import (
    STEP_KINDS,
    STEP_WORDS,
    Decision,
    DecisionKind,
    DecisionSource,
    Verdict,
    day_text,
    derived,
    find_channel,
    moment_text,
)
from clarion.explain.store import StoredJob, StoredMessage, StoredRun
from clarion.ids import id_text
from clarion.jobs.details import ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, FINISHED, JobQueue
from clarion.vocabulary import Channel, JobStatus, StepType
from clarion.workflows.model import Step

_ENDS = {
    JobStatus.SKIPPED: frozenset({Verdict.STOPPED}),
    JobStatus.FAILED: frozenset({Verdict.FAILED, Verdict.STOPPED}),
    JobStatus.CANCELED: frozenset({Verdict.STOPPED, Verdict.FAILED}),
    JobStatus.MERGED: frozenset({Verdict.STOPPED}),
}
"""The verdicts that can explain an end state; a completed job needs none."""


class ObservedJob(Struct, frozen=True, kw_only=True):
    """A job of a run, as it stands now."""

    run: StoredRun
    job: StoredJob
    now: Millis

    @property
    def step(self) -> Step | None:
        return self.run.step_of(self.job)

    @property
    def channel(self) -> Channel | None:
        return find_channel(self.job.type)

    @property
    def name(self) -> str:
        """Of the person."""
        return self.run.name

    @property
    def step_name(self) -> str:
        """The step as people know it."""
        step = self.step
        return f"the {STEP_WORDS[self.job.type]} step" if step is None else f"the step '{step.name}'"

    @property
    def workflow_name(self) -> str:
        return "the workflow" if self.run.workflow is None else f"the workflow '{self.run.workflow.name}'"

    @property
    def was_critical(self) -> bool:
        """Whether the workflow was critical when the step was reached."""
        raws = (one.raw for one in self.job.details if isinstance(one.raw, dict))
        recorded = (bool(raw["critical"]) for raw in raws if "critical" in raw)
        return next(recorded, self.run.was_critical)

    def find_way_out(self, correction: str) -> str | None:
        """What to do about an attempt that failed; nothing where another attempt follows or has sent the message."""
        if self.job.dead_at is not None:
            return f"{correction}, then redrive the dead letter (POST /v1/dead-letters/redrive)."
        if self.job.queue is JobQueue.SEND:
            return "Nothing has to be done yet: it is tried again."
        if self.job.status is JobStatus.COMPLETED:
            return None
        return f"{correction}, then trigger the workflow again: there is no dead letter to redrive."

    def day(self, moment: Millis) -> str:
        return day_text(moment, self.now)

    def moment(self, moment: Millis) -> str:
        return moment_text(moment, self.now)

    def of_step(self, decision: Decision) -> Decision:
        """The decision as one about the step of the job."""
        return replace(decision, step_id=None if self.step is None else self.step.step_id, channel=self.channel)


class Observed(ObservedJob, frozen=True, kw_only=True):
    """One execution detail of a job."""

    detail: ExecutionDetail

    @property
    def at(self) -> Millis:
        return self.detail.at

    @property
    def raw(self) -> dict[str, Any]:
        """What the detail recorded besides its text."""
        return self.detail.raw if isinstance(self.detail.raw, dict) else {}

    def decision(
        self,
        kind: DecisionKind,
        verdict: Verdict,
        summary: str,
        remedy: str | None = None,
        *,
        values: dict[str, Any] | None = None,
        source: DecisionSource = DecisionSource.RECORDED,
    ) -> Decision:
        """A decision of the step at this moment; its values are what was recorded, unless others are given."""
        return self.of_step(
            Decision(
                at=self.at,
                kind=kind,
                verdict=verdict,
                summary=summary,
                values=self.raw if values is None else values,
                remedy=remedy,
                source=source,
            )
        )

    def attempt(self, verdict: Verdict, summary: str, remedy: str | None = None) -> Decision:
        """A decision about an attempt to send, with its number in this drive."""
        values = self._with_provider(self.raw)
        if isinstance(values.get("attempt"), int):
            values["attempt"] %= ATTEMPTS_PER_DRIVE
        return self.decision(DecisionKind.ATTEMPT, verdict, summary, remedy, values=values)

    def report(self, verdict: Verdict, summary: str, remedy: str | None = None) -> Decision:
        """A decision about what a provider reported, which may be any JSON."""
        other = {} if self.raw or self.detail.raw is None else {"report": self.detail.raw}
        values = self._with_provider(self.raw or other)
        return self.decision(DecisionKind.RECEIPT, verdict, summary, remedy, values=values)

    def _with_provider(self, values: dict[str, Any]) -> dict[str, Any]:
        provider_id = self.detail.provider_id
        return dict(values) if provider_id is None else {**values, "providerId": provider_id}


Rule = Callable[[Observed], Decision]


def decide_always(kind: DecisionKind, verdict: Verdict, summary: str, remedy: str | None = None) -> Rule:
    """A rule whose summary is the same for all, but for the name of the person and of the workflow."""
    return lambda observed: observed.decision(
        kind, verdict, summary.format(name=observed.name, workflow=observed.workflow_name), remedy
    )


def note_attempt(verdict: Verdict, summary: str, remedy: str | None = None) -> Rule:
    """What there is to say of attempts, each in a sentence of its own."""
    return lambda observed: observed.attempt(verdict, summary, remedy)


def give_up(summary: str, correction: str) -> Rule:
    """Something was given up, which can be redriven unless that has been done or is of no use."""
    return lambda observed: observed.attempt(Verdict.FAILED, summary, observed.find_way_out(correction))


def reported(verdict: Verdict, what: str, remedy: str | None = None) -> Rule:
    """What was reported of a message, some time after its provider accepted it."""
    return lambda observed: observed.report(verdict, f"{_reporter(observed)} reported that {what}.", remedy)


def replied(observed: Observed) -> Decision:
    """Somebody's reply to the mail of the step came in."""
    senders = " and ".join(map(str, observed.raw.get("from") or ())) or "Somebody"
    who = f"A program of {senders}" if observed.raw.get("isAutomatic") else senders
    posted = "; the callback of the step gets it" if "callbackEventId" in observed.raw else ""
    return observed.report(Verdict.PASSED, f"{who} replied to the message{posted}.")


def clicked(observed: Observed) -> Decision:
    """Somebody followed a link; which one is known of links that Clarion tracks itself."""
    position, url = observed.raw.get("position"), observed.raw.get("url")
    if observed.detail.provider_id is not None or url is None:
        return observed.report(
            Verdict.PASSED, f"{_reporter(observed)} reported that a link of the message was clicked."
        )
    which = "a link" if position is None else f"link {position}"
    return observed.report(Verdict.PASSED, f"Somebody followed {which} of the message: {url}.")


def _reporter(observed: Observed) -> str:
    provider_id = observed.detail.provider_id
    return "A link or an image of the message" if provider_id is None else f"The provider '{provider_id}'"


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
