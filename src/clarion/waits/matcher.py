"""Offers events to the steps that wait for them, in the lanes of the people.

Emitting an event only stores it. A worker offers it afterwards, while it holds the lane of the person: no step of that
person is being decided then, so that each step either waits already or finds the event when it is reached. An event
for a topic or for everyone is offered to the waits for its name in chunks. Before the first one, the worker takes all
lanes once: steps that are reached afterwards see the event.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from clarion.background import IDLE_SECONDS, BackgroundService, ServiceName
from clarion.bus import Bus, Signal
from clarion.clock import DAY, MINUTE, SECOND, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.queue_plans import prefer_index_scans
from clarion.engine.membership import Membership
from clarion.ids import EmittedEventId, EnvironmentId, JobId, SubscriberId
from clarion.jobs.lanes import ALL_LANES, LaneSet, lock_lanes
from clarion.waits import store
from clarion.waits.model import EVENTS_KEPT, EmittedEvent, EventWait
from clarion.work import WorkBudget, spending

CHUNK: Final = 500
"""How many events, or waits for one event, are worked on in one unit of work."""
_LATE_AFTER: Final = Millis(SECOND // 2)
"""Events of people in another worker's lanes are taken over after this time."""
_CLEANED_EVERY: Final = MINUTE
_WAITS_KEPT: Final = DAY
"""How long what is left of a wait is kept that ended without its step."""
_FIRST: Final = JobId(bytes(16))


class EventMatcher:
    """Offers the events of all environments; any number of workers do so."""

    def __init__(self, database: Database, *, clock: Clock, bus: Bus, membership: Membership) -> None:
        self._database = database
        self._clock = clock
        self._bus = bus
        self._membership = membership
        self._hint = asyncio.Event()
        self._cleaned_at = Millis(0)

    def wake(self) -> None:
        """There may be an event."""
        self._hint.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(name=ServiceName.EVENTS, run_once=self.work, interval=IDLE_SECONDS, wake_up=self._hint)

    async def work(self) -> bool:
        """Offer the next events of each environment; returns whether there were any."""
        await self._clean()
        offered = 0
        for environment_id in await self._database.read(store.list_busy):
            offered += await self._offer(environment_id)
        if offered:
            self._bus.publish(Signal.WORK)
        return offered > 0

    async def _offer(self, environment_id: EnvironmentId) -> int:
        now, own = self._clock.now(), self._membership.lanes
        late = Millis(now - _LATE_AFTER)
        find_lanes = partial(store.list_pending_lanes, environment_id=environment_id, own=own, late=late, limit=CHUNK)
        lanes, has_many = await self._database.read(find_lanes)
        offered = 0
        if lanes:
            offer = partial(offer_events, environment_id=environment_id, lanes=lanes, now=now)
            offered += await self._database.transaction(offer)
        if has_many:
            offered += await self._database.transaction(partial(offer_to_many, environment_id=environment_id, now=now))
        return offered

    async def _clean(self) -> None:
        now = self._clock.now()
        if now - self._cleaned_at < _CLEANED_EVERY:
            return
        before, waits_before = Millis(now - EVENTS_KEPT), Millis(now - _WAITS_KEPT)
        delete = partial(store.delete_old, events_before=before, waits_before=waits_before, limit=CHUNK)
        if await self._database.transaction(delete) < CHUNK:
            self._cleaned_at = now


async def offer_events(db: Connection, environment_id: EnvironmentId, lanes: LaneSet, now: Millis) -> int:
    """Offer the next events about people of these lanes; returns how many.

    Those that take much work, because many steps wait for one person, are left to the next unit.
    """
    await prefer_index_scans(db)
    await lock_lanes(db, environment_id, lanes)
    events = await store.list_pending(db, environment_id, lanes, limit=CHUNK)
    people = {event.subscriber_id for event in events if event.subscriber_id is not None}
    if not people:
        return 0
    waits: defaultdict[tuple[SubscriberId | None, str], list[EventWait]] = defaultdict(list)
    for wait in await store.list_waits_of_people(db, environment_id, people):
        waits[wait.subscriber_id, wait.event].append(wait)
    changed, offered, budget = dict[JobId, EventWait](), list[EmittedEventId](), WorkBudget()
    for event in events:
        if budget.is_unit_done:
            break
        changed |= _take(event, waits.get((event.subscriber_id, event.name), ()), budget)
        offered.append(event.id)
    await _write(db, environment_id, changed, now)
    await store.mark_offered(db, environment_id, offered)
    return len(offered)


async def offer_to_many(db: Connection, environment_id: EnvironmentId, now: Millis) -> int:
    """Offer the next event for many to some waits; returns whether there was one, as a number."""
    await prefer_index_scans(db)
    pending = await store.find_pending_for_many(db, environment_id)
    if pending is None:
        return 0
    event, position = pending
    if position is None:
        await lock_lanes(db, environment_id, ALL_LANES)
    list_next = partial(store.list_waits_for, db, environment_id, event.name, after=position or _FIRST, limit=CHUNK)
    waits = await list_next()
    is_last = len(waits) < CHUNK
    if waits:
        last, locked = waits[-1].job_id, LaneSet.of(wait.lane for wait in waits)
        if position is not None:
            await lock_lanes(db, environment_id, locked)
            # Those in other lanes began to wait since, and looked back at the event.
            waits = [wait for wait in await list_next() if wait.job_id <= last and wait.lane in locked]
        changed = _take(event, await _keep_addressed(db, event, waits), WorkBudget())
        await _write(db, environment_id, changed, now)
        await store.update_position(db, environment_id, event.id, last)
    if is_last:
        await store.mark_offered(db, environment_id, [event.id])
    return 1


async def _keep_addressed(db: Connection, event: EmittedEvent, waits: Sequence[EventWait]) -> Sequence[EventWait]:
    """Those of the waits whose people the event is for."""
    if event.topic_id is None:
        return waits
    people = {wait.subscriber_id for wait in waits}
    members = await store.list_memberships(db, event.environment_id, [event.topic_id], people)
    return [wait for wait in waits if (event.topic_id, wait.subscriber_id) in members]


def _take(event: EmittedEvent, waits: Iterable[EventWait], budget: WorkBudget) -> dict[JobId, EventWait]:
    """Offer an event to waits; returns those that changed."""
    changed = {}
    with spending(budget):
        for wait in waits:
            missed = wait.missed
            if wait.take(event) or wait.missed > missed:
                changed[wait.job_id] = wait
    return changed


async def _write(
    db: Connection, environment_id: EnvironmentId, changed: Mapping[JobId, EventWait], now: Millis
) -> None:
    await store.update_waits(db, environment_id, changed.values())
    woken = [job_id for job_id, wait in changed.items() if wait.matched is not None]
    await store.wake_jobs(db, environment_id, woken, now)
