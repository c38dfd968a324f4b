"""Overrides of a trigger that nothing reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from clarion.providers.registry import find_provider
from clarion.vocabulary import Channel, StepType
from clarion.workflows.model import Step

_DELAY = "delay"
_LAYERS = frozenset({*Channel, _DELAY, "providers", "steps"})


def list_misplaced_overrides(overrides: Mapping[str, Any], workflow_steps: Sequence[Step] | None) -> dict[str, str]:
    """What stands where nothing reads it, and why, by path; without the steps nothing is compared with them."""
    found = {
        name: "is neither a channel nor a provider"
        for name in overrides
        if name not in _LAYERS and find_provider(name) is None
    }
    if Channel.IN_APP in overrides:
        found[Channel.IN_APP] = "in-app messages have no overrides"
    if workflow_steps is not None and _DELAY in overrides and all(one.type != StepType.DELAY for one in workflow_steps):
        found[_DELAY] = "the workflow has no delay step"
    found |= _list_unknown_providers("providers", overrides.get("providers"))
    step_ids = None if workflow_steps is None else {one.step_id for one in workflow_steps}
    steps = overrides.get("steps")
    for step_id, step in steps.items() if isinstance(steps, dict) else ():
        if step_ids is not None and step_id not in step_ids:
            found[f"steps.{step_id}"] = "the workflow has no such step"
        elif isinstance(step, dict):
            found |= {f"steps.{step_id}.{name}": "only providers is read here" for name in step.keys() - {"providers"}}
            found |= _list_unknown_providers(f"steps.{step_id}.providers", step.get("providers"))
    return found


def _list_unknown_providers(path: str, providers: object) -> dict[str, str]:
    names = providers if isinstance(providers, dict) else ()
    return {f"{path}.{name}": "is not a provider" for name in names if find_provider(name) is None}
