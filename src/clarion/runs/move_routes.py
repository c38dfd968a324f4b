"""Runs that go on with another version of their workflow, because somebody asks for it."""

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_event
from clarion.bus import Signal
from clarion.engine.moved_runs import Moved, MoveOutcome, move_runs, plan_move
from clarion.errors import Gone, Invalid, NotFound
from clarion.http.operation import Call, operation
from clarion.ids import WorkflowKey
from clarion.runs.move_wire import MovedRunsOut, MovedStepOut, MoveIn, write_position
from clarion.runs.waiting import count_waiting
from clarion.vocabulary import Scope
from clarion.workflows.history import get_past_version
from clarion.workflows.model import VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.store import get_version, get_workflow

SECTION = "Workflows"


@operation(
    "POST",
    "/v1/workflows/{workflowId}/runs/move",
    scope=Scope.WORKFLOWS_WRITE,
    also=(Scope.EVENTS_WRITE,),
    body=MoveIn,
)
async def move_workflow_runs(call: Call, workflow_key: WorkflowKey, body: MoveIn) -> MovedRunsOut:
    """Let runs of one version go on with another one, at most 200 in a call; `dryRun` counts them by step."""
    workflow = await get_workflow(call.db, call.environment_id, workflow_key)
    base = await _get_version(call, workflow, "from", body.base)
    onto = await _get_version(call, workflow, "to", body.to)
    if base.id == onto.id:
        raise Invalid.field("to", "must be another version than `from`", body.to)
    position = body.read_position()
    if body.dry_run:
        return await _count(call, workflow, base, onto)
    moved = await move_runs(call.db, workflow, (base, onto), call.now, position)
    await _record(call, workflow, body, moved)
    steps = [MovedStepOut.of(*one) for one in moved.steps]
    return MovedRunsOut(dry_run=False, steps=steps, capped=False, next=write_position(moved.position))


async def _get_version(call: Call, workflow: Workflow, name: str, number: int) -> WorkflowVersion:
    try:
        return await get_past_version(call.db, workflow, str(number))
    except (NotFound, Gone):
        raise Invalid.field(name, f"is not the number of a version of workflow '{workflow.key}'", number) from None


async def _count(call: Call, workflow: Workflow, base: WorkflowVersion, onto: WorkflowVersion) -> MovedRunsOut:
    waiting = await count_waiting(call.db, workflow)
    own = [one for one in waiting.steps if one.version.onto_id == base.id]
    steps = [MovedStepOut.of(plan_move(one.version, one.position, onto), one.count) for one in own]
    return MovedRunsOut(dry_run=True, steps=steps, capped=not waiting.is_complete, next=None)


async def _record(call: Call, workflow: Workflow, body: MoveIn, moved: Moved) -> None:
    count = sum(number for step, number in moved.steps if step.outcome is not MoveOutcome.LEFT)
    if not count:
        return
    current = VersionedWorkflow(workflow, await get_version(call.db, workflow))
    details = {"from": body.base, "to": body.to, "moved": count}
    await record_event(call.db, Action.RUNS_MOVE, current, author_of(call), call.now, details=details)
    call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
