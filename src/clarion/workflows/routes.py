"""Workflows: create, read, change, list, copy, delete, and previews of their steps."""

import asyncio

from msgspec import UnsetType

from clarion.audit.model import Action
from clarion.db.port import Connection
from clarion.errors import NotFound
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.wire import changes_of, given
from clarion.ids import EnvironmentId, WorkflowKey
from clarion.jsontext import plain_value
from clarion.vocabulary import Scope
from clarion.workflows import actions, store
from clarion.workflows.auditing import record_workflow
from clarion.workflows.listing import list_workflow_page
from clarion.workflows.model import Step, VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.preview import render_preview
from clarion.workflows.step_wire import PreviewIn, PreviewOut, PreviewPayloadIn, PreviewResultOut, StepOut
from clarion.workflows.steps import build_steps, check_definition
from clarion.workflows.wire import (
    DuplicateIn,
    ListedWorkflowOut,
    WorkflowIn,
    WorkflowOut,
    WorkflowPatch,
    WorkflowPut,
    WorkflowsOut,
    WorkflowsQuery,
)


async def _check_new_workflow(_: DetachedCall, body: WorkflowIn) -> None:
    # Parsing takes long for large texts, so that neither the event loop nor the writer of SQLite waits for it.
    await asyncio.to_thread(check_definition, body.steps, body.content().get("payload_schema"))


async def _check_workflow(_: DetachedCall, __: WorkflowKey, body: WorkflowPut) -> None:
    await asyncio.to_thread(check_definition, body.steps, body.content().get("payload_schema"))


async def _check_changes(_: DetachedCall, __: WorkflowKey, body: WorkflowPatch) -> None:
    await asyncio.to_thread(check_definition, (), body.content().get("payload_schema"))


@operation(
    "POST",
    "/v2/workflows",
    scope=Scope.WORKFLOWS_WRITE,
    status=201,
    body=WorkflowIn,
    body_limit=LARGE_BODY,
    precheck=_check_new_workflow,
)
async def create_workflow(call: Call, body: WorkflowIn) -> WorkflowOut:
    """Create a workflow; incomplete steps are saved too, and their issues list what they lack."""
    fields = body.fields() | {"key": WorkflowKey(str(body.workflow_id))}
    content = body.content() | {"steps": build_steps(body.steps, (), call.now)}
    made = await actions.create_workflow(call.db, call.environment_id, fields, content, call.now)
    await record_workflow(call, Action.WORKFLOW_CREATE, after=made)
    return WorkflowOut.of(*made, call.services.names.origin)


@operation("GET", "/v2/workflows", scope=Scope.WORKFLOWS_READ, query=WorkflowsQuery, transaction=Transaction.SCAN)
async def list_workflows(call: Call, query: WorkflowsQuery) -> WorkflowsOut:
    """List workflows; `query` is a part of the name or identifier, and one of the `tags` suffices."""
    page, total = await list_workflow_page(call.db, call.environment_id, query)
    origin = call.services.names.origin
    return WorkflowsOut(workflows=[ListedWorkflowOut.of(*one, origin) for one in page], total_count=total)


@operation("GET", "/v2/workflows/{workflowId}", scope=Scope.WORKFLOWS_READ)
async def get_workflow(call: Call, workflow_key: WorkflowKey) -> WorkflowOut:
    """Retrieve a workflow by its identifier, `_id` or slug."""
    found = await store.get_workflow(call.db, call.environment_id, workflow_key)
    return WorkflowOut.of(found, await store.get_version(call.db, found), call.services.names.origin)


@operation(
    "PUT",
    "/v2/workflows/{workflowId}",
    scope=Scope.WORKFLOWS_WRITE,
    body=WorkflowPut,
    body_limit=LARGE_BODY,
    precheck=_check_workflow,
)
async def replace_workflow(call: Call, workflow_key: WorkflowKey, body: WorkflowPut) -> WorkflowOut:
    """Replace the steps and change what else is sent; runs under way keep the version that they started with."""
    current = await _lock_workflow(call, workflow_key)
    content = body.content() | {"steps": build_steps(body.steps, current[1].steps, call.now)}
    changed = await actions.change_workflow(call.db, current, body.fields(), content, call.now)
    await record_workflow(call, Action.WORKFLOW_UPDATE, before=current, after=changed)
    return WorkflowOut.of(*changed, call.services.names.origin)


@operation(
    "PATCH",
    "/v2/workflows/{workflowId}",
    scope=Scope.WORKFLOWS_WRITE,
    body=WorkflowPatch,
    body_limit=LARGE_BODY,
    precheck=_check_changes,
)
async def update_workflow(call: Call, workflow_key: WorkflowKey, body: WorkflowPatch) -> WorkflowOut:
    """Change the supplied fields and leave the others, and the steps, as they are."""
    current = await _lock_workflow(call, workflow_key)
    changed = await actions.change_workflow(call.db, current, body.fields(), body.content(), call.now)
    await record_workflow(call, Action.WORKFLOW_UPDATE, before=current, after=changed)
    return WorkflowOut.of(*changed, call.services.names.origin)


@operation("DELETE", "/v2/workflows/{workflowId}", scope=Scope.WORKFLOWS_WRITE, status=204)
async def delete_workflow(call: Call, workflow_key: WorkflowKey) -> None:
    """Delete a workflow; runs under way go on, and its identifier is free again."""
    current = await _lock_workflow(call, workflow_key)
    await actions.delete_workflow(call.db, current[0], call.now)
    await record_workflow(call, Action.WORKFLOW_DELETE, before=current)


@operation(
    "POST",
    "/v2/workflows/{workflowId}/duplicate",
    scope=Scope.WORKFLOWS_WRITE,
    status=201,
    body=DuplicateIn,
    body_limit=LARGE_BODY,
)
async def duplicate_workflow(call: Call, workflow_key: WorkflowKey, body: DuplicateIn) -> WorkflowOut:
    """Copy a workflow under another identifier; the copy is inactive."""
    found = await store.get_workflow(call.db, call.environment_id, workflow_key)
    fields = changes_of(body, "name", "description", "tags")
    if not isinstance(body.workflow_id, UnsetType):
        fields["key"] = WorkflowKey(str(body.workflow_id))
    made = await actions.duplicate_workflow(call.db, found, fields, call.now)
    await record_workflow(call, Action.WORKFLOW_DUPLICATE, after=made)
    return WorkflowOut.of(*made, call.services.names.origin)


@operation("GET", "/v2/workflows/{workflowId}/steps/{stepId}", scope=Scope.WORKFLOWS_READ)
async def get_workflow_step(call: Call, workflow_key: WorkflowKey, step_id: str) -> StepOut:
    """Retrieve a step of a workflow by its identifier, `_id` or slug."""
    workflow, _, step = await _get_step(call.db, call.environment_id, workflow_key, step_id)
    return StepOut.of(step, workflow, call.services.names.origin)


@operation(
    "POST",
    "/v2/workflows/{workflowId}/step/{stepId}/preview",
    scope=Scope.WORKFLOWS_READ,
    status=201,
    body=PreviewIn,
    body_limit=LARGE_BODY,
    transaction=Transaction.NONE,
)
async def preview_workflow_step(
    call: DetachedCall, workflow_key: WorkflowKey, step_id: str, body: PreviewIn
) -> PreviewOut:
    """Render a step with the given variables; nothing is saved or sent."""
    _, version, step = await call.database.read(
        lambda db: _get_step(db, call.caller.environment_id, workflow_key, step_id)
    )
    example = body.preview_payload or PreviewPayloadIn()
    preview = await asyncio.to_thread(render_preview, step, body.control_values, plain_value(example))
    return PreviewOut(
        preview_payload_example=example,
        result=PreviewResultOut(type=step.type, preview=preview),
        schema=given(version.payload_schema),
    )


async def _lock_workflow(call: Call, workflow_key: WorkflowKey) -> VersionedWorkflow:
    """Lock a workflow and return it with its current version."""
    found = await store.get_workflow(call.db, call.environment_id, workflow_key, for_update=True)
    return found, await store.get_version(call.db, found)


async def _get_step(
    db: Connection, environment_id: EnvironmentId, workflow_key: WorkflowKey, step_id: str
) -> tuple[Workflow, WorkflowVersion, Step]:
    found = await store.get_workflow(db, environment_id, workflow_key)
    version = await store.get_version(db, found)
    step = version.find_step(step_id)
    if step is None:
        raise NotFound("Step", step_id)
    return found, version, step
