"""One unit of work in a lane: take what is next, take it as far as it gets, write it down."""

from collections.abc import Sequence
from dataclasses import dataclass

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.advance import advance
from clarion.engine.expand import Progress, expand_triggers
from clarion.engine.lanes import try_lock_lane
from clarion.engine.load import claim_due_runs, start_runs
from clarion.engine.webhook_events import emit_run_events
from clarion.engine.write import write_runs
from clarion.ids import EnvironmentId
from clarion.jobs.model import JobQueue
from clarion.triggers.store import claim_triggers, mark_triggers_done, update_position


@dataclass(frozen=True, slots=True)
class Size:
    """How much a unit of work takes on at most."""

    triggers: int
    runs: int


# A unit of work holds up everyone else on an embedded store, so it is small where others are about: they then wait a
# few milliseconds for one. Alone, a larger one shares its cost over more runs.
FULL_UNIT = Size(triggers=128, runs=128)
SHARED_UNIT = Size(triggers=8, runs=8)
ONE = Size(triggers=1, runs=1)

# Providers that reach everyone, whether or not the subscriber has an entry for them.
LIST_OPEN_PROVIDERS = sql("""
    SELECT DISTINCT provider_id FROM integrations
    WHERE environment_id = :environment_id AND provider_id IN ('svc', 'chat-webhook') AND active
    AND deleted_at IS NULL
""")


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit of work did: runs that it took on, and whether it left any for a sender, or for the next unit."""

    runs: int
    has_sends: bool
    has_more: bool = False


async def run_lane(db: Connection, environment_id: EnvironmentId, now: Millis, *, size: Size = FULL_UNIT) -> UnitResult:
    """Work on an environment's due jobs and triggers; nothing where another worker has its lane."""
    if not await try_lock_lane(db, environment_id):
        return UnitResult(0, has_sends=False)
    due = await claim_due_runs(db, environment_id, limit=size.runs, now=now)
    # One at a time means one job or one trigger, so that it is known which of them failed.
    most_triggers = 0 if size is ONE and due else size.triggers
    triggers = await claim_triggers(db, environment_id, limit=most_triggers)
    recipients, progress = await expand_triggers(db, environment_id, triggers, limit=size.runs, now=now)
    started = await start_runs(db, environment_id, recipients, now)
    runs = [*due, *started]
    if runs:
        rows = await db.fetch(LIST_OPEN_PROVIDERS, environment_id=environment_id)
        providers = frozenset(row["provider_id"] for row in rows)
        for run in runs:
            await advance(db, environment_id, run, open_providers=providers, now=now)
        await write_runs(db, environment_id, runs, now)
        await emit_run_events(db, environment_id, runs, now)
    await _write_progress(db, environment_id, progress)
    has_sends = any(job.queue == JobQueue.SEND for run in runs for job in run.jobs)
    has_more = len(due) == size.runs or len(triggers) == most_triggers or any(one.position for one in progress)
    return UnitResult(len(runs) + len(progress), has_sends=has_sends, has_more=has_more)


async def _write_progress(db: Connection, environment_id: EnvironmentId, progress: Sequence[Progress]) -> None:
    done = [one.trigger_id for one in progress if one.position is None]
    if done:
        await mark_triggers_done(db, environment_id, done)
    for one in progress:
        if one.position is not None:
            await update_position(db, environment_id, one.trigger_id, priority=one.priority, position=one.position)
