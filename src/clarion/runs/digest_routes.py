"""Open digests: letting them go on before their time."""

from msgspec import UNSET

from clarion.audit.model import Action
from clarion.audit.recording import author_of, record_event
from clarion.bus import Signal
from clarion.engine.flush import Flushed, FlushFilter, flush_digests
from clarion.errors import Invalid
from clarion.http.operation import Call, operation
from clarion.ids import SubscriberId, SubscriberKey
from clarion.runs.digest_wire import FlushedOut, FlushIn
from clarion.subscribers.store import find_subscriber
from clarion.vocabulary import Scope, StepType
from clarion.workflows.model import VersionedWorkflow
from clarion.workflows.store import find_workflow, get_version


@operation("POST", "/v1/digests/flush", scope=Scope.EVENTS_WRITE, body=FlushIn)
async def flush_open_digests(call: Call, body: FlushIn) -> FlushedOut:
    """Let open digests of a workflow go on now, with the events that they have."""
    current = await _find_workflow(call, body)
    wanted = FlushFilter(
        workflow_id=current.workflow.id,
        step_id=body.step_id,
        subscriber_id=await _find_subscriber(call, body),
        has_key=body.digest_key is not UNSET,
        key=None if body.digest_key is UNSET else body.digest_key,
    )
    flushed = await flush_digests(call.db, call.environment_id, wanted, call.now, body.read_position())
    if flushed.count:
        await _record(call, current, body, flushed)
        call.after_commit.append(lambda: call.services.bus.publish(Signal.WORK))
    return FlushedOut.of(flushed.count, flushed.position)


async def _find_workflow(call: Call, body: FlushIn) -> VersionedWorkflow:
    workflow = await find_workflow(call.db, call.environment_id, body.workflow_id)
    if workflow is None:
        raise Invalid.field("workflowId", "does not exist in this environment", body.workflow_id)
    version = await get_version(call.db, workflow)
    step = None if body.step_id is None else version.find_step(body.step_id)
    if body.step_id is not None and (step is None or step.type is not StepType.DIGEST):
        problem = "is no digest step of the workflow; leave it out to let all of its digests go on"
        raise Invalid.field("stepId", problem, body.step_id)
    return VersionedWorkflow(workflow, version)


async def _find_subscriber(call: Call, body: FlushIn) -> SubscriberId | None:
    if body.subscriber_id is None:
        return None
    subscriber = await find_subscriber(call.db, call.environment_id, SubscriberKey(body.subscriber_id))
    if subscriber is None:
        raise Invalid.field("subscriberId", "does not exist in this environment", body.subscriber_id)
    return subscriber.id


async def _record(call: Call, current: VersionedWorkflow, body: FlushIn, flushed: Flushed) -> None:
    """Who let how many go on is in the log; for whom is not, because the log outlives people."""
    step = {} if body.step_id is None else {"stepId": body.step_id}
    details = {"flushed": flushed.count, "isOfOnePerson": body.subscriber_id is not None, **step}
    await record_event(call.db, Action.DIGEST_FLUSH, current, author_of(call), call.now, details=details)
