"""What the steps of a unit of work wait for: events that came before they were reached, and new waits.

What steps may look back at is read together for all runs of the unit that have such a step; other units read nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from clarion.answers.model import RunAnswer
from clarion.answers.store import list_answers
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId
from clarion.jobs.model import FINISHED, Job
from clarion.vocabulary import JobStatus, StepType
from clarion.waits import store
from clarion.waits.happened import list_past_states
from clarion.waits.model import EVENTS_KEPT, MAX_WAITS, EmittedEvent, EventWait, MessageEventName
from clarion.workflows.model import Step

_KINDS: Final = frozenset({StepType.WAIT_FOR, StepType.ASK})
MAX_LOOKED_BACK: Final = 1_000
"""How many events about one person, or for many, a step looks back at."""


class TooManyWaits(Exception):
    """As many steps wait for the person already as may."""


class _Memory(Struct, frozen=True):
    """The events of a unit of work that steps may look back at."""

    of_people: dict[SubscriberId, list[EmittedEvent]] = {}
    for_many: list[EmittedEvent] = []
    members: frozenset[tuple[Any, SubscriberId]] = frozenset()

    def list_about(self, person: SubscriberId) -> list[EmittedEvent]:
        own = self.of_people.get(person, [])
        many = [one for one in self.for_many if one.topic_id is None or (one.topic_id, person) in self.members]
        return sorted([*own, *many], key=lambda one: (one.created_at, one.id))


class EventWaits:
    """The waits of one unit of work; the caller holds the lanes of the people."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._memory = _Memory()
        self._counts: dict[SubscriberId, int] = {}
        self._waiting: list[Job] = []
        self._stored: dict[JobId, EventWait] = {}
        self._new: list[EventWait] = []
        self._answers: dict[tuple[NotificationId, bytes], RunAnswer] = {}

    async def load(self, runs: Sequence[Run]) -> None:
        """Read what the steps of these runs that wait may ask for."""
        waiting_runs = [run for run in runs if not _KINDS.isdisjoint(run.version.step_types)]
        jobs = [(run, job) for run in waiting_runs for job in run.jobs if run.step_of(job).type in _KINDS]
        self._waiting = [job for _, job in jobs if job.status is JobStatus.DELAYED]
        waiting = [job.id for job in self._waiting]
        self._stored = await store.list_waits_of_jobs(self._db, self._environment_id, waiting)
        # Steps within branches are no jobs yet, so that what a run may reach is known by its version alone.
        going_on = [run for run in waiting_runs if _has_steps_left(run)]
        if looking_back := [run for run in going_on if run.version.awaited_events]:
            await self._look_back(looking_back)
        if going_on:
            people = {run.subscriber.id for run in going_on}
            self._counts = await store.count_waits(self._db, self._environment_id, people)
        # Nobody has a link to a run that is new.
        asking = [run.id for run in waiting_runs if StepType.ASK in run.version.step_types and not run.is_new]
        self._answers = await list_answers(self._db, self._environment_id, asking)

    def find(self, job: Job) -> EventWait | None:
        """What a step waited for; None if it is not known any more."""
        return self._stored.get(job.id)

    def find_answer(self, run: Run, step: Step) -> RunAnswer | None:
        """The answer to the question of a step, whether it was reached or not; None if nobody has given one."""
        return self._answers.get((run.id, step.id_bytes))

    async def open(self, wait: EventWait, run: Run) -> bool:
        """Begin to wait, unless the event has come already; returns whether it has. Raises TooManyWaits."""
        if wait.event in set(MessageEventName) and not run.is_new:
            for state in await list_past_states(self._db, self._environment_id, run.jobs, run.step_of, wait.event):
                if wait.take(state):
                    return True
        if any(wait.take(event) for event in self._list_past(wait)):
            return True
        self.add(wait)
        return False

    def add(self, wait: EventWait) -> None:
        """Begin to wait; raises TooManyWaits."""
        count = self._counts.get(wait.subscriber_id, 0)
        if count >= MAX_WAITS:
            raise TooManyWaits
        self._counts[wait.subscriber_id] = count + 1
        self._new.append(wait)

    async def write(self) -> None:
        """Store what steps wait for from now on, and forget what others waited for."""
        await store.insert_waits(self._db, self._new)
        ended = [job.id for job in self._waiting if job.status is not JobStatus.DELAYED]
        await store.delete_waits(self._db, self._environment_id, ended)

    def _list_past(self, wait: EventWait) -> Iterable[EmittedEvent]:
        return (event for event in self._memory.list_about(wait.subscriber_id) if event.name == wait.event)

    async def _look_back(self, runs: Sequence[Run]) -> None:
        names = sorted({str(name) for run in runs for name in run.version.awaited_events})
        people = {run.subscriber.id for run in runs}
        since = max(min(run.trigger.created_at for run in runs), Millis(self._now - EVENTS_KEPT))
        many = list[EmittedEvent]()
        of_people: defaultdict[SubscriberId, list[EmittedEvent]] = defaultdict(list)
        for name in names:
            for event in await self._list_of_people(people, name, since):
                if event.subscriber_id is not None:
                    of_people[event.subscriber_id].append(event)
            scope = (self._db, self._environment_id, name, since)
            many += await store.list_events_for_many(*scope, limit=MAX_LOOKED_BACK)
        topics = {event.topic_id for event in many if event.topic_id is not None}
        members = await store.list_memberships(self._db, self._environment_id, topics, people)
        self._memory = _Memory(dict(of_people), many, frozenset(members))

    async def _list_of_people(self, people: Collection[SubscriberId], name: str, since: Millis) -> list[EmittedEvent]:
        list_events = partial(store.list_events_of_people, self._db, self._environment_id, limit=MAX_LOOKED_BACK)
        together = await list_events(people, name, since)
        if len(together) < MAX_LOOKED_BACK or len(people) == 1:
            return together
        # Many events about some of them must not hide those about others.
        return [event for person in sorted(people) for event in await list_events([person], name, since)]


def _has_steps_left(run: Run) -> bool:
    return any(job.status not in FINISHED and job.status is not JobStatus.DELAYED for job in run.jobs)
