"""An execution detail with the run that it belongs to: what a rule makes decisions of."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.store import StoredJob, StoredRun
from clarion.explain.words import STEP_WORDS, day_text, find_channel, moment_text
from clarion.jobs.details import ExecutionDetail
from clarion.jobs.model import JobQueue
from clarion.vocabulary import Channel, JobStatus
from clarion.workflows.model import Step


class Seen(Struct, frozen=True, kw_only=True):
    run: StoredRun
    job: StoredJob
    detail: ExecutionDetail
    now: Millis

    @property
    def at(self) -> Millis:
        return self.detail.at

    @property
    def raw(self) -> dict[str, Any]:
        """What the detail recorded besides its text."""
        return self.detail.raw if isinstance(self.detail.raw, dict) else {}

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

    @property
    def has_more_attempts(self) -> bool:
        return self.job.queue is JobQueue.SEND

    def find_way_out(self, correction: str) -> str | None:
        """What to do about an attempt that failed; nothing where another attempt follows or has sent the message."""
        if self.job.dead_at is not None:
            return f"{correction}, then redrive the dead letter (POST /v1/dead-letters/redrive)."
        if self.has_more_attempts:
            return "Nothing has to be done yet: it is tried again."
        if self.job.status is JobStatus.COMPLETED:
            return None
        return f"{correction}, then trigger the workflow again: there is no dead letter to redrive."

    def day(self, moment: Millis) -> str:
        return day_text(moment, self.now)

    def moment(self, moment: Millis) -> str:
        return moment_text(moment, self.now)

    def decision(
        self,
        kind: DecisionKind,
        verdict: Verdict,
        summary: str,
        *,
        values: dict[str, Any] | None = None,
        remedy: str | None = None,
        source: DecisionSource = DecisionSource.RECORDED,
    ) -> Decision:
        return Decision(
            at=self.at,
            kind=kind,
            verdict=verdict,
            summary=summary,
            step_id=None if self.step is None else self.step.step_id,
            channel=self.channel,
            values={} if values is None else values,
            remedy=remedy,
            source=source,
        )


Rule = Callable[[Seen], list[Decision]]
