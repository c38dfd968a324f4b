"""Changes of workflows in the audit log."""

from typing import Any

from clarion.audit.model import Action, Target, TargetType
from clarion.audit.recording import record
from clarion.http.operation import Call
from clarion.ids import id_text
from clarion.jsontext import plain_value
from clarion.workflows.model import Step, VersionedWorkflow


async def record_workflow(
    call: Call, action: Action, *, before: VersionedWorkflow | None = None, after: VersionedWorkflow | None = None
) -> None:
    """Record a change of a workflow, unless nothing differs."""
    found = after or before
    if found is None:
        raise TypeError("A change has a workflow before or after it")
    await record(
        call,
        action,
        Target(type=TargetType.WORKFLOW, id=id_text(found[0].id), name=found[0].key),
        before=None if before is None else describe_workflow(before),
        after=None if after is None else describe_workflow(after),
    )


def describe_workflow(current: VersionedWorkflow) -> dict[str, Any]:
    """Return a workflow as entries show it; steps are by their identifier, so that only changed ones differ."""
    workflow, version = current
    return {
        "workflowId": workflow.key,
        "name": workflow.name,
        "description": workflow.description,
        "tags": workflow.tags,
        "active": workflow.active,
        "severity": workflow.severity,
        "preferences": plain_value({"workflow": workflow.default_preference, "user": workflow.user_preference}),
        "payloadSchema": version.payload_schema,
        "validatePayload": version.validate_payload,
        "steps": {step.step_id: _describe_step(step) for step in version.steps},
        "stepOrder": [step.step_id for step in version.steps],
    }


def _describe_step(step: Step) -> dict[str, Any]:
    described: dict[str, Any] = plain_value(step)
    return {name: value for name, value in described.items() if name not in ("id", "stepId")}
