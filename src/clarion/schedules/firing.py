"""Triggers workflows at the moments of schedules, each once.

What a schedule does at a moment is one unit of work: the trigger is stored under a transaction that follows from
schedule and moment, the run is noted, and the schedule moves on. So it happens completely or not at all, whichever
process does it. Between their moments, any number of schedules cost nothing: they are found by these alone.
"""

import asyncio
import logging
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.background import BackgroundService, ServiceName, pause_until
from clarion.bus import Bus, Signal
from clarion.clock import HOUR, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.errors import Invalid, PayloadInvalid, StoreUnavailable
from clarion.ids import ScheduleId, SubscriberKey, id_text
from clarion.monitoring.metrics import Measures
from clarion.schedules import store
from clarion.schedules.model import ScheduleRun, TriggerSchedule
from clarion.schedules.moments import DueMoment, find_wake, list_due
from clarion.schedules.requests import list_people, make_request, make_request_in_zone
from clarion.subscribers.store import list_subscribers_by_key
from clarion.triggers.actions import Accepted, Outcome, accept_triggers
from clarion.triggers.model import TriggerOutcome
from clarion.triggers.requests import TriggerRequest

_TAKEN_TOGETHER = 20
_MAX_TRIGGERS = 100
"""In one unit of work, more or less; those of one moment of a schedule are never separated."""
_SETTLE_SECONDS = 1.0
"""Signals announce any work and never stop under load, so there is at most one look in this time."""
_POSTPONED_FOR = HOUR

_TROUBLE = {
    TriggerOutcome.NOT_ACTIVE: "The workflow was not active",
    TriggerOutcome.NO_STEPS: "The workflow had no steps",
    TriggerOutcome.NO_ACTIVE_STEPS: "The workflow had no active steps",
}

log = logging.getLogger(__name__)


class _Firing(Struct, frozen=True, kw_only=True):
    """A trigger of a schedule that is due."""

    schedule: TriggerSchedule
    due: DueMoment
    request: TriggerRequest


class Fired(Struct, frozen=True, kw_only=True):
    """What a unit of work did."""

    looked_at: int = 0
    triggers: int = 0


class ScheduleService:
    """Triggers what is due, of all environments. Any number of processes do so."""

    def __init__(self, database: Database, *, clock: Clock, bus: Bus, measures: Measures) -> None:
        self._database = database
        self._clock = clock
        self._bus = bus
        self._measures = measures
        self._hint = asyncio.Event()
        self._is_careful = False
        """After a failure: one schedule at a time, to find out which one fails."""
        self._postponed: dict[ScheduleId, Millis] = {}
        """Those that failed, and until when they are left alone, so that the others go on."""
        self.next_at: Millis | None = None
        """When to look again, as far as is known."""
        bus.listen(Signal.WORK, self.wake)

    def wake(self) -> None:
        """There may be a new schedule."""
        self._hint.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SCHEDULES,
            run_once=self.work,
            interval=lambda: pause_until(self.next_at, self._clock.now()),
            wake_up=self._hint,
            settle_seconds=_SETTLE_SECONDS,
        )

    async def work(self) -> bool:
        """Trigger what is due at this moment, up to a limit; returns whether there was anything to look at."""
        now = self._clock.now()
        self._postponed = {key: until for key, until in self._postponed.items() if until > now}
        postponed = list(self._postponed)
        self.next_at = await self._database.read(lambda db: store.find_next_due(db, postponed))
        if self.next_at is None or self.next_at > now:
            return False
        fired = await self._fire(now, postponed)
        if fired.triggers:
            self._measures.accepted_triggers += fired.triggers
            self._bus.publish(Signal.WORK)
        return fired.looked_at > 0

    async def _fire(self, now: Millis, postponed: Sequence[ScheduleId]) -> Fired:
        limit = 1 if self._is_careful else _TAKEN_TOGETHER
        taken: list[ScheduleId] = []
        try:
            fired = await self._database.transaction(lambda db: fire_due(db, now, postponed, limit=limit, taken=taken))
        except StoreUnavailable:
            raise
        except Exception:
            self._is_careful = True
            if len(taken) == 1:
                self._postponed[taken[0]] = Millis(now + _POSTPONED_FOR)
                log.warning("Schedule postponed, because it failed", extra={"schedule_id": id_text(taken[0])})
            raise
        self._is_careful = False
        return fired


async def fire_due(
    db: Connection,
    now: Millis,
    postponed: Sequence[ScheduleId] = (),
    *,
    limit: int = _TAKEN_TOGETHER,
    taken: list[ScheduleId] | None = None,
) -> Fired:
    """Trigger what is due of up to `limit` schedules; adds these to `taken`."""
    schedules = await store.claim_due(db, now, postponed, limit=limit)
    if taken is not None:
        taken[:] = [one.id for one in schedules]
    firings: list[_Firing] = []
    moved: list[TriggerSchedule] = []
    for schedule in schedules:
        # The others are left to the next unit of work.
        if len(firings) >= _MAX_TRIGGERS:
            break
        due, zones = await _list_due(db, schedule, now)
        # The clock may have gone back.
        until = max(now, schedule.done_until)
        now_due, done_until = _take_some(due, until)
        firings += _list_firings(schedule, now_due, zones)
        following = now if done_until < until else find_wake(schedule.timing, until)
        moved.append(replace(schedule, done_until=done_until, next_at=following))
    triggers = await _trigger(db, firings, now)
    await store.mark_done(db, moved)
    return Fired(looked_at=len(moved), triggers=triggers)


async def _list_due(
    db: Connection, schedule: TriggerSchedule, now: Millis
) -> tuple[list[DueMoment], dict[str, set[SubscriberKey]]]:
    """What is due, and who of the people whom the schedule names is in which zone."""
    zones: dict[str, set[SubscriberKey]] = {}
    if schedule.timing.is_of_person:
        zones = await _list_zones(db, schedule)
    timing, done_until = schedule.timing, schedule.done_until
    return list_due(timing, schedule.catch_up, zones or [""], done_until=done_until, now=now), zones


async def _list_zones(db: Connection, schedule: TriggerSchedule) -> dict[str, set[SubscriberKey]]:
    named = list_people(schedule)
    zones: dict[str, set[SubscriberKey]] = {"": set()}
    if len(named) < len(schedule.recipients) or schedule.is_for_everyone:
        zones |= {zone: set() for zone in await store.list_zones(db, schedule.environment_id)}
    people = await list_subscribers_by_key(db, schedule.environment_id, named) if named else {}
    for key in named:
        person = people.get(key)
        zones.setdefault("" if person is None else person.timezone or "", set()).add(key)
    return zones


def _take_some(due: Sequence[DueMoment], until: Millis) -> tuple[Sequence[DueMoment], Millis]:
    """The first ones, whole moments, and up to when all is done with them."""
    if len(due) <= _MAX_TRIGGERS:
        return due, until
    last = due[_MAX_TRIGGERS - 1].moment
    return [one for one in due if one.moment <= last], last


def _list_firings(
    schedule: TriggerSchedule, due: Sequence[DueMoment], zones: dict[str, set[SubscriberKey]]
) -> list[_Firing]:
    firings = []
    for moment in due:
        transaction = schedule.transaction_of(moment.moment, moment.zone)
        request: TriggerRequest | None = make_request(schedule, transaction)
        if schedule.timing.is_of_person:
            request = make_request_in_zone(schedule, transaction, moment.zone, zones[moment.zone])
        if request is not None:
            firings.append(_Firing(schedule=schedule, due=moment, request=request))
    return firings


async def _trigger(db: Connection, firings: Sequence[_Firing], now: Millis) -> int:
    """Accept the triggers and note the runs; returns how many were accepted."""
    if not firings:
        return 0
    accepted = await accept_triggers(db, [one.request for one in firings], now)
    await store.insert_runs(
        db, [_run_of(one, outcome, now) for one, outcome in zip(firings, accepted.outcomes, strict=True)]
    )
    return accepted.stored


def _run_of(firing: _Firing, outcome: Outcome, now: Millis) -> ScheduleRun:
    is_triggered = isinstance(outcome, Accepted) and outcome.outcome is TriggerOutcome.PROCESSED
    return ScheduleRun(
        environment_id=firing.schedule.environment_id,
        schedule_id=firing.schedule.id,
        moment=firing.due.moment,
        timezone=firing.due.zone,
        transaction_key=firing.schedule.transaction_of(firing.due.moment, firing.due.zone) if is_triggered else None,
        trouble=_trouble_of(outcome),
        at=now,
    )


def _trouble_of(outcome: Outcome) -> str | None:
    if not isinstance(outcome, Accepted):
        return outcome.message if isinstance(outcome, PayloadInvalid) else _first_problem(outcome)
    if outcome.is_duplicate:
        return "Its transaction had been triggered before"
    return _TROUBLE.get(outcome.outcome) or "; ".join(outcome.errors) or None


def _first_problem(refusal: Invalid) -> str:
    return "; ".join(f"{path}: {problems[0].message}" for path, problems in refusal.problems.items())
