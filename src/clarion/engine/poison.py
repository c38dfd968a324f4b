"""When a unit of work fails, each of its items is worked on alone; one that fails again is ended with the reason.

Only that run fails. Several recipients are taken apart first, so that a bad one does not end the others.
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.content.environment import ContentSource
from clarion.db.port import Connection, Transactions
from clarion.engine.claim import Claim, ItemKind, claim_one, list_items, settle_claim
from clarion.engine.digest_leaders import leave_window
from clarion.engine.load import start_runs
from clarion.engine.recipients import Recipient
from clarion.engine.records import Run
from clarion.engine.unit import UnitResult, run_claim
from clarion.engine.write import write_runs
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, NotificationId, new_id
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode
from clarion.jobs.lanes import LaneSet, lane_of, lock_lanes
from clarion.jobs.model import FINISHED, JobQueue
from clarion.runs.status import settle_run_statuses
from clarion.triggers import store as triggers
from clarion.triggers.model import RecipientBatch
from clarion.vocabulary import JobStatus, StepType

_MAX_ITEMS = 256

log = logging.getLogger(__name__)


async def isolate_poison(
    database: Transactions,
    environment_id: EnvironmentId,
    lanes: LaneSet,
    now: Millis,
    *,
    source: ContentSource,
    announce: Callable[[UnitResult], None] = lambda _: None,
) -> int:
    """Work on what is next in the lanes one by one; returns how many items were worked on or ended.

    `announce` is called with the result of each that is durable.
    """
    items = await database.transaction(lambda db: list_items(db, environment_id, lanes, limit=_MAX_ITEMS, now=now))
    for kind, item_id in items:
        item = _Item(environment_id=environment_id, lanes=lanes, kind=kind, id=item_id, now=now, source=source)
        try:
            announce(await database.transaction(item.run))
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("Run failed", extra={"environment_id": environment_id.hex(), "item": item_id.hex()})
            await _end(database, item, f"{type(error).__name__}: {error}".replace("\0", ""))
    return len(items)


class _Item(Struct, frozen=True, kw_only=True):
    """One run, trigger or batch that may be the poison."""

    environment_id: EnvironmentId
    lanes: LaneSet
    kind: ItemKind
    id: bytes
    now: Millis
    source: ContentSource

    async def run(self, db: Connection) -> UnitResult:
        claim = await self._claim(db)
        if claim is None:
            return UnitResult()
        return await run_claim(db, self.environment_id, claim, self.now, self.source)

    async def fail(self, db: Connection, reason: str) -> None:
        """End the run with the reason, as a record that the API shows."""
        claim = await self._claim(db)
        if claim is None:
            return
        if len(claim.recipients) > 1:
            batches = [_batch_of(one, self.now) for one in claim.recipients]
            await triggers.insert_batches(db, self.environment_id, batches)
        else:
            started = await start_runs(db, self.environment_id, claim.recipients, self.now)
            await _fail_runs(db, self.environment_id, [*claim.due, *started], reason, self.now)
        await settle_claim(db, self.environment_id, claim)

    async def drop(self, db: Connection) -> None:
        """Take it out of its queue without loading what it refers to."""
        await lock_lanes(db, self.environment_id, self.lanes)
        match self.kind:
            case ItemKind.RUN:
                await _drop_run(db, self.environment_id, NotificationId(self.id), self.now)
            case ItemKind.TRIGGER:
                await triggers.mark_trigger_failed(db, self.environment_id, self.id)
            case ItemKind.BATCH:
                await _drop_batch(db, self.environment_id, self.id, self.now)

    async def _claim(self, db: Connection) -> Claim | None:
        await lock_lanes(db, self.environment_id, self.lanes)
        return await claim_one(db, self.environment_id, self.kind, self.id, self.now)


async def _end(database: Transactions, item: _Item, reason: str) -> None:
    try:
        await database.transaction(partial(item.fail, reason=reason))
    except StoreUnavailable:
        raise
    except Exception:
        # Not even its failure can be written. It must not fail for ever in front of everything else.
        log.exception("Work dropped", extra={"environment_id": item.environment_id.hex(), "item": item.id.hex()})
        await database.transaction(item.drop)


async def _fail_runs(
    db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], reason: str, now: Millis
) -> None:
    """Fail the step that is next and cancel those behind it; a digest window gets another leader or closes."""
    leading = []
    for run in runs:
        unfinished = [job for job in run.jobs if job.status not in FINISHED and job.queue is not JobQueue.SEND]
        for place, job in enumerate(unfinished):
            if job.status is JobStatus.DELAYED and run.step_of(job).type is StepType.DIGEST:
                leading.append(job.id)
            if place == 0:
                job.note(now, DetailCode.STEP_FAILED, raw={"reason": reason})
                job.finish(JobStatus.FAILED)
            else:
                job.note(now, DetailCode.CANCELED_BY_FAILURE)
                job.finish(JobStatus.CANCELED)
    await write_runs(db, environment_id, runs, now)
    for job_id in leading:
        await leave_window(db, environment_id, job_id, now)


async def _drop_run(db: Connection, environment_id: EnvironmentId, run_id: NotificationId, now: Millis) -> None:
    leading = [one.id for one in await jobs.list_digest_jobs(db, environment_id, [run_id]) if not one.is_done]
    await jobs.fail_run(db, environment_id, run_id, now)
    await settle_run_statuses(db, environment_id, [run_id], now)
    for job_id in leading:
        await leave_window(db, environment_id, job_id, now)


async def _drop_batch(db: Connection, environment_id: EnvironmentId, batch_id: bytes, now: Millis) -> None:
    """Take several people apart, so that only the one who cannot be loaded is left out."""
    batch = await triggers.find_batch(db, environment_id, batch_id)
    if batch is not None and batch.size > 1:
        alone = [replace(batch, id=new_id(now), packed_ids=one) for one in batch.subscriber_ids]
        await triggers.insert_batches(db, environment_id, alone)
    await triggers.delete_batches(db, environment_id, [batch_id])


def _batch_of(recipient: Recipient, now: Millis) -> RecipientBatch:
    trigger = recipient.trigger
    return RecipientBatch(
        id=new_id(now),
        trigger_id=trigger.id,
        priority=recipient.priority,
        lane=lane_of(recipient.subscriber.key),
        topic=None if recipient.topic is None else trigger.recipients.topics.index(recipient.topic),
        packed_ids=recipient.subscriber.id,
    )
