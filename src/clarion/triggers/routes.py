"""Events: trigger workflows, and cancel what has not happened yet."""

from clarion.bus import Topic
from clarion.errors import Invalid, PayloadInvalid
from clarion.http.limits import LARGE_BODY
from clarion.http.operation import Call, operation
from clarion.ids import TransactionKey
from clarion.triggers import actions
from clarion.triggers.cancel import cancel_transaction
from clarion.triggers.recipients import read_actor, read_recipients
from clarion.triggers.wire import BroadcastIn, BulkTriggerIn, TriggerIn, TriggerOut
from clarion.vocabulary import Scope


@operation("POST", "/v1/events/trigger", scope=Scope.EVENTS_WRITE, status=201, body_limit=LARGE_BODY)
async def trigger_event(call: Call, body: TriggerIn) -> TriggerOut:
    """Trigger a workflow for people, topics or both; the answer comes when the trigger is durable."""
    return _out(await _accept(call, body))


@operation("POST", "/v1/events/trigger/bulk", scope=Scope.EVENTS_WRITE, status=201, body_limit=LARGE_BODY)
async def trigger_events(call: Call, body: BulkTriggerIn) -> list[TriggerOut]:
    """Trigger up to 100 events; each has its own result, in the order given."""
    return [await _accept_one(call, event) for event in body.events]


@operation("POST", "/v1/events/trigger/broadcast", scope=Scope.EVENTS_WRITE, status=201, body_limit=LARGE_BODY)
async def broadcast_event(call: Call, body: BroadcastIn) -> TriggerOut:
    """Trigger a workflow for every subscriber of the environment."""
    return _out(await _accept(call, body))


@operation("DELETE", "/v1/events/trigger/{transactionId}", scope=Scope.EVENTS_WRITE)
async def cancel_event(call: Call, transaction_key: TransactionKey) -> bool:
    """Cancel what a trigger has not done yet; tells whether there was anything."""
    return await cancel_transaction(call.db, call.environment_id, transaction_key, call.now)


async def _accept(call: Call, body: TriggerIn | BroadcastIn) -> actions.Accepted:
    request = actions.Request(
        name=body.name,
        wanted=read_recipients(body.to) if isinstance(body, TriggerIn) else None,
        payload=body.payload or {},
        overrides=body.overrides,
        transaction=body.transaction_id,
        actor=read_actor(body.actor),
    )
    accepted = await actions.accept_trigger(call.db, call.environment_id, request, call.now)
    call.after_commit.append(lambda: call.services.bus.publish(Topic.WORK))
    return accepted


async def _accept_one(call: Call, event: TriggerIn) -> TriggerOut:
    """One event of many: what is wrong with it is its result, and harms no other."""
    try:
        return _out(await _accept(call, event))
    except (Invalid, PayloadInvalid) as error:
        return TriggerOut(acknowledged=True, status="error", error=[error.message])


def _out(accepted: actions.Accepted) -> TriggerOut:
    answer = TriggerOut(acknowledged=True, status=accepted.outcome, transaction_id=accepted.transaction)
    if not accepted.errors:
        return answer
    return TriggerOut(
        acknowledged=True, status=accepted.outcome, transaction_id=accepted.transaction, error=accepted.errors
    )
