"""The versions of workflows: list, read, compare and restore them."""

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_request
from clarion.content.layouts.usage import check_layouts
from clarion.http.operation import Call, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.http.preconditions import IfMatch
from clarion.ids import WorkflowKey
from clarion.vocabulary import Scope
from clarion.workflows import actions, store
from clarion.workflows.current import find_known, lock_workflow, show_workflow
from clarion.workflows.differences import diff_versions
from clarion.workflows.history import (
    VersionKind,
    VersionOrigin,
    find_note,
    get_past_version,
    list_past_versions,
    past_version_of,
)
from clarion.workflows.history_wire import DiffQuery, PastVersionOut, VersionDiffOut, VersionOut, VersionsQuery
from clarion.workflows.reply_callbacks import check_callback_rights
from clarion.workflows.step_wire import ShownWorkflow
from clarion.workflows.wire import WorkflowOut, list_steps

SECTION = "Workflows"


@operation(
    "GET",
    "/v1/workflows/{workflowId}/versions",
    scope=Scope.WORKFLOWS_READ,
    query=VersionsQuery,
    transaction=Transaction.SCAN,
)
async def list_workflow_versions(
    call: Call, workflow_key: WorkflowKey, query: VersionsQuery
) -> CursorPage[PastVersionOut]:
    """List the versions of a workflow, newest first: who made them, when, and what they changed."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key)
    listing = list_past_versions(workflow)
    return await list_cursor_page(
        call.db, listing, query, lambda row: PastVersionOut.of(workflow, past_version_of(row))
    )


@operation("GET", "/v1/workflows/{workflowId}/versions/{versionId}", scope=Scope.WORKFLOWS_READ, refusals=(410,))
async def get_workflow_version(call: Call, workflow_key: WorkflowKey, version_id: str) -> VersionOut:
    """Retrieve a version of a workflow by its `_id` or number, with its steps."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key)
    version = await get_past_version(call.db, workflow, version_id)
    known = await find_known(call.db, workflow, version)
    shown = ShownWorkflow(workflow=workflow, version=version, origin=call.services.names.origin)
    steps = list_steps(shown, *known)
    return VersionOut.whole(workflow, version, await find_note(call.db, version), steps)


@operation(
    "GET",
    "/v1/workflows/{workflowId}/versions/{versionId}/diff",
    scope=Scope.WORKFLOWS_READ,
    query=DiffQuery,
    transaction=Transaction.SCAN,
    refusals=(410,),
)
async def diff_workflow_versions(
    call: Call, workflow_key: WorkflowKey, version_id: str, query: DiffQuery
) -> VersionDiffOut:
    """Compare a version of a workflow with the current one, or with the one that `to` names, field by field."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key)
    source = await get_past_version(call.db, workflow, version_id)
    if query.to is None:
        target = await store.get_version(call.db, workflow)
    else:
        target = await get_past_version(call.db, workflow, query.to)
    return VersionDiffOut.of(source, target, diff_versions(source, target))


@operation(
    "POST",
    "/v1/workflows/{workflowId}/versions/{versionId}/restore",
    scope=Scope.WORKFLOWS_WRITE,
    etag=True,
    conditional=True,
    refusals=(410,),
)
async def restore_workflow_version(
    call: Call, workflow_key: WorkflowKey, version_id: str, if_match: IfMatch
) -> WorkflowOut:
    """Make a new version with the steps and the payload schema of an earlier one; runs under way keep theirs."""
    current = await lock_workflow(call, workflow_key, if_match)
    past = await get_past_version(call.db, current.workflow, version_id)
    check_callback_rights(call.caller, call.environment_id, current.version.steps, past.steps)
    await check_layouts(call.db, past)
    content = {"steps": past.steps, "payload_schema": past.payload_schema, "validate_payload": past.validate_payload}
    origin = VersionOrigin(kind=VersionKind.RESTORED, actor=author_of(call).actor, source_id=past.id)
    changed = await actions.change_workflow(call.db, current, {}, content, call.now, origin)
    await record_request(call, Action.WORKFLOW_RESTORE, before=current, after=changed)
    return await show_workflow(call, changed)
