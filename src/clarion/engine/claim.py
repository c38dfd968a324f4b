"""What a unit of work takes on: due runs, and recipients of triggers who have no run yet."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.load import load_runs
from clarion.engine.recipients import (
    Progress,
    Recipient,
    list_direct_recipients,
    list_part_recipients,
    split_trigger,
)
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId, TriggerId
from clarion.jobs.lanes import LaneSet
from clarion.jobs.model import JobQueue
from clarion.jobs.store import list_due_runs
from clarion.triggers import store as triggers
from clarion.triggers.model import Part, Trigger, TriggerState


class Claim(Struct, kw_only=True):
    """The caller holds the lanes of everything in it."""

    due: list[Run] = []
    recipients: list[Recipient] = []
    progress: list[Progress] = []
    """Of the triggers that it took on."""
    parts: list[Part] = []
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
    claimed = await triggers.claim_triggers(db, environment_id, lanes, limit=limit)
    splitting = [one for one in claimed if one.state is TriggerState.SPLITTING]
    if len(due) + len(claimed) < limit:
        crowd = await triggers.claim_crowd(db, environment_id)
        splitting += [] if crowd is None else [crowd]
    progress = [await split_trigger(db, environment_id, one, now) for one in splitting]
    # Listed after splitting, so that the parts of triggers that came before the queued ones are there.
    part_limit = max(limit // 4, 1)
    parts, configuration_version = await triggers.list_parts(db, environment_id, lanes, limit=part_limit)
    split_here = {one.id for one in splitting}
    if any(one.trigger_id not in split_here for one in parts):
        # Another worker may have split their triggers after ours were listed, and earlier ones may have come by then.
        claimed = await triggers.list_next_triggers(db, environment_id, lanes, limit=limit)
    queued = [one for one in claimed if one.state is TriggerState.QUEUED]
    unsplit = [one for one in claimed if one.state is TriggerState.SPLITTING and one.id not in split_here]
    # Nothing goes ahead of a trigger that is not split yet, or of what is behind the end of a list that was cut off.
    cut_off = claimed[limit - 1 :] if parts or unsplit else []
    ends: list[Trigger | Part] = [*unsplit[:1], *cut_off, *parts[part_limit - 1 :]]
    direct, own_parts = _choose(queued, parts, limit, until=min(map(_order, ends), default=None))
    claim = await _claim(db, environment_id, direct, own_parts, now)
    claim.due = due
    claim.configuration_version = configuration_version
    claim.progress += progress
    claim.has_split = bool(progress)
    claim.has_more = (
        len(due) == limit
        or len(claimed) == limit
        or len(direct) + len(own_parts) < len(queued) + len(parts)
        or any(one.position for one in progress)
    )
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
        return None if part is None else await _claim(db, environment_id, [], [part], now)
    trigger = await triggers.find_unfinished_trigger(db, environment_id, TriggerId(item_id))
    if trigger is None:
        return None
    if trigger.state is TriggerState.SPLITTING:
        return Claim(progress=[await split_trigger(db, environment_id, trigger, now)])
    return await _claim(db, environment_id, [trigger], [], now)


async def settle_claim(db: Connection, environment_id: EnvironmentId, claim: Claim) -> None:
    """Write how far the triggers have come, and remove the parts that have runs now."""
    done = [one.trigger_id for one in claim.progress if one.position is None]
    if done:
        await triggers.mark_triggers_done(db, environment_id, done)
    for one in claim.progress:
        if one.position is not None:
            await triggers.update_position(
                db, environment_id, one.trigger_id, priority=one.priority, position=one.position
            )
    await triggers.delete_parts(db, environment_id, [one.id for one in claim.parts])


async def _claim(
    db: Connection, environment_id: EnvironmentId, direct: Sequence[Trigger], parts: Sequence[Part], now: Millis
) -> Claim:
    recipients = await list_direct_recipients(db, environment_id, direct, now)
    if parts:
        recipients += await list_part_recipients(db, environment_id, parts, now)
        # Each person's runs start in the order of their triggers.
        recipients.sort(key=lambda one: (one.priority, one.trigger.id))
    progress = [Progress(one.id, one.priority, None) for one in direct]
    return Claim(recipients=recipients, progress=progress, parts=list(parts))


def _choose(
    queued: Sequence[Trigger], parts: Sequence[Part], limit: int, *, until: tuple[int, TriggerId] | None
) -> tuple[list[Trigger], list[Part]]:
    """The first triggers and parts in order, until they have `limit` recipients together or are behind `until`."""
    if not parts and until is None:
        return list(queued), []
    direct: list[Trigger] = []
    own_parts: list[Part] = []
    room = limit
    ordered: list[Trigger | Part] = [*queued, *parts]
    for one in sorted(ordered, key=_order):
        if room <= 0 or (until is not None and _order(one) > until):
            break
        if isinstance(one, Trigger):
            direct.append(one)
            room -= len(one.recipients.people)
        else:
            own_parts.append(one)
            room -= len(one.subscriber_ids)
    return direct, own_parts


def _order(one: Trigger | Part) -> tuple[int, TriggerId]:
    return (one.priority, one.id if isinstance(one, Trigger) else one.trigger_id)


def _is_due(run: Run, now: Millis) -> bool:
    return any(job.queue is JobQueue.DECIDE and job.due_at is not None and job.due_at <= now for job in run.jobs)
