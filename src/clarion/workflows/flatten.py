"""Takes the steps of a body out of the paths of its branches, into one list in reading order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from clarion.http.input.validation import find_problems, list_unknown
from clarion.http.wire import parse_checked
from clarion.vocabulary import StepType
from clarion.workflows.custom_form import CONTENT, SHOWN_AS_CUSTOM
from clarion.workflows.model import MAX_STEPS, Step
from clarion.workflows.step_wire import StepIn, StepKind
from clarion.workflows.tree import MAX_ALL_STEPS, MAX_DEPTH, PathSteps, nest_controls, take_out_steps

StepProblem = tuple[str, str, Any]
"""A path in the body, what is wrong there, and the value."""

_SHAPE: Final = Annotated[list[StepIn], Meta(max_length=MAX_STEPS)]


class PlacedStep(Struct, frozen=True, kw_only=True):
    """A step of a body; the controls of a branch have no steps any more."""

    step: StepIn
    where: str
    """Its path in the body."""
    branch: int | None = None
    """The position of the branch that it is within; None on the trunk."""
    path: str = ""
    """The name of its path."""


class FlatSteps(Struct):
    """All steps of a body, and what is wrong with how they are nested."""

    placed: list[PlacedStep] = []
    problems: list[StepProblem] = []

    @property
    def steps(self) -> list[StepIn]:
        return [one.step for one in self.placed]


def flatten_steps(inputs: Sequence[StepIn], previous: Sequence[Step] = ()) -> FlatSteps:
    """Return all steps; `previous` are those that the workflow has, which clients may send back in short."""
    flat = FlatSteps()
    _flatten(flat, inputs, previous, PlacedStep(step=_NOTHING, where="steps"), depth=0)
    if len(flat.placed) > MAX_ALL_STEPS:
        problem = f"are {len(flat.placed)} with those of branches; a workflow has at most {MAX_ALL_STEPS}"
        flat.problems.append(("steps", problem, None))
    return flat


_NOTHING: Final = StepIn(name="-", type=StepKind.CUSTOM)


def _flatten(
    flat: FlatSteps, inputs: Sequence[StepIn], previous: Sequence[Step], within: PlacedStep, depth: int
) -> None:
    for number, given in enumerate(inputs):
        step = _read_custom_form(given, previous)
        placed = replace(within, step=step, where=f"{within.where}.{number}")
        flat.placed.append(placed)
        if step.step_type is not StepType.BRANCH:
            continue
        controls, paths = take_out_steps(step.control_values or {})
        position = len(flat.placed) - 1
        flat.placed[position] = replace(placed, step=_with_controls(step, controls))
        for path in paths:
            where = f"{placed.where}.controlValues.{path.where}"
            inside = PlacedStep(step=step, where=where, branch=position, path=path.path)
            nested = _read(flat, path, where, depth + 1)
            _flatten(flat, nested, previous, inside, depth + 1)


def _read(flat: FlatSteps, path: PathSteps, where: str, depth: int) -> list[StepIn]:
    if depth > MAX_DEPTH:
        flat.problems.append((where, f"are branches within branches, which may be {MAX_DEPTH} deep", None))
        return []
    problems = list(_list_problems(path.steps, where))
    flat.problems += problems
    return [] if problems else msgspec.convert(path.steps, _SHAPE, dec_hook=parse_checked)


def _list_problems(steps: Any, where: str) -> Iterator[StepProblem]:
    found = [*find_problems(steps, _SHAPE, where)] or [*list_unknown(steps, _SHAPE, where)]
    yield from ((path, problem.message, problem.value) for path, problem in found)


def _with_controls(step: StepIn, controls: Mapping[str, Any]) -> StepIn:
    return replace(step, control_values=dict(controls))


def _read_custom_form(step: StepIn, previous: Sequence[Step]) -> StepIn:
    """Return the step that a custom step stands for; any other step is returned as it is.

    One that has no content, and is known as of another kind, stays what it was: its controls are not sent back.
    """
    if step.type is not StepKind.CUSTOM:
        return step
    controls = step.control_values or {}
    content = controls.get(CONTENT)
    if isinstance(content, dict):
        kind = content.get("type")
        return _of_kind(step, StepKind(kind), controls, content) if kind in SHOWN_AS_CUSTOM else step
    known = _find_known(step, previous)
    if known is None or content is not None:
        return step
    stored = nest_controls(previous, known) if known.type is StepType.BRANCH else known.controls
    return replace(step, type=StepKind(known.type), control_values={**stored, **controls})


def _of_kind(step: StepIn, kind: StepKind, controls: Mapping[str, Any], content: Mapping[str, Any]) -> StepIn:
    own = {name: value for name, value in content.items() if name != "type"}
    outside = {name: value for name, value in controls.items() if name != CONTENT}
    return replace(step, type=kind, control_values={**own, **outside})


def _find_known(step: StepIn, previous: Sequence[Step]) -> Step | None:
    names = (step.id, None if step.step_id is None else str(step.step_id))
    known = (one for one in previous if one.id == names[0] or one.step_id == names[1])
    return next((one for one in known if one.type in SHOWN_AS_CUSTOM), None)
