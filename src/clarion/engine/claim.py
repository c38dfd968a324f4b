"""What a unit of work takes on: due runs, and recipients of triggers who have no run yet."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Dialect
from clarion.engine.load import load_runs
from clarion.engine.recipients import (
    ExpansionProgress,
    Recipient,
    expand_trigger,
    list_batch_recipients,
    list_direct_recipients,
    take_recipients,
)
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId, TriggerId
from clarion.jobs.lanes import ALL_LANES, LaneSet
from clarion.jobs.model import JobQueue
from clarion.jobs.store import list_due_runs
from clarion.triggers import store as triggers
from clarion.triggers.model import RecipientBatch, Trigger, TriggerState

SMALL_FAN_OUT = 32


class Claim(Struct, kw_only=True):
    """The caller holds the lanes of everything in it."""

    due: list[Run] = []
    recipients: list[Recipient] = []
    progress: list[ExpansionProgress] = []
    """Of the triggers that it took on."""
    batches: list[RecipientBatch] = []
    """That it takes on whole."""
    has_expanded: bool = False
    """Whether it handed recipients to their lanes."""
    has_more: bool = False
    """Whether the next unit will find work at once."""
    configuration_version: int | None = None
    """Of the environment, read when everything was claimed; None if it was not read."""


class ItemKind(StrEnum):
    RUN = "run"
    TRIGGER = "trigger"
    BATCH = "batch"


async def claim_next(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next due runs and recipients of the lanes, about `limit` of them."""
    due = await load_runs(db, environment_id, await list_due_runs(db, environment_id, lanes, limit=limit, now=now))
    waiting = await triggers.claim_triggers(db, environment_id, lanes, limit=limit)
    if len(due) + len(waiting) < limit:
        fan_out = await triggers.claim_fan_out(db, environment_id)
        waiting += [] if fan_out is None else [fan_out]
    claim_waiting = _claim_in_all_lanes if lanes == ALL_LANES else _claim_in_some_lanes
    claim = await claim_waiting(db, environment_id, waiting, lanes, limit=limit, now=now)
    claim.due = due
    claim.has_more = claim.has_more or len(due) == limit or len(waiting) == limit
    return claim


async def list_items(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int, now: Millis
) -> list[tuple[ItemKind, bytes]]:
    """What `claim_next` would find, by kind and id."""
    due = await list_due_runs(db, environment_id, lanes, limit=limit, now=now)
    trigger_ids, batch_ids = await triggers.list_unfinished_ids(db, environment_id, lanes, limit=limit)
    return [
        *((ItemKind.RUN, one) for one in dict.fromkeys(due)),
        *((ItemKind.TRIGGER, one) for one in trigger_ids),
        *((ItemKind.BATCH, one) for one in batch_ids),
    ]


async def claim_one(
    db: Connection, environment_id: EnvironmentId, kind: ItemKind, item_id: bytes, now: Millis
) -> Claim | None:
    """One item alone; None where there is nothing left to do about it."""
    if kind is ItemKind.RUN:
        due = await load_runs(db, environment_id, [NotificationId(item_id)])
        return Claim(due=due) if any(_is_due(run, now) for run in due) else None
    if kind is ItemKind.BATCH:
        batch = await triggers.find_batch(db, environment_id, item_id)
        return None if batch is None else await _claim(db, environment_id, [batch], now)
    trigger = await triggers.find_unfinished_trigger(db, environment_id, TriggerId(item_id))
    if trigger is None:
        return None
    if trigger.state is TriggerState.EXPANDING:
        return Claim(progress=[await expand_trigger(db, environment_id, trigger, now)])
    return await _claim(db, environment_id, [trigger], now)


async def settle_claim(db: Connection, environment_id: EnvironmentId, claim: Claim) -> None:
    """Write how far the triggers have come, and remove the batches that have runs now."""
    done = [one.trigger_id for one in claim.progress if one.position is None]
    if done:
        await triggers.mark_triggers_done(db, environment_id, done)
    for progress in claim.progress:
        if progress.position is not None:
            await triggers.update_position(
                db, environment_id, progress.trigger_id, priority=progress.priority, position=progress.position
            )
    await triggers.delete_batches(db, environment_id, [one.id for one in claim.batches])


async def _claim_in_all_lanes(
    db: Connection, environment_id: EnvironmentId, waiting: list[Trigger], lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next recipients, where nothing has to be handed to another worker's lanes."""
    batches, version = await triggers.list_batches(db, environment_id, lanes, limit=_batch_limit(limit))
    until = _first_cut_off(waiting, batches, limit) if batches else None
    claim = await _claim(db, environment_id, [*waiting, *batches], now, limit=limit, until=until)
    claim.configuration_version = version
    return claim


async def _claim_in_some_lanes(
    db: Connection, environment_id: EnvironmentId, waiting: list[Trigger], lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next recipients in some of the lanes; triggers for people of several lanes are expanded first."""
    expanding = [one for one in waiting if one.state is TriggerState.EXPANDING]
    progress = [await expand_trigger(db, environment_id, one, now) for one in expanding]
    # Listed after expanding, so that the batches of triggers that came before the queued ones are there.
    batch_limit = _batch_limit(limit)
    batches, version, has_others = await triggers.list_batches_beside(
        db, environment_id, lanes, waiting, limit=batch_limit
    )
    expanded_here = {one.id for one in expanding}
    if has_others and any(one.trigger_id not in expanded_here for one in batches):
        # Another worker may have expanded their triggers after ours were listed, and earlier ones may be there by now.
        waiting, batches = await triggers.list_waiting(db, environment_id, lanes, limit=limit, batch_limit=batch_limit)
    queued = [one for one in waiting if one.state is TriggerState.QUEUED]
    unexpanded = [one for one in waiting if one.state is TriggerState.EXPANDING and one.id not in expanded_here]
    # Nothing goes ahead of a trigger that is not expanded yet.
    ends = [_order(one) for one in unexpanded[:1]]
    if batches or unexpanded:
        ends += [until] if (until := _first_cut_off(waiting, batches, limit)) else []
    claim = await _claim(db, environment_id, [*queued, *batches], now, limit=limit, until=min(ends, default=None))
    claim.configuration_version = version
    claim.has_expanded = bool(progress)
    claim.has_more = claim.has_more or any(one.position for one in progress)
    claim.progress += progress
    return claim


async def _claim(
    db: Connection,
    environment_id: EnvironmentId,
    items: Sequence[Trigger | RecipientBatch],
    now: Millis,
    *,
    limit: int = 1,
    until: tuple[int, TriggerId] | None = None,
) -> Claim:
    """The first items in order, until they have `limit` recipients together or are behind `until`."""
    claim = Claim()
    direct: list[Trigger] = []
    room = limit
    # On PostgreSQL only the lanes wait for a unit, and larger chunks of a fan-out need fewer statements to be planned.
    fan_out_factor = 2 if db.dialect is Dialect.POSTGRES else 1
    for item in sorted(items, key=_order):
        if room <= 0 or (until is not None and _order(item) > until):
            claim.has_more = True
            break
        if isinstance(item, RecipientBatch):
            claim.batches.append(item)
            room -= item.size // (fan_out_factor if item.priority is item.priority.of_fan_out else 1)
        elif item.state is TriggerState.QUEUED:
            direct.append(item)
            room -= len(item.recipients.people)
        else:
            # A small fan-out is not cut: its rest would take another unit of work.
            chunk = max(room, min(limit, SMALL_FAN_OUT))
            if item.position is not None:
                chunk = fan_out_factor * room
            recipients, state = await take_recipients(db, environment_id, item, now, limit=chunk)
            claim.recipients += recipients
            claim.progress.append(state)
            claim.has_more = claim.has_more or state.position is not None
            room -= len(recipients)
    # Ahead of the next chunks of fan-outs: a person of several topics gets the first one.
    claim.recipients = [*await list_batch_recipients(db, environment_id, claim.batches, now), *claim.recipients]
    is_mixed = bool(claim.recipients)
    claim.recipients += await list_direct_recipients(db, environment_id, direct, now)
    claim.progress += [ExpansionProgress(one.id, one.priority, None) for one in direct]
    if is_mixed:
        claim.recipients = _in_order(claim.recipients)
    return claim


def _in_order(recipients: Sequence[Recipient]) -> list[Recipient]:
    """In the order of their triggers, so that each person's runs start in it."""
    return sorted(recipients, key=lambda one: (one.priority, one.trigger.id))


def _batch_limit(limit: int) -> int:
    return max(limit // 4, 1)


def _first_cut_off(
    waiting: Sequence[Trigger], batches: Sequence[RecipientBatch], limit: int
) -> tuple[int, TriggerId] | None:
    """Where the first of the lists ends that may go on; what comes after that may be behind something not listed."""
    ends: list[Trigger | RecipientBatch] = [*waiting[limit - 1 :], *batches[_batch_limit(limit) - 1 :]]
    return min(map(_order, ends), default=None)


def _order(one: Trigger | RecipientBatch) -> tuple[int, TriggerId]:
    return (one.priority, one.id if isinstance(one, Trigger) else one.trigger_id)


def _is_due(run: Run, now: Millis) -> bool:
    return any(job.queue is JobQueue.DECIDE and job.due_at is not None and job.due_at <= now for job in run.jobs)
