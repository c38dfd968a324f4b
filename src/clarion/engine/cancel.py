"""Cancelling: everything of a transaction that has not been handed to a provider stops."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.digests import leave_window
from clarion.engine.lanes import lock_lane
from clarion.ids import EnvironmentId, TransactionKey, TriggerId
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailStatus, ExecutionDetail
from clarion.triggers import store


async def cancel_transaction(
    db: Connection, environment_id: EnvironmentId, transaction_key: TransactionKey, now: Millis
) -> bool:
    """Stop the expansion and every job that has not begun; tells whether there was anything to stop."""
    await lock_lane(db, environment_id)
    trigger = await store.find_trigger_for_update(db, environment_id, transaction_key)
    if trigger is None:
        return False
    stopped = await store.cancel_trigger(db, environment_id, trigger.id)
    await _leave_windows(db, environment_id, trigger.id, now)
    canceled = await jobs.cancel(db, environment_id, trigger.id, _detail(now), now)
    return stopped or canceled > 0


async def _leave_windows(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, now: Millis) -> None:
    for job_id in await jobs.list_digesting(db, environment_id, trigger_id):
        await leave_window(db, environment_id, job_id, now)


def _detail(now: Millis) -> ExecutionDetail:
    return ExecutionDetail(
        at=now,
        status=DetailStatus.SUCCESS,
        detail="Step canceled",
        raw={"reason": "canceled by the caller"},
    )
