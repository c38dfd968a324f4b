"""Cancelling: everything of a transaction that has not been handed to a provider stops."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.lanes import lock_lane
from clarion.ids import EnvironmentId, JobId, TransactionKey, TriggerId
from clarion.jsontext import json_text
from clarion.notifications.model import APPENDED_DETAIL, DetailStatus, ExecutionDetail
from clarion.triggers import store
from clarion.triggers.digests import leave_window

_RUNS = """
    SELECT id FROM notifications WHERE environment_id = :environment_id AND trigger_id = :trigger_id
"""
LIST_DIGESTING = sql(f"""
    SELECT id FROM jobs
    WHERE environment_id = :environment_id AND notification_id IN ({_RUNS})
    AND type = 'digest' AND status IN ('delayed', 'merged')
    ORDER BY id
""")
CANCEL_JOBS = sql(f"""
    UPDATE jobs SET
        status = 'canceled', runnable = NULL, due_at = NULL, updated_at = :now, details = {APPENDED_DETAIL}
    WHERE environment_id = :environment_id AND notification_id IN ({_RUNS})
    AND status IN ('pending', 'queued', 'delayed', 'merged')
""")


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
    canceled = await db.execute(
        CANCEL_JOBS, environment_id=environment_id, trigger_id=trigger.id, now=now, detail=_detail(now)
    )
    return stopped or canceled > 0


async def _leave_windows(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, now: Millis) -> None:
    for row in await db.fetch(LIST_DIGESTING, environment_id=environment_id, trigger_id=trigger_id):
        await leave_window(db, environment_id, JobId(row["id"]), now)


def _detail(now: Millis) -> str:
    detail = ExecutionDetail(
        at=now,
        status=DetailStatus.SUCCESS,
        detail="Step canceled",
        raw={"reason": "canceled by the caller"},
    )
    return json_text(detail)
