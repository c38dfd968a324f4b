"""The activity of workflows: last runs, and counts by channel."""

from collections.abc import Sequence

from clarion.http.operation import Call, Transaction, operation
from clarion.ids import WorkflowKey
from clarion.runs.activity.summary import MANY_WORKFLOWS, ONE_WORKFLOW, count_activity
from clarion.runs.activity.wire import MAX_WORKFLOWS, ActivitiesQuery, ActivityQuery, WorkflowActivityOut
from clarion.vocabulary import Scope
from clarion.workflows.model import Workflow
from clarion.workflows.store import get_workflow, list_workflows, list_workflows_by_reference

SECTION = "Workflows"


@operation(
    "GET",
    "/v1/workflows/activity",
    scope=Scope.EVENTS_READ,
    query=ActivitiesQuery,
    transaction=Transaction.SCAN,
)
async def list_workflow_activity(call: Call, query: ActivitiesQuery) -> list[WorkflowActivityOut]:
    """Show the last run of several workflows, and how much they sent, failed to send and skipped in a time."""
    time = query.time(call.now)
    workflows = await _list_wanted(call, query.workflow_ids)
    ids = [one.id for one in workflows]
    found = await count_activity(call.db, call.environment_id, ids, time, MANY_WORKFLOWS)
    return [WorkflowActivityOut.of(one, time, found[one.id]) for one in workflows]


@operation(
    "GET",
    "/v1/workflows/{workflowId}/activity",
    scope=Scope.EVENTS_READ,
    query=ActivityQuery,
    transaction=Transaction.SCAN,
)
async def get_workflow_activity(call: Call, workflow_key: WorkflowKey, query: ActivityQuery) -> WorkflowActivityOut:
    """Show the last run of a workflow, and how much it sent, failed to send and skipped in a time, by channel."""
    time = query.time(call.now)
    workflow = await get_workflow(call.db, call.environment_id, workflow_key)
    found = await count_activity(call.db, call.environment_id, [workflow.id], time, ONE_WORKFLOW)
    return WorkflowActivityOut.of(workflow, time, found[workflow.id])


async def _list_wanted(call: Call, references: Sequence[str] | None) -> list[Workflow]:
    if references is None:
        return (await list_workflows(call.db, call.environment_id))[: -MAX_WORKFLOWS - 1 : -1]
    found = await list_workflows_by_reference(call.db, call.environment_id, references)
    chosen = [found[one] for one in dict.fromkeys(references) if one in found]
    return list({one.id: one for one in chosen}.values())
