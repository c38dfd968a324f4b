"""The state of a workflow that a save starts from."""

from clarion.errors import PreconditionFailed
from clarion.http.operation import Call
from clarion.http.preconditions import IfMatch
from clarion.ids import WorkflowKey
from clarion.workflows import store
from clarion.workflows.model import VersionedWorkflow
from clarion.workflows.wire import WorkflowOut, etag_of


async def lock_workflow(call: Call, workflow_key: WorkflowKey, if_match: IfMatch) -> VersionedWorkflow:
    """Lock a workflow and return it with its current version; raises if the caller has read an older state of it."""
    found = await store.get_workflow(call.db, call.environment_id, workflow_key, for_update=True)
    version = await store.get_version(call.db, found)
    etag = etag_of(found)
    if not if_match.accepts(etag):
        raise PreconditionFailed(
            f"Workflow '{found.key}' has changed since it was read; merge the changes with its present state in "
            "`ctx.workflow`, and save with the ETag of that",
            etag=etag,
            ctx={"workflow": WorkflowOut.of(found, version, call.services.names.origin)},
        )
    return VersionedWorkflow(found, version)
