"""The present state of a workflow, as its operations lock and answer it."""

from collections.abc import Collection

from clarion.content.translations.groups import ResourceType, Translated
from clarion.content.translations.known import KnownTexts, get_known_texts
from clarion.db.port import Connection
from clarion.environments.variables.store import list_keys
from clarion.errors import NotFound, PreconditionFailed
from clarion.http.operation import Call
from clarion.http.preconditions import IfMatch
from clarion.ids import EnvironmentId, WorkflowKey
from clarion.workflows import store
from clarion.workflows.model import Step, VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.wire import WorkflowOut, etag_of


async def lock_workflow(call: Call, workflow_key: WorkflowKey, if_match: IfMatch) -> VersionedWorkflow:
    """Lock a workflow and return it with its current version; raises if the caller has read an older state of it."""
    workflow = await store.get_workflow(call.db, call.environment_id, workflow_key, for_update=True)
    version = await store.get_version(call.db, workflow)
    etag = etag_of(workflow)
    if not if_match.accepts(etag):
        raise PreconditionFailed(
            f"Workflow '{workflow.key}' has changed since it was read; merge the changes with its present state in "
            "`ctx.workflow`, and save with the ETag of that",
            etag=etag,
            ctx={"workflow": await show_workflow(call, VersionedWorkflow(workflow, version))},
        )
    return VersionedWorkflow(workflow, version)


async def show_workflow(call: Call, current: VersionedWorkflow) -> WorkflowOut:
    return WorkflowOut.of(*current, call.services.names, *await find_known(call.db, *current))


async def find_known(
    db: Connection, workflow: Workflow, version: WorkflowVersion
) -> tuple[KnownTexts, Collection[str]]:
    """Find the texts, and the keys of variables of environments, that templates can name."""
    texts = await get_known_texts(db, translated(workflow), with_keys=version.refers_to_texts)
    return texts, await list_keys(db, workflow.environment_id)


async def get_step(
    db: Connection, environment_id: EnvironmentId, workflow_key: WorkflowKey, step_id: str
) -> tuple[Workflow, WorkflowVersion, Step]:
    """Return a step of the present version, with its workflow."""
    workflow = await store.get_workflow(db, environment_id, workflow_key)
    version = await store.get_version(db, workflow)
    step = version.find_step(step_id)
    if step is None:
        raise NotFound("Step", step_id)
    return workflow, version, step


def translated(workflow: Workflow) -> Translated:
    return Translated(workflow.environment_id, ResourceType.WORKFLOW, workflow.id)
