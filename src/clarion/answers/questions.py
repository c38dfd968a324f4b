"""A question of a run, as whoever is asked finds it: its texts, and whether it can still be answered."""

from typing import Any

from msgspec import Struct

from clarion.answers.model import RunAnswer
from clarion.answers.store import list_answers
from clarion.clock import Millis
from clarion.content.environment import get_environment_content
from clarion.db.port import Connection
from clarion.engine.load import add_past, load_runs
from clarion.engine.records import Run, variables_of
from clarion.engine.texts import add_texts
from clarion.environments.configuration import get_configuration_version
from clarion.ids import EnvironmentId, NotificationId
from clarion.jobs.model import FINISHED, Job
from clarion.templates import make_texts, render_text
from clarion.templates.texts import NAME as TEXTS
from clarion.vault import Vault
from clarion.vocabulary import JobStatus, StepType
from clarion.waits.model import EventWait
from clarion.waits.store import list_waits_of_jobs
from clarion.workflows.control_parts import AskChoice
from clarion.workflows.controls import AskControls, read_as
from clarion.workflows.model import Step


class RunQuestion(Struct, frozen=True, kw_only=True):
    """A step of a run that asks, at this moment."""

    run: Run
    step: Step
    controls: AskControls
    variables: dict[str, Any]
    job: Job | None
    """None: the run has not come to the branch that has the step, or took another path."""
    wait: EventWait | None
    """None: the step does not wait now."""
    answer: RunAnswer | None

    @property
    def choices(self) -> list[AskChoice]:
        return self.controls.choices or []

    @property
    def text(self) -> str:
        return render_text(self.controls.question or "", self.variables).strip()

    def find_label(self, choice: str) -> str | None:
        """What a choice is called; None if it is none."""
        found = next((one for one in self.choices if one.value == choice), None)
        return None if found is None else label_of(found, self.variables)

    def is_open(self, now: Millis) -> bool:
        """Whether it can be answered: nobody has, and its step waits, or the run may still come to it."""
        if self.answer is not None or self.run.is_canceled or self.run.is_expired(now):
            return False
        if self.job is None:
            return _may_reach(self.run, self.step)
        if self.job.status is JobStatus.DELAYED:
            return self.wait is not None and self.wait.matched is None and now <= self.wait.until
        return self.job.status in (JobStatus.PENDING, JobStatus.QUEUED)


def label_of(choice: AskChoice, variables: dict[str, Any]) -> str:
    return render_text(choice.label or "", variables).strip() or choice.value


async def find_question(
    db: Connection, environment_id: EnvironmentId, run_id: NotificationId, reference: str, *, vault: Vault
) -> RunQuestion | None:
    """Find a question by its run and the `stepId` or `_id` of its step; None if there is no such question."""
    runs = await load_runs(db, environment_id, [run_id])
    step = runs[0].version.find_step(reference) if runs else None
    if step is None or step.type is not StepType.ASK:
        return None
    (run,) = runs
    version = await get_configuration_version(db, environment_id)
    run.content = await get_environment_content(db, environment_id, version, vault)
    await add_past(db, environment_id, runs)
    await add_texts(db, runs, version)
    variables = variables_of(run)
    if run.version.refers_to_texts:
        variables[TEXTS] = make_texts(run.texts)
    job = next((one for one in run.jobs if run.step_of(one).id == step.id), None)
    is_waiting = job is not None and job.status is JobStatus.DELAYED
    waits = await list_waits_of_jobs(db, environment_id, [job.id]) if is_waiting and job is not None else {}
    return RunQuestion(
        run=run,
        step=step,
        controls=read_as(AskControls, step.controls),
        variables=variables,
        job=job,
        wait=None if job is None else waits.get(job.id),
        answer=(await list_answers(db, environment_id, [run_id])).get((run_id, step.id_bytes)),
    )


def _may_reach(run: Run, step: Step) -> bool:
    """Whether a run may come to a step that it has no job for: one on a path that no branch decided about yet."""
    while step.within is not None:
        branch = run.version.find_step(step.within.branch)
        if branch is None:
            return False
        job = next((one for one in run.jobs if run.step_of(one).id == branch.id), None)
        if job is not None:
            return job.status not in FINISHED
        step = branch
    return False
