"""Lists of workflows: an environment has few, so they are filtered and sorted here instead of in SQL."""

from collections.abc import Iterable

from clarion.db.port import Connection
from clarion.ids import EnvironmentId, WorkflowVersionId
from clarion.vocabulary import OrderDirection
from clarion.workflows import store
from clarion.workflows.issues import WorkflowStatus, status_of
from clarion.workflows.model import VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.wire import WorkflowOrder, WorkflowsQuery


async def list_workflow_page(
    db: Connection, environment_id: EnvironmentId, query: WorkflowsQuery
) -> tuple[list[VersionedWorkflow], int]:
    """Return one page with the current versions, and the total."""
    found = [one for one in await store.list_workflows(db, environment_id) if _is_wanted(one, query)]
    found.sort(key=lambda one: _sort_key(one, query.order_by), reverse=query.order_direction is OrderDirection.DESC)
    if query.status:
        found = await _with_status(db, environment_id, found, set(query.status))
    page = found[query.offset : query.offset + query.limit]
    versions = await _versions(db, environment_id, page)
    return [VersionedWorkflow(workflow, versions[workflow.version_id]) for workflow in page], len(found)


def _is_wanted(workflow: Workflow, query: WorkflowsQuery) -> bool:
    text = (query.query or "").casefold()
    is_named = text in workflow.name.casefold() or text in workflow.key.casefold()
    return is_named and (not query.tags or not set(query.tags).isdisjoint(workflow.tags))


def _sort_key(workflow: Workflow, order_by: WorkflowOrder) -> tuple[object, ...]:
    match order_by:
        case WorkflowOrder.NAME:
            return workflow.name.casefold(), workflow.id
        case WorkflowOrder.UPDATED_AT:
            return workflow.updated_at, workflow.id
        case WorkflowOrder.CREATED_AT:
            return (workflow.id,)


async def _with_status(
    db: Connection, environment_id: EnvironmentId, found: list[Workflow], wanted: set[WorkflowStatus]
) -> list[Workflow]:
    """Keep the workflows with one of the statuses; only those of active workflows depend on their steps."""
    versions = await _versions(db, environment_id, (one for one in found if one.active))

    def status(workflow: Workflow) -> WorkflowStatus:
        steps = versions[workflow.version_id].steps if workflow.active else []
        return status_of(active=workflow.active, steps=steps)

    return [one for one in found if status(one) in wanted]


async def _versions(
    db: Connection, environment_id: EnvironmentId, workflows: Iterable[Workflow]
) -> dict[WorkflowVersionId, WorkflowVersion]:
    return await store.list_versions_by_id(db, environment_id, (one.version_id for one in workflows))
