"""Workflows that steps trigger: accepted in the unit of work of the step, so that each is triggered once."""

from collections.abc import Sequence
from typing import Any, Final, cast

from clarion.clock import Millis
from clarion.db.port import Connection, Sandbox
from clarion.db.query import sql
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, NotificationId, SubscriberKey, id_text
from clarion.jobs.model import Job
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import list_subscribers_by_key
from clarion.triggers.actions import Accepted, accept_triggers
from clarion.triggers.model import AddressedPerson, TriggerOutcome
from clarion.triggers.requests import TriggerRequest

MAX_CHAIN: Final = 5
"""How many triggers of steps may follow from each other."""

FIND_CAUSE = sql("""
    SELECT caused_by FROM triggers WHERE environment_id = :environment_id AND id = :id
""")
FIND_TRIGGER_OF_RUN = sql("""
    SELECT trigger_id FROM notifications WHERE environment_id = :environment_id AND id = :id
""")


class NotTriggered(Exception):
    """The other workflow was not triggered; the message says why."""


class TriggeredWorkflows:
    """Triggers other workflows for the runs of one unit of work."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self.count = 0

    async def trigger(
        self,
        run: Run,
        job: Job,
        workflow: str,
        people: Sequence[SubscriberKey],
        payload: dict[str, Any],
        *,
        part: str = "",
    ) -> str:
        """Trigger a workflow for people and return the transaction; raises NotTriggered.

        A step that triggers it several times gives each a `part` of its own.
        """
        if await self._count_chain(run) >= MAX_CHAIN:
            raise NotTriggered(f"{MAX_CHAIN} workflows triggered each other before; a longer chain may be a circle")
        actor = run.trigger.recipients.actor
        request = TriggerRequest(
            environment_id=self._environment_id,
            name=workflow,
            wanted=[AddressedPerson(key=key) for key in dict.fromkeys(people)],
            payload=payload,
            overrides=None,
            transaction=f"step_{id_text(job.id)}{part}",
            actor=None if actor is None else AddressedPerson(key=actor.key),
            contexts=run.trigger.contexts,
            keeps_contexts=run.trigger.keeps_contexts,
            caused_by=run.id,
        )
        accepted = await accept_triggers(self._db, [request], self._now)
        (outcome,) = accepted.outcomes
        if not isinstance(outcome, Accepted):
            raise NotTriggered(str(outcome))
        if outcome.outcome is not TriggerOutcome.PROCESSED:
            raise NotTriggered(f"workflow '{workflow}' was not started: {outcome.outcome}")
        self.count += 1
        return outcome.transaction

    async def find_people(self, keys: Sequence[SubscriberKey]) -> dict[SubscriberKey, Subscriber]:
        """Those of the people who exist."""
        if self._db.is_sandbox:
            # Whom templates name is not known when a simulation begins.
            of_keys = "t.environment_id = :environment_id AND t.key {any:keys}"
            sandbox = cast("Sandbox", self._db)
            await sandbox.copy("subscribers", of_keys, environment_id=self._environment_id, keys=list(keys))
        return await list_subscribers_by_key(self._db, self._environment_id, keys)

    async def _count_chain(self, run: Run) -> int:
        """Return how many triggers of steps led to a run."""
        scope = {"environment_id": self._environment_id}
        trigger_id, length = run.trigger.id, 0
        while length < MAX_CHAIN:
            row = await self._db.fetch_one(FIND_CAUSE, **scope, id=trigger_id)
            if row is None or row["caused_by"] is None:
                break
            length += 1
            cause = await self._db.fetch_one(FIND_TRIGGER_OF_RUN, **scope, id=NotificationId(row["caused_by"]))
            if cause is None:
                break
            trigger_id = cause["trigger_id"]
        return length
