"""Branches, exits and triggers of other workflows: which way a run took, where it ended, and what it started."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clarion.explain.model import Decision, DecisionKind, Verdict, sentence
from clarion.explain.observed import Observed
from clarion.explain.reached import join_comparisons
from clarion.explain.store import StoredRun
from clarion.vocabulary import JobStatus
from clarion.workflows.model import Step, StepPlace
from clarion.workflows.tree import OTHERWISE


def path_taken(observed: Observed) -> Decision:
    path, branch = observed.raw.get("path"), observed.step_name
    if "weights" in observed.raw:
        why = f"{observed.name} always falls on this one by the weights"
    elif path == OTHERWISE:
        why = "no condition held"
    else:
        why = f"its condition held{join_comparisons(_last_conditions(observed.raw), held=True)}"
    summary = f"The run took the path '{path}' of {branch}: {why}."
    return observed.decision(DecisionKind.BRANCH, Verdict.PASSED, summary)


def no_path_taken(observed: Observed) -> Decision:
    summary = f"No condition of {observed.step_name} held: the run went on after it."
    remedy = "Values for which a condition holds, or a path 'otherwise' in the branch."
    return observed.decision(DecisionKind.BRANCH, Verdict.PASSED, summary, remedy)


def run_ended(observed: Observed) -> Decision:
    reason = observed.raw.get("reason")
    summary = f"{sentence(observed.step_name)} ended the run{f': {reason}' if reason else ''}."
    return observed.decision(DecisionKind.EXIT, Verdict.PASSED, summary)


def workflow_triggered(observed: Observed) -> Decision:
    raw = observed.raw
    people = ", ".join(f"'{one}'" for one in raw.get("subscriberIds", ()))
    summary = f"The workflow '{raw.get('workflowId')}' was triggered for {people} ({raw.get('transactionId')})."
    return observed.decision(DecisionKind.TRIGGER, Verdict.PASSED, summary)


def workflow_not_triggered(observed: Observed) -> Decision:
    raw = observed.raw
    summary = f"The workflow '{raw.get('workflowId')}' could not be triggered: {raw.get('reason')}."
    remedy = "Correct what the reason names: the controls of the step, or the other workflow."
    return observed.decision(DecisionKind.TRIGGER, Verdict.FAILED, summary, remedy)


def list_not_taken(run: StoredRun) -> Iterator[tuple[Step, str]]:
    """Yield the active steps that the run did not come to, because it took another path, with the reason."""
    steps = () if run.version is None else run.version.steps
    taken = {step.step_id: path for step, path in _list_turns(run)}
    reached = {job.step for job in run.jobs}
    for position, step in enumerate(steps):
        if step.within is None or position in reached or not step.active:
            continue
        place = _find_turn(step.within, steps, taken)
        if place is not None:
            path = taken[place.branch]
            other = "none" if path is None else f"'{path}'"
            yield step, f"The run took {other} of the paths of '{place.branch}', and the step is on '{place.path}'."


def _list_turns(run: StoredRun) -> Iterator[tuple[Step, str | None]]:
    for job in run.jobs:
        step, turns = run.step_of(job), [one.raw for one in job.details if isinstance(one.raw, dict)]
        paths = [raw["path"] for raw in turns if "path" in raw and ("tried" in raw or "weights" in raw)]
        if step is not None and job.status is JobStatus.COMPLETED and paths:
            yield step, paths[-1]


def _find_turn(within: StepPlace, steps: Sequence[Step], taken: Mapping[str, str | None]) -> StepPlace | None:
    """Return the outermost place around a step that the run passed by."""
    places = [within]
    while (outer := _place_of(places[0].branch, steps)) is not None:
        places.insert(0, outer)
    return next((one for one in places if one.branch in taken and taken[one.branch] != one.path), None)


def _place_of(branch: str, steps: Sequence[Step]) -> StepPlace | None:
    return next((one.within for one in steps if one.step_id == branch), None)


def _last_conditions(raw: Mapping[str, Any]) -> dict[str, Any]:
    tried = raw.get("tried") or [{}]
    conditions = tried[-1].get("conditions")
    return conditions if isinstance(conditions, dict) else {}
