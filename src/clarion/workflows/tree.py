"""Workflows as trees: a branch has paths, and each path has steps.

A version keeps all its steps in one list, in reading order, each with the place where it stands; the API nests them in
the controls of the branches.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from clarion.jsontext import plain_value
from clarion.vocabulary import StepType
from clarion.workflows.model import Step, StepPlace

MAX_PATHS: Final = 10
MAX_DEPTH: Final = 5
MAX_ALL_STEPS: Final = 100
OTHERWISE: Final = "otherwise"
"""The name of the path that is taken where no condition holds."""
_DEFINITION: Final = (
    "name",
    "type",
    "active",
    "filters",
    "shouldStopOnFail",
    "variants",
    "replyCallback",
    "providerOverrides",
)
_USUAL: Final[dict[str, Any]] = {
    "active": True,
    "filters": [],
    "shouldStopOnFail": False,
    "variants": [],
    "replyCallback": None,
    "providerOverrides": None,
}


class PathSteps(Struct, frozen=True):
    """The steps of a path, as the controls of a branch hold them."""

    path: str
    """The name of the path."""
    where: str
    """The place of the steps in the controls."""
    steps: Any


def take_out_steps(controls: Mapping[str, Any]) -> tuple[dict[str, Any], list[PathSteps]]:
    """Return the controls of a branch without the steps of its paths, and these; other faults are left as they are."""
    bare, taken = dict(controls), list[PathSteps]()
    if isinstance(bare.get("paths"), list):
        bare["paths"] = [_take_out(path, number, taken) for number, path in enumerate(bare["paths"])]
    otherwise = bare.get(OTHERWISE)
    if isinstance(otherwise, dict) and "steps" in otherwise:
        taken.append(PathSteps(OTHERWISE, f"{OTHERWISE}.steps", otherwise["steps"]))
        bare[OTHERWISE] = {name: value for name, value in otherwise.items() if name != "steps"}
    return bare, taken


def _take_out(path: Any, number: int, taken: list[PathSteps]) -> Any:
    if not isinstance(path, dict) or "steps" not in path:
        return path
    taken.append(PathSteps(str(path.get("name")), f"paths.{number}.steps", path["steps"]))
    return {name: value for name, value in path.items() if name != "steps"}


def nest_controls(steps: Sequence[Step], branch: Step) -> dict[str, Any]:
    """Return the controls of a branch with the steps of its paths, as they are saved."""
    nested: dict[str, list[dict[str, Any]]] = {}
    for step in steps:
        if step.within is not None and step.within.branch == branch.step_id:
            nested.setdefault(step.within.path, []).append(define_step(steps, step))
    controls = dict(branch.controls)
    if "paths" in controls:
        controls["paths"] = [{**path, "steps": nested.get(path["name"], [])} for path in controls["paths"]]
    if controls.get(OTHERWISE) is not None:
        controls[OTHERWISE] = {**controls[OTHERWISE], "steps": nested.get(OTHERWISE, [])}
    return controls


def define_step(steps: Sequence[Step], step: Step) -> dict[str, Any]:
    """Return a step as it is saved, without what is usual."""
    values: dict[str, Any] = plain_value(step)
    given = {name: values[name] for name in _DEFINITION if name not in _USUAL or values[name] != _USUAL[name]}
    variants = [
        {"_id": one["id"], "name": one["name"], "filters": one["filters"], "controlValues": one["controls"]}
        for one in given.get("variants", ())
    ]
    controls = nest_controls(steps, step) if step.type is StepType.BRANCH else step.controls
    return {
        "_id": step.id,
        "stepId": step.step_id,
        **given,
        **({"variants": variants} if variants else {}),
        "controlValues": controls,
    }


def list_path_names(branch: Step) -> list[str]:
    """List the paths of a branch in the order in which they are tried."""
    names = [path["name"] for path in branch.controls.get("paths") or ()]
    return [*names, OTHERWISE] if branch.controls.get(OTHERWISE) is not None else names


def list_within(steps: Sequence[Step], branch: Step) -> list[Step]:
    """List the steps of a branch at any depth, in reading order."""
    inside, listed = {branch.step_id}, list[Step]()
    for step in steps:
        if step.within is not None and step.within.branch in inside:
            inside.add(step.step_id)
            listed.append(step)
    return listed


def list_children(steps: Sequence[Step], place: StepPlace | None) -> Iterator[tuple[int, Step]]:
    """Yield the steps of one path, or of the trunk, with their positions in the version."""
    for position, step in enumerate(steps):
        if step.within == place:
            yield position, step


def list_earlier(steps: Sequence[Step], position: int) -> list[Step]:
    """List the steps that a run may have done before it comes to a step: none of other paths of the same branches."""
    if position >= len(steps):
        return list(steps)
    own = _find_way(steps, steps[position])
    if not own:
        return [*steps[:position]]
    return [one for one in steps[:position] if _can_precede(_find_way(steps, one), own)]


def list_questions(steps: Sequence[Step], position: int) -> list[Step]:
    """List the steps behind a step that ask, but those of other paths of the same branches."""
    asking = [one for one in steps[position + 1 :] if one.type is StepType.ASK and one.active]
    own = _find_way(steps, steps[position]) if asking else {}
    return [one for one in asking if _can_precede(own, _find_way(steps, one))]


def _can_precede(way: Mapping[str, str], own: Mapping[str, str]) -> bool:
    return all(own.get(branch, path) == path for branch, path in way.items())


def _find_way(steps: Sequence[Step], step: Step) -> dict[str, str]:
    """Return which path a run takes of each branch that a step is within."""
    if step.within is None:
        return {}
    branches = {one.step_id: one for one in steps if one.type is StepType.BRANCH}
    way: dict[str, str] = {}
    place: StepPlace | None = step.within
    while place is not None:
        way[place.branch] = place.path
        place = branches[place.branch].within
    return way


def name_path(steps: Sequence[Step], step: Step) -> str:
    """Return where a step stands, in words of its workflow: `check/urgent/sms`."""
    way = _find_way(steps, step)
    return "/".join([part for branch, path in reversed(way.items()) for part in (branch, path)] + [step.step_id])


def list_body_paths(steps: Sequence[Step]) -> list[str]:
    """Return the path of each step in the body of the API."""
    paths: dict[str, str] = {}
    counts: dict[StepPlace | None, int] = {}
    numbers = {one.step_id: _number_paths(one) for one in steps if one.type is StepType.BRANCH}
    for step in steps:
        number = counts[step.within] = counts.get(step.within, -1) + 1
        prefix = "steps"
        if step.within is not None:
            inside = numbers[step.within.branch][step.within.path]
            prefix = f"{paths[step.within.branch]}.controlValues.{inside}.steps"
        paths[step.step_id] = f"{prefix}.{number}"
    return list(paths.values())


def _number_paths(branch: Step) -> dict[str, str]:
    paths = branch.controls.get("paths") or []
    return {OTHERWISE: OTHERWISE} | {path["name"]: f"paths.{number}" for number, path in enumerate(paths)}
