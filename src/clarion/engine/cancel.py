"""Cancelling: everything of a transaction that has not been handed to a provider stops.

The trigger is marked under the locks of its people's lanes, so that every decision and every send that begins later
sees the mark and does nothing. Jobs are then canceled in chunks: the first with the request, the rest of a large
fan-out by the engine.
"""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.digest_leaders import leave_window, list_open_followers
from clarion.engine.load import load_runs
from clarion.engine.write import write_runs
from clarion.ids import EnvironmentId, NotificationId, TransactionKey
from clarion.jobs import store as jobs
from clarion.jobs.details import canceled_detail
from clarion.jobs.lanes import ALL_LANES, LaneSet, lock_lanes
from clarion.jobs.model import FINISHED
from clarion.runs.status import settle_run_statuses
from clarion.sending.claim import wait_for_claims
from clarion.triggers import canceling
from clarion.triggers import store as triggers
from clarion.triggers.model import Trigger, TriggerState
from clarion.waits.store import delete_waits_of_runs

_NOT_EXPANDED = frozenset({TriggerState.SCHEDULED, TriggerState.QUEUED, TriggerState.EXPANDING})
CHUNK = 500
"""How many runs one unit of work cancels."""


async def cancel_transaction(
    db: Connection, environment_id: EnvironmentId, transaction_key: TransactionKey, now: Millis
) -> bool:
    """Stop what a transaction has not done yet; returns whether there was anything to stop."""
    wanted = await triggers.find_trigger_by_transaction(db, environment_id, transaction_key)
    if wanted is None:
        return False
    # Lanes before rows, as the engine takes them.
    await lock_lanes(db, environment_id, _lanes_of(wanted))
    await wait_for_claims(db, environment_id)
    trigger = await triggers.lock_trigger(db, environment_id, wanted.id)
    if trigger is None or trigger.is_canceled:
        return False
    batches = await canceling.delete_batches_of_trigger(db, environment_id, trigger.id)
    stopped = batches > 0 or trigger.state in _NOT_EXPANDED
    canceled, last = await _cancel_chunk(db, trigger, after=None, now=now)
    if stopped or canceled or last is None:
        return stopped or canceled > 0
    return await canceling.has_unfinished_runs(db, environment_id, trigger.id, after=last)


async def continue_cancel(db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
    """Cancel the next runs of a large fan-out, unless another worker is at it."""
    trigger = await canceling.claim_canceling(db, environment_id)
    if trigger is None:
        return
    after = trigger.position.after if trigger.position else None
    await _cancel_chunk(db, trigger, after=after, now=now)


async def _cancel_chunk(
    db: Connection, trigger: Trigger, *, after: str | None, now: Millis
) -> tuple[int, NotificationId | None]:
    """Cancel runs behind `after`; returns how much was stopped, and the last of these runs where there may be more."""
    environment_id = trigger.environment_id
    ids = await canceling.list_run_ids(db, environment_id, trigger.id, after=after, limit=CHUNK)
    digesting = await jobs.list_digest_jobs(db, environment_id, ids)
    if digesting:
        lanes = LaneSet.of({one.lane for one in digesting})
        await lock_lanes(db, environment_id, lanes)
    keeping, canceled = await _keep_for_others(db, trigger, [one.run_id for one in digesting if one.is_done], now)
    stopping = [one for one in ids if one not in keeping]
    followers = await list_open_followers(db, environment_id, [one.id for one in digesting])
    for job_id in [one.id for one in digesting if one.run_id not in keeping]:
        await leave_window(db, environment_id, job_id, now)
    canceled += await jobs.cancel(db, environment_id, stopping, canceled_detail(now), now)
    canceled += await jobs.cancel_merged(
        db, environment_id, [one.run_id for one in digesting if one.id in followers], canceled_detail(now), now
    )
    await delete_waits_of_runs(db, environment_id, stopping)
    await settle_run_statuses(db, environment_id, ids, now)
    last = ids[-1] if len(ids) == CHUNK else None
    if canceled or last or trigger.state is not TriggerState.DONE:
        await canceling.mark_canceled(db, environment_id, trigger.id, position=last)
    return canceled, last


async def _keep_for_others(
    db: Connection, trigger: Trigger, run_ids: Sequence[NotificationId], now: Millis
) -> tuple[set[NotificationId], int]:
    """Runs whose digest has events of other triggers go on, without the event of this one.

    Returns these runs, and how many of them change: what a run that is over has told is not rewritten.
    """
    kept = [run for run in await load_runs(db, trigger.environment_id, run_ids) if run.carries_others]
    changed = [run for run in kept if any(job.status not in FINISHED for job in run.jobs)]
    for run in changed:
        run.drop_own_event()
    await write_runs(db, trigger.environment_id, changed, now)
    return {run.id for run in kept}, len(changed)


def _lanes_of(trigger: Trigger) -> LaneSet:
    lane = trigger.recipients.find_lane()
    return ALL_LANES if lane is None else LaneSet.of([lane])
