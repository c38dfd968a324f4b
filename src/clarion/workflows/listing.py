"""Workflows in lists: pages of them, and the summaries that are shown with messages and preferences.

An environment has few workflows, so that they are filtered and sorted here instead of in SQL.
"""

from collections.abc import Iterable
from typing import Self

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.environments.configuration import Versioned
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, WorkflowId, WorkflowVersionId, id_text
from clarion.vocabulary import OrderDirection, Severity
from clarion.workflows import store
from clarion.workflows.issues import WorkflowStatus, status_of
from clarion.workflows.model import VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.store import list_workflows_by_id
from clarion.workflows.wire import WorkflowOrder, WorkflowsQuery


async def list_workflow_page(
    db: Connection, environment_id: EnvironmentId, query: WorkflowsQuery
) -> tuple[list[VersionedWorkflow], int]:
    """Return one page with the current versions, and the total."""
    workflows = [one for one in await store.list_workflows(db, environment_id) if _is_wanted(one, query)]
    workflows.sort(key=lambda one: _sort_key(one, query.order_by), reverse=query.order_direction is OrderDirection.DESC)
    if query.status:
        workflows = await _with_status(db, environment_id, workflows, set(query.status))
    page = workflows[query.offset : query.offset + query.limit]
    versions = await _versions(db, environment_id, page)
    return [VersionedWorkflow(workflow, versions[workflow.version_id]) for workflow in page], len(workflows)


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
    db: Connection, environment_id: EnvironmentId, workflows: list[Workflow], wanted: set[WorkflowStatus]
) -> list[Workflow]:
    """Keep the workflows with one of the statuses; only those of active workflows depend on their steps."""
    versions = await _versions(db, environment_id, (one for one in workflows if one.active))

    def status(workflow: Workflow) -> WorkflowStatus:
        steps = versions[workflow.version_id].steps if workflow.active else []
        return status_of(active=workflow.active, steps=steps)

    return [one for one in workflows if status(one) in wanted]


async def _versions(
    db: Connection, environment_id: EnvironmentId, workflows: Iterable[Workflow]
) -> dict[WorkflowVersionId, WorkflowVersion]:
    return await store.list_versions_by_id(db, environment_id, (one.version_id for one in workflows))


class WorkflowSummary(Wire):
    id: str
    """The `_id` of the workflow."""
    identifier: str
    """The identifier of the workflow."""
    name: str
    """What people call the workflow."""
    critical: bool
    tags: list[str]
    severity: Severity

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        return cls(
            id=id_text(workflow.id),
            identifier=workflow.key,
            name=workflow.name,
            critical=workflow.is_critical,
            tags=workflow.tags,
            severity=workflow.severity,
        )


_SUMMARIES: CacheSlot[tuple[EnvironmentId, WorkflowId], Versioned[WorkflowSummary]] = CacheSlot(limit=2_000)


async def list_summaries(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[WorkflowId], version: int
) -> dict[WorkflowId, WorkflowSummary]:
    """The given workflows as they were at this version of the environment's configuration, deleted ones included."""
    cache = db.caches.of(_SUMMARIES)
    summaries: dict[WorkflowId, WorkflowSummary] = {}
    missing: list[WorkflowId] = []
    for workflow_id in dict.fromkeys(ids):
        cached = cache.get((environment_id, workflow_id))
        if cached is not None and cached.version == version:
            summaries[workflow_id] = cached.value
        else:
            missing.append(workflow_id)
    if missing:
        for workflow_id, workflow in (await list_workflows_by_id(db, environment_id, missing)).items():
            summaries[workflow_id] = WorkflowSummary.of(workflow)
            cache.put((environment_id, workflow_id), Versioned(version, summaries[workflow_id]))
    return summaries
