"""An execution detail with the run that it belongs to: what a rule makes decisions of."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.store import StoredJob, StoredRun
from clarion.explain.words import STEP_WORDS, day_text, find_channel, moment_text, name_of
from clarion.jobs.details import ExecutionDetail
from clarion.vocabulary import Channel
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
        key = self.run.notification.recipient
        return name_of(self.run.subscriber, key.get("subscriberId", "?") if isinstance(key, dict) else "?")

    @property
    def step_name(self) -> str:
        """The step as people know it."""
        step = self.step
        return f"the {STEP_WORDS[self.job.type]} step" if step is None else f"the step '{step.name}'"

    @property
    def workflow_name(self) -> str:
        return "the workflow" if self.run.workflow is None else f"the workflow '{self.run.workflow.name}'"

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
