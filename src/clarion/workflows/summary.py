"""The shape of a workflow where something else is shown with it: a message, a preference."""

from collections.abc import Iterable
from typing import Self

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.environments.configuration import Versioned
from clarion.http.wire import Wire
from clarion.ids import EnvironmentId, WorkflowId, id_text
from clarion.vocabulary import Severity
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_workflows_by_id


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
    found: dict[WorkflowId, WorkflowSummary] = {}
    missing: list[WorkflowId] = []
    for one in dict.fromkeys(ids):
        cached = cache.get((environment_id, one))
        if cached is not None and cached.version == version:
            found[one] = cached.value
        else:
            missing.append(one)
    if missing:
        for one, workflow in (await list_workflows_by_id(db, environment_id, missing)).items():
            found[one] = WorkflowSummary.of(workflow)
            cache.put((environment_id, one), Versioned(version, found[one]))
    return found
