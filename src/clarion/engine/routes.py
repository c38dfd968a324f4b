"""Operations that take the locks of lanes: cancel a trigger, delete a person."""

from clarion.audit.model import Action, Target, TargetType
from clarion.audit.recording import record
from clarion.engine.cancel import cancel_transaction
from clarion.engine.lane_locks import lock_lanes
from clarion.http.operation import Call, operation
from clarion.ids import SubscriberKey, TransactionKey
from clarion.jobs.lanes import LaneSet, lane_of
from clarion.subscribers import store as subscribers
from clarion.subscribers.wire import DeletedOut
from clarion.triggers.erasure import erase_from_triggers
from clarion.vocabulary import Scope


@operation("DELETE", "/v1/events/trigger/{transactionId}", scope=Scope.EVENTS_WRITE, tag="Triggers")
async def cancel_event(call: Call, transaction_key: TransactionKey) -> bool:
    """Cancel what a trigger has not done yet; returns whether there was anything."""
    return await cancel_transaction(call.db, call.environment_id, transaction_key, call.now)


@operation("DELETE", "/v2/subscribers/{subscriberId}", scope=Scope.SUBSCRIBERS_WRITE, tag="Subscribers")
async def delete_subscriber(call: Call, subscriber_key: SubscriberKey) -> DeletedOut:
    """Delete a subscriber and everything of theirs: subscriptions, preferences, messages, runs, triggers."""
    # A run that is decided at the same time would leave messages of a person who is gone.
    await lock_lanes(call.db, call.environment_id, LaneSet.of([lane_of(subscriber_key)]))
    found = await subscribers.get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    await erase_from_triggers(call.db, call.environment_id, found)
    await subscribers.delete_subscriber(call.db, call.environment_id, found.id)
    await record(call, Action.SUBSCRIBER_ERASE, Target(type=TargetType.SUBSCRIBER, id=found.key))
    return DeletedOut(acknowledged=True, status="deleted")
