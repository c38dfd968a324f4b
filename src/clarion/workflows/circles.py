"""Workflows that would trigger themselves by way of others; they are refused when they are saved."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, WorkflowKey
from clarion.vocabulary import StepType
from clarion.workflows.model import Step
from clarion.workflows.store import list_versions_by_id, list_workflows_by_reference
from clarion.workflows.tree import list_body_paths

_MAX_LOOKED_AT: Final = 200
"""Workflows; the engine ends longer chains as well."""


async def refuse_circle(db: Connection, environment_id: EnvironmentId, key: WorkflowKey, steps: Sequence[Step]) -> None:
    """Raise Invalid if a trigger step leads back to the workflow itself, also by way of other workflows."""
    for path, step in zip(list_body_paths(steps), steps, strict=True):
        place = "escalate.workflowId" if step.type is StepType.ASK else "workflowId"
        for name in list_triggered([step]):
            if await _leads_to(db, environment_id, name, key):
                message = f"leads back to '{key}': workflows must not trigger each other in a circle"
                raise Invalid.field(f"{path}.controlValues.{place}", message, name)


async def _leads_to(db: Connection, environment_id: EnvironmentId, name: str, key: WorkflowKey) -> bool:
    seen: set[str] = set()
    wanted = {name}
    while wanted and len(seen) < _MAX_LOOKED_AT:
        if key in wanted:
            return True
        seen |= wanted
        workflows = (await list_workflows_by_reference(db, environment_id, wanted)).values()
        if any(one.key == key for one in workflows):
            return True
        versions = await list_versions_by_id(db, environment_id, [one.version_id for one in workflows])
        wanted = {other for version in versions.values() for other in list_triggered(version.steps)} - seen
    return False


def list_triggered(steps: Iterable[Step]) -> list[str]:
    """List the workflows that steps trigger, or escalate questions with, as the steps name them."""
    named = (_find_triggered(step) for step in steps)
    return [name for name in named if isinstance(name, str) and name]


def _find_triggered(step: Step) -> Any:
    if step.type is StepType.ASK:
        return (step.controls.get("escalate") or {}).get("workflowId")
    return step.controls.get("workflowId") if step.type is StepType.TRIGGER else None
