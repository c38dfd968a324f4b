"""Jobs and their execution details with the run that they belong to: what rules make decisions of."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.store import StoredJob, StoredRun
from clarion.explain.words import STEP_WORDS, day_text, find_channel, moment_text
from clarion.jobs.details import ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, JobQueue
from clarion.vocabulary import Channel, JobStatus
from clarion.workflows.model import Step


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
    """What the provider reported of a message, some time after it accepted it."""
    return lambda observed: observed.report(
        verdict, f"The provider '{observed.detail.provider_id}' reported that {what}.", remedy
    )
