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
    list_direct_recipients,
    list_part_recipients,
    split_trigger,
    take_recipients,
)
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId, TriggerId
from clarion.jobs.lanes import ALL_LANES, LaneSet
from clarion.jobs.model import JobQueue
from clarion.jobs.store import list_due_runs
from clarion.triggers import store as triggers
from clarion.triggers.model import RecipientBatch, Trigger, TriggerState

SMALL_CROWD = 32


class Claim(Struct, kw_only=True):
    """The caller holds the lanes of everything in it."""

    due: list[Run] = []
    recipients: list[Recipient] = []
    progress: list[ExpansionProgress] = []
    """Of the triggers that it took on."""
    parts: list[RecipientBatch] = []
    """That it takes on whole."""
    has_split: bool = False
    """Whether it handed recipients to their lanes."""
    has_more: bool = False
    """Whether the next unit will find work at once."""
    configuration_version: int | None = None
    """Of the environment, read when everything was claimed; None if it was not read."""


class ItemKind(StrEnum):
    RUN = "run"
    TRIGGER = "trigger"
    PART = "part"


async def claim_next(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next due runs and recipients of the lanes, about `limit` of them."""
    due = await load_runs(db, environment_id, await list_due_runs(db, environment_id, lanes, limit=limit, now=now))
    waiting = await triggers.claim_triggers(db, environment_id, lanes, limit=limit)
    if len(due) + len(waiting) < limit:
        crowd = await triggers.claim_crowd(db, environment_id)
        waiting += [] if crowd is None else [crowd]
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
    trigger_ids, part_ids = await triggers.list_unfinished_ids(db, environment_id, lanes, limit=limit)
    return [
        *((ItemKind.RUN, one) for one in dict.fromkeys(due)),
        *((ItemKind.TRIGGER, one) for one in trigger_ids),
        *((ItemKind.PART, one) for one in part_ids),
    ]


async def claim_one(
    db: Connection, environment_id: EnvironmentId, kind: ItemKind, item_id: bytes, now: Millis
) -> Claim | None:
    """One item alone; None where there is nothing left to do about it."""
    if kind is ItemKind.RUN:
        due = await load_runs(db, environment_id, [NotificationId(item_id)])
        return Claim(due=due) if any(_is_due(run, now) for run in due) else None
    if kind is ItemKind.PART:
        part = await triggers.find_part(db, environment_id, item_id)
        return None if part is None else await _claim(db, environment_id, [part], now)
    trigger = await triggers.find_unfinished_trigger(db, environment_id, TriggerId(item_id))
    if trigger is None:
        return None
    if trigger.state is TriggerState.SPLITTING:
        return Claim(progress=[await split_trigger(db, environment_id, trigger, now)])
    return await _claim(db, environment_id, [trigger], now)


async def settle_claim(db: Connection, environment_id: EnvironmentId, claim: Claim) -> None:
    """Write how far the triggers have come, and remove the parts that have runs now."""
    done = [one.trigger_id for one in claim.progress if one.position is None]
    if done:
        await triggers.mark_triggers_done(db, environment_id, done)
    for progress in claim.progress:
        if progress.position is not None:
            await triggers.update_position(
                db, environment_id, progress.trigger_id, priority=progress.priority, position=progress.position
            )
    await triggers.delete_parts(db, environment_id, [one.id for one in claim.parts])


async def _claim_in_all_lanes(
    db: Connection, environment_id: EnvironmentId, waiting: list[Trigger], lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next recipients, where nothing has to be handed to another worker's lanes."""
    parts, version = await triggers.list_parts(db, environment_id, lanes, limit=_part_limit(limit))
    until = _first_cut_off(waiting, parts, limit) if parts else None
    claim = await _claim(db, environment_id, [*waiting, *parts], now, limit=limit, until=until)
    claim.configuration_version = version
    return claim


async def _claim_in_some_lanes(
    db: Connection, environment_id: EnvironmentId, waiting: list[Trigger], lanes: LaneSet, *, limit: int, now: Millis
) -> Claim:
    """The next recipients in some of the lanes; triggers for people of several lanes are split first."""
    splitting = [one for one in waiting if one.state is TriggerState.SPLITTING]
    progress = [await split_trigger(db, environment_id, one, now) for one in splitting]
    # Listed after splitting, so that the parts of triggers that came before the queued ones are there.
    part_limit = _part_limit(limit)
    parts, version, has_others = await triggers.list_parts_beside(db, environment_id, lanes, waiting, limit=part_limit)
    split_here = {one.id for one in splitting}
    if has_others and any(one.trigger_id not in split_here for one in parts):
        # Another worker may have split their triggers after ours were listed, and earlier ones may have come by then.
        waiting, parts = await triggers.list_waiting(db, environment_id, lanes, limit=limit, part_limit=part_limit)
    queued = [one for one in waiting if one.state is TriggerState.QUEUED]
    unsplit = [one for one in waiting if one.state is TriggerState.SPLITTING and one.id not in split_here]
    # Nothing goes ahead of a trigger that is not split yet.
    ends = [_order(one) for one in unsplit[:1]]
    if parts or unsplit:
        ends += [until] if (until := _first_cut_off(waiting, parts, limit)) else []
    claim = await _claim(db, environment_id, [*queued, *parts], now, limit=limit, until=min(ends, default=None))
    claim.configuration_version = version
    claim.has_split = bool(progress)
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
    # On PostgreSQL nobody but the lanes waits for a unit, and with larger chunks of crowds statements are planned less.
    crowd_factor = 2 if db.dialect is Dialect.POSTGRES else 1
    for item in sorted(items, key=_order):
        if room <= 0 or (until is not None and _order(item) > until):
            claim.has_more = True
            break
        if isinstance(item, RecipientBatch):
            claim.parts.append(item)
            room -= item.size // (crowd_factor if item.priority is item.priority.of_fan_out else 1)
        elif item.state is TriggerState.QUEUED:
            direct.append(item)
            room -= len(item.recipients.people)
        else:
            # A small crowd is not cut: its rest would take another unit of work.
            chunk = max(room, min(limit, SMALL_CROWD))
            if item.position is not None:
                chunk = crowd_factor * room
            recipients, state = await take_recipients(db, environment_id, item, now, limit=chunk)
            claim.recipients += recipients
            claim.progress.append(state)
            claim.has_more = claim.has_more or state.position is not None
            room -= len(recipients)
    # Ahead of the next chunks of crowds: a person of several topics gets the first one.
    claim.recipients = [*await list_part_recipients(db, environment_id, claim.parts, now), *claim.recipients]
    is_mixed = bool(claim.recipients)
    claim.recipients += await list_direct_recipients(db, environment_id, direct, now)
    claim.progress += [ExpansionProgress(one.id, one.priority, None) for one in direct]
    if is_mixed:
        claim.recipients = _in_order(claim.recipients)
    return claim


def _in_order(recipients: Sequence[Recipient]) -> list[Recipient]:
    """In the order of their triggers, so that each person's runs start in it."""
    return sorted(recipients, key=lambda one: (one.priority, one.trigger.id))


def _part_limit(limit: int) -> int:
    return max(limit // 4, 1)


def _first_cut_off(
    waiting: Sequence[Trigger], parts: Sequence[RecipientBatch], limit: int
) -> tuple[int, TriggerId] | None:
    """Where the first of the lists ends that may go on; what comes after that may be behind something not listed."""
    ends: list[Trigger | RecipientBatch] = [*waiting[limit - 1 :], *parts[_part_limit(limit) - 1 :]]
    return min(map(_order, ends), default=None)


def _order(one: Trigger | RecipientBatch) -> tuple[int, TriggerId]:
    return (one.priority, one.id if isinstance(one, Trigger) else one.trigger_id)


def _is_due(run: Run, now: Millis) -> bool:
    return any(job.queue is JobQueue.DECIDE and job.due_at is not None and job.due_at <= now for job in run.jobs)
