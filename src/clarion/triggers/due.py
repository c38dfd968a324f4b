"""Lets triggers begin at the moment that they were accepted for (`sendAt`), each once.

A trigger that waits is found by its moment alone, so that any number of them cost nothing. When it begins, it is as if
it were triggered at that moment: it runs the workflow as it is then, for those who are members of its topics then.
"""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from clarion.background import BackgroundService, ServiceName, pause_until
from clarion.bus import Bus, Signal
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import EnvironmentId, WorkflowVersionId
from clarion.triggers.actions import decide_outcome, priority_of
from clarion.triggers.model import Trigger, TriggerOutcome, TriggerState
from clarion.triggers.store import COLUMNS, read_trigger
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

_BEGUN_TOGETHER = 500
_SETTLE_SECONDS = 1.0
"""Signals announce any work and never stop under load, so there is at most one look in this time."""


FIND_NEXT_DUE = sql("""
    SELECT created_at, environment_id FROM triggers WHERE state = 'scheduled' ORDER BY created_at, id LIMIT 1
""")
# Not skipped where another worker begins them: later ones of the same people must not go ahead.
CLAIM_DUE = sql(f"""
    SELECT {COLUMNS} FROM triggers WHERE state = 'scheduled' AND created_at <= :now
    ORDER BY created_at, id LIMIT :limit {{for_update}}
""")
BEGIN_TRIGGERS = sql("""
    UPDATE triggers SET state = :state, version_id = :version_id, priority = :priority
    {each: environment_id uuid, id uuid, state text, version_id uuid, priority smallint}
    WHERE environment_id = :environment_id AND id = :id
""")


class DueTriggers:
    """Begins the waiting triggers of all environments. Any number of processes do so."""

    def __init__(self, database: Database, *, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._bus = bus
        self._hint = asyncio.Event()
        self.next_at: Millis | None = None
        """When the next trigger begins, as far as is known."""

    def wake(self) -> None:
        """There may be a new trigger that waits."""
        self._hint.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.DUE_TRIGGERS,
            run_once=self.work,
            interval=lambda: pause_until(self.next_at, self._clock.now()),
            wake_up=self._hint,
            settle_seconds=_SETTLE_SECONDS,
        )

    async def work(self) -> bool:
        """Begin the triggers that are due at this moment, up to a limit; returns whether there were any."""
        now = self._clock.now()
        self.next_at = await self._database.read(find_next_due)
        if self.next_at is None or self.next_at > now:
            return False
        begun = await self._database.transaction(lambda db: begin_due_triggers(db, now, limit=_BEGUN_TOGETHER))
        if begun:
            self._bus.publish(Signal.WORK)
        return begun > 0


async def begin_due_triggers(db: Connection, now: Millis, *, limit: int) -> int:
    """Begin up to `limit` triggers whose moment has come; returns how many."""
    due = await _claim_due(db, now, limit=limit)
    by_environment: dict[EnvironmentId, list[Trigger]] = {}
    for trigger in due:
        by_environment.setdefault(trigger.environment_id, []).append(trigger)
    for environment_id, triggers in by_environment.items():
        await _begin(db, environment_id, triggers)
    return len(due)


async def _begin(db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger]) -> None:
    workflows = await list_workflows_by_id(db, environment_id, [one.workflow_id for one in triggers])
    versions = await list_versions_by_id(db, environment_id, [one.version_id for one in workflows.values()])
    begun = []
    for trigger in triggers:
        workflow = workflows.get(trigger.workflow_id)
        if workflow is None or not _can_run(workflow, versions):
            begun.append(replace(trigger, state=TriggerState.REFUSED))
        else:
            state, priority = trigger.recipients.first_state, priority_of(workflow)
            begun.append(replace(trigger, state=state, version_id=workflow.version_id, priority=priority))
    await _write(db, environment_id, begun)


def _can_run(workflow: Workflow, versions: Mapping[WorkflowVersionId, WorkflowVersion]) -> bool:
    outcome = decide_outcome(workflow, versions[workflow.version_id])
    return workflow.deleted_at is None and outcome is TriggerOutcome.PROCESSED


async def find_next_due(db: Connection) -> Millis | None:
    """When the next trigger that waits for its moment begins, of all environments."""
    row = await db.fetch_one(FIND_NEXT_DUE)
    return None if row is None else Millis(row["created_at"])


async def _claim_due(db: Connection, now: Millis, *, limit: int) -> list[Trigger]:
    """The next triggers whose moment has come, of all environments."""
    return [read_trigger(row) for row in await db.fetch_values(CLAIM_DUE, now=now, limit=limit)]


async def _write(db: Connection, environment_id: EnvironmentId, triggers: Sequence[Trigger]) -> None:
    """Write what triggers come to at their moment; the caller has claimed them."""
    rows = [
        {
            "environment_id": environment_id,
            "id": trigger.id,
            "state": trigger.state,
            "version_id": trigger.version_id,
            "priority": int(trigger.priority),
        }
        for trigger in triggers
    ]
    await db.execute_many(BEGIN_TRIGGERS, rows)
