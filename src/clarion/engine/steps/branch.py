"""Branch: the run goes on by the first path whose condition holds, or by one that the weights choose."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from clarion.conditions import CompiledLogic, ConditionResult
from clarion.engine.masking import mask_result
from clarion.engine.steps.decision import Branched, StepContext, StepOutcome
from clarion.jobs.details import DetailCode
from clarion.templates import render_value
from clarion.workflows.control_parts import BranchPath
from clarion.workflows.controls import BranchControls
from clarion.workflows.tree import OTHERWISE

_SCALE = 1 << 64


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(BranchControls)
    paths = controls.paths or []
    if any(path.weight for path in paths):
        return _take_by_weight(context, paths)
    tried: list[dict[str, Any]] = []
    for path, result in _try_conditions(context, paths):
        tried.append({"path": path.name, "passed": result.passed, "conditions": result.explanation})
        if result.passed:
            return _take(context, path.name, {"tried": tried})
    return _take(context, None if controls.otherwise is None else OTHERWISE, {"tried": tried})


def _take(context: StepContext, path: str | None, why: dict[str, Any]) -> Branched:
    code = DetailCode.NO_PATH_TAKEN if path is None else DetailCode.PATH_TAKEN
    context.note(code, raw={"path": path, **why})
    return Branched(path)


def _try_conditions(context: StepContext, paths: Sequence[BranchPath]) -> Iterator[tuple[BranchPath, ConditionResult]]:
    """Decide one condition after the other; a path without one is never taken."""
    for path, compiled in zip(paths, context.step.path_rules, strict=True):
        if compiled is None:
            continue
        rule = compiled
        if context.step.has_templates_in_paths:
            rule = CompiledLogic(render_value(compiled.logic, context.variables))
        yield path, mask_result(context.decide(rule), compiled.logic, context.run.content)


def _take_by_weight(context: StepContext, paths: Sequence[BranchPath]) -> Branched:
    """Take the path on which the person's share falls: always the same one for a person and a step."""
    weights = [path.weight or 0 for path in paths]
    share = _find_share(context) * sum(weights) // _SCALE
    chosen, reached = paths[-1], 0
    for path, weight in zip(paths, weights, strict=True):
        reached += weight
        if share < reached:
            chosen = path
            break
    return _take(context, chosen.name, {"weights": {path.name: path.weight or 0 for path in paths}})


def _find_share(context: StepContext) -> int:
    """Return a number below the scale that looks random and depends on the person and the step alone."""
    person = context.run.subscriber.key.encode()
    return int.from_bytes(blake2b(person, digest_size=8, key=context.step.id_bytes).digest())
