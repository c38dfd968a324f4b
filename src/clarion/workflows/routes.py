"""Workflows: create, read, change, list, copy, delete; and previews of their steps."""

import asyncio

from msgspec import UnsetType

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_request
from clarion.content.layouts.usage import name_layouts
from clarion.content.translations.groups import ResourceType, list_groups
from clarion.content.translations.switching import switch_translations
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.preconditions import IfMatch
from clarion.http.wire import changes_of
from clarion.ids import WorkflowKey
from clarion.vocabulary import Scope, StepType
from clarion.workflows import actions, store
from clarion.workflows.confirming import check_confirmed
from clarion.workflows.current import find_known, get_step, lock_workflow, show_workflow, translated
from clarion.workflows.custom_form import keep_controls
from clarion.workflows.history import (
    VersionKind,
    VersionOrigin,
)
from clarion.workflows.listing import list_workflow_page
from clarion.workflows.model import VersionedWorkflow, Workflow
from clarion.workflows.reply_callbacks import check_callback_rights, check_callback_urls
from clarion.workflows.step_wire import (
    ShownWorkflow,
    StepKind,
    StepOut,
    StepSchemaOut,
)
from clarion.workflows.steps import build_steps, check_definition
from clarion.workflows.variables import describe_variables, find_unknown_variables
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


async def _check_new_workflow(call: DetachedCall, body: WorkflowIn) -> None:
    # Parsing takes long for large texts, so that neither the event loop nor the writer of SQLite waits for it.
    await asyncio.to_thread(check_definition, body.steps, body.content().get("payload_schema"))
    await check_callback_urls(call.services.gateway, body.steps)


async def _check_workflow(call: DetachedCall, _: WorkflowKey, body: WorkflowPut) -> None:
    await asyncio.to_thread(check_definition, body.steps, body.content().get("payload_schema"))
    await check_callback_urls(call.services.gateway, body.steps)


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
    etag=True,
)
async def create_workflow(call: Call, body: WorkflowIn) -> WorkflowOut:
    """Create a workflow; incomplete steps are saved too, and their issues list what they lack."""
    fields = body.fields() | {"key": WorkflowKey(str(body.workflow_id))}
    steps = build_steps(body.steps, (), call.now)
    check_callback_rights(call.caller, call.environment_id, (), steps)
    steps = await name_layouts(call.db, call.environment_id, steps)
    content = body.content() | {"steps": steps}
    made = await actions.create_workflow(call.db, call.environment_id, fields, content, call.now, _saved_by(call))
    await record_request(call, Action.WORKFLOW_CREATE, after=made)
    await _switch_translations(call, made.workflow, body)
    return await show_workflow(call, made)


@operation("GET", "/v2/workflows", scope=Scope.WORKFLOWS_READ, query=WorkflowsQuery, transaction=Transaction.SCAN)
async def list_workflows(call: Call, query: WorkflowsQuery) -> WorkflowsOut:
    """List workflows; `query` is a part of the name or identifier, and one of the `tags` suffices."""
    page, total = await list_workflow_page(call.db, call.environment_id, query)
    ids = [one.workflow.id for one in page]
    groups = await list_groups(call.db, call.environment_id, ResourceType.WORKFLOW, ids) if ids else {}
    translated = {resource_id for resource_id, group in groups.items() if group.is_enabled}
    listed = [
        ListedWorkflowOut.of(*one, call.services.names, is_translated=one.workflow.id in translated) for one in page
    ]
    return WorkflowsOut(workflows=listed, total_count=total)


@operation("GET", "/v2/workflows/{workflowId}", scope=Scope.WORKFLOWS_READ, etag=True)
async def get_workflow(call: Call, workflow_key: WorkflowKey) -> WorkflowOut:
    """Retrieve a workflow by its identifier, `_id` or slug."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key)
    return await show_workflow(call, VersionedWorkflow(workflow, await store.get_version(call.db, workflow)))


@operation(
    "PUT",
    "/v2/workflows/{workflowId}",
    scope=Scope.WORKFLOWS_WRITE,
    body=WorkflowPut,
    body_limit=LARGE_BODY,
    precheck=_check_workflow,
    etag=True,
    conditional=True,
)
async def replace_workflow(call: Call, workflow_key: WorkflowKey, body: WorkflowPut, if_match: IfMatch) -> WorkflowOut:
    """Replace the steps and change what else is sent; runs under way keep the version that they started with."""
    current = await lock_workflow(call, workflow_key, if_match)
    steps = build_steps(body.steps, current.version.steps, call.now)
    if call.caller.member is None and not call.services.names.has_all_steps:
        steps = [keep_controls(one, current.version.steps) for one in steps]
    await check_confirmed(call, current, steps, body.confirm_token)
    check_callback_rights(call.caller, call.environment_id, current.version.steps, steps)
    content = body.content() | {"steps": await name_layouts(call.db, call.environment_id, steps)}
    changed = await actions.change_workflow(call.db, current, body.fields(), content, call.now, _saved_by(call))
    await record_request(call, Action.WORKFLOW_UPDATE, before=current, after=changed)
    await _switch_translations(call, changed.workflow, body)
    return await show_workflow(call, changed)


@operation(
    "PATCH",
    "/v2/workflows/{workflowId}",
    scope=Scope.WORKFLOWS_WRITE,
    body=WorkflowPatch,
    body_limit=LARGE_BODY,
    precheck=_check_changes,
    etag=True,
    conditional=True,
)
async def update_workflow(call: Call, workflow_key: WorkflowKey, body: WorkflowPatch, if_match: IfMatch) -> WorkflowOut:
    """Change the supplied fields and leave the others, and the steps, as they are."""
    current = await lock_workflow(call, workflow_key, if_match)
    origin = _saved_by(call)
    changed = await actions.change_workflow(call.db, current, body.fields(), body.content(), call.now, origin)
    await record_request(call, Action.WORKFLOW_UPDATE, before=current, after=changed)
    await _switch_translations(call, changed.workflow, body)
    return await show_workflow(call, changed)


@operation("DELETE", "/v2/workflows/{workflowId}", scope=Scope.WORKFLOWS_WRITE, status=204, conditional=True)
async def delete_workflow(call: Call, workflow_key: WorkflowKey, if_match: IfMatch) -> None:
    """Delete a workflow; runs under way go on, and its identifier is free again."""
    current = await lock_workflow(call, workflow_key, if_match)
    await actions.delete_workflow(call.db, current.workflow, call.now)
    await record_request(call, Action.WORKFLOW_DELETE, before=current)


@operation(
    "POST",
    "/v2/workflows/{workflowId}/duplicate",
    scope=Scope.WORKFLOWS_WRITE,
    status=201,
    body=DuplicateIn,
    body_limit=LARGE_BODY,
    etag=True,
)
async def duplicate_workflow(call: Call, workflow_key: WorkflowKey, body: DuplicateIn) -> WorkflowOut:
    """Copy a workflow under another identifier; the copy is inactive."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key)
    fields = changes_of(body, "name", "description", "tags")
    if not isinstance(body.workflow_id, UnsetType):
        fields["key"] = WorkflowKey(str(body.workflow_id))
    origin = VersionOrigin(kind=VersionKind.DUPLICATED, actor=author_of(call).actor, source_id=workflow.id)
    check_callback_rights(call.caller, call.environment_id, (), (await store.get_version(call.db, workflow)).steps)
    made = await actions.duplicate_workflow(call.db, workflow, fields, call.now, origin)
    await record_request(call, Action.WORKFLOW_DUPLICATE, after=made)
    return await show_workflow(call, made)


@operation("GET", "/v1/workflows/steps/schemas", scope=Scope.WORKFLOWS_READ)
async def list_step_schemas(_: Call) -> list[StepSchemaOut]:
    """List the step types with the JSON Schemas of their controls, for forms."""
    return [StepSchemaOut.of(StepType(kind.value)) for kind in StepKind]


@operation("GET", "/v2/workflows/{workflowId}/steps/{stepId}", scope=Scope.WORKFLOWS_READ)
async def get_workflow_step(call: Call, workflow_key: WorkflowKey, step_id: str) -> StepOut:
    """Retrieve a step of a workflow by its identifier, `_id` or slug."""
    workflow, version, step = await get_step(call.db, call.environment_id, workflow_key, step_id)
    known, env_keys = await find_known(call.db, workflow, version)
    variables = describe_variables(version, step, whole=True, env_keys=env_keys)
    unknown = find_unknown_variables(version, known, env_keys, is_critical=workflow.is_critical)
    names = call.services.names
    shown = ShownWorkflow(workflow=workflow, version=version, origin=names.origin, has_all_steps=names.has_all_steps)
    return StepOut.of(step, shown, variables, unknown.get(step.id, ()))


async def _switch_translations(call: Call, workflow: Workflow, body: WorkflowPatch) -> None:
    if not isinstance(body.is_translation_enabled, UnsetType):
        await switch_translations(call, translated(workflow), workflow.key, enabled=body.is_translation_enabled)


def _saved_by(call: Call) -> VersionOrigin:
    return VersionOrigin(actor=author_of(call).actor)
