"""Simulating a trigger: it is accepted and worked on in a sandbox, and everything is forgotten but what came of it."""

import asyncio
import logging
import time
from collections.abc import Mapping

from msgspec.structs import replace

from clarion.clock import ManualClock, Millis
from clarion.content.environment import ContentSource
from clarion.db.port import Database, Sandbox
from clarion.engine.poison import isolate_poison
from clarion.engine.unit import UnitResult, run_unit
from clarion.errors import Invalid, RequestError, StoreUnavailable
from clarion.ids import EnvironmentId, own_ids
from clarion.integrations.store import IntegrationCache
from clarion.jobs.lanes import ALL_LANES
from clarion.jobs.model import JobQueue
from clarion.jobs.sends import is_in_attempt
from clarion.monitoring.metrics import Measures
from clarion.providers.sending.gateway import DryGateway
from clarion.sending.claim import LEASE, claim_sends
from clarion.sending.deliver import Deliverer
from clarion.sending.model import ClaimedSend
from clarion.sending.places import Places, Room, list_waiting
from clarion.sending.record import record_sends
from clarion.sending.requests.claim import claim_requests
from clarion.sending.requests.example import GivenAnswer, answer_simulated
from clarion.sending.requests.record import record_requests
from clarion.sending.unexpected import give_up
from clarion.simulate import store
from clarion.simulate.events import Happening
from clarion.simulate.fixture import copy_fixture
from clarion.simulate.model import MAX_DURATION, MAX_MOMENTS, Scenario, Simulation
from clarion.simulate.results import list_recipients
from clarion.simulate.store import list_due
from clarion.triggers.actions import Accepted, accept_triggers
from clarion.triggers.due import begin_due_triggers
from clarion.triggers.model import Trigger, make_transaction_key
from clarion.triggers.requests import TriggerRequest
from clarion.vocabulary import StepType
from clarion.workflows.steps import check_definition
from clarion.workflows.store import list_versions_by_id

log = logging.getLogger(__name__)


class SimulatedWorker:
    """Works on what is due in a sandbox. No lane is locked, nothing is announced, and no provider is called."""

    def __init__(
        self,
        db: Sandbox,
        environment_id: EnvironmentId,
        integrations: IntegrationCache,
        start: Millis,
        source: ContentSource,
        answers: Mapping[str, GivenAnswer],
    ) -> None:
        self._db = db
        self._answers = answers
        self._environment_id = environment_id
        self._integrations = integrations
        self._source = source
        self._clock = ManualClock(start)
        self._deliverer = Deliverer(
            DryGateway(self._clock), self._clock, is_current=self._is_current, measures=Measures()
        )
        self._ends_at = time.monotonic() + MAX_DURATION / 1000
        self._moments = 0
        self.is_cut_short = False
        """Whether it stopped because it took too long."""

    @property
    def now(self) -> Millis:
        return self._clock.now()

    def move(self, to: Millis) -> None:
        """Set the clock ahead."""
        self._clock.move(max(to - self.now, 0))

    async def run(self, until: Millis) -> None:
        """Do everything that is due until a moment, that included; the clock stands there afterwards."""
        while (due := await list_due(self._db, self._environment_id)) and min(due.values()) <= until:
            if self._moments >= MAX_MOMENTS or time.monotonic() > self._ends_at:
                self.is_cut_short = True
                return
            self._moments += 1
            self.move(min(due.values()))
            is_due = {queue: moment <= self.now for queue, moment in due.items()}
            await self.work(
                has_decisions=is_due.get(JobQueue.DECIDE, False), has_sends=is_due.get(JobQueue.SEND, False)
            )
        self.move(until)

    async def work(self, *, has_decisions: bool = True, has_sends: bool = False) -> None:
        """Do everything that is due at this moment; by default, what a trigger that has just come leads to."""
        while has_decisions or has_sends:
            if has_decisions:
                done = await self._decide()
                has_decisions, has_sends = done.has_more, has_sends or done.has_sends
            if has_sends:
                has_decisions = await self._send() or has_decisions
                has_sends = False

    async def _decide(self) -> UnitResult:
        """Decide as a worker does: what fails unexpectedly is ended alone, with the reason."""
        try:
            return await self._db.transaction(
                lambda db: run_unit(db, self._environment_id, self.now, lanes=ALL_LANES, source=self._source)
            )
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("Simulated unit of work failed")
            done: list[UnitResult] = []
            isolated = await isolate_poison(
                self._db, self._environment_id, ALL_LANES, self.now, source=self._source, announce=done.append
            )
            if not isolated:
                raise
            return UnitResult(has_sends=any(one.has_sends for one in done), has_more=True)

    async def _send(self) -> bool:
        """Send what is due; returns whether runs go on."""
        places = Places()
        goes_on = False
        for room in places.find_room(await list_waiting(self._db, self.now)):
            if room.queue.channel is None:
                goes_on = await self._answer_requests(room, places) or goes_on
                continue
            claimed = await claim_sends(self._db, room, self._integrations, places, lease=LEASE, now=self.now)
            sends = [send for send in claimed.sends if await self._deliver(send)]
            if sends:
                recorded = await record_sends(self._db, self._environment_id, sends, self.now)
                goes_on = goes_on or recorded.has_released
        return goes_on

    async def _answer_requests(self, room: Room, places: Places) -> bool:
        """Answer requests of HTTP steps as is given, or by examples; returns whether runs go on."""
        vault = self._integrations.vault
        claimed = await claim_requests(self._db, room, vault, places, lease=LEASE, now=self.now)
        for one in claimed.requests:
            answer_simulated(one, self._answers.get(one.step.step_id), self.now)
        recorded = await record_requests(self._db, self._environment_id, claimed.requests, self.now)
        return recorded.has_released

    async def _deliver(self, send: ClaimedSend) -> bool:
        """Deliver as the sender does: an attempt that fails unexpectedly is one that may succeed the next time."""
        try:
            return await self._deliverer.deliver(send)
        except Exception as error:
            log.exception("Simulated send failed")
            give_up(send, error, self.now)
            return True

    async def _is_current(self, send: ClaimedSend) -> bool:
        return await is_in_attempt(self._db, send.environment_id, send.job.id, attempt=send.claimed_attempt)


async def simulate(database: Database, source: ContentSource, scenario: Scenario) -> Simulation:
    """What a trigger would do; raises what the trigger would be refused with."""
    if scenario.steps is not None:
        # Parsing takes long for large texts.
        await asyncio.to_thread(check_definition, scenario.steps, None)

    async def work(db: Sandbox) -> Simulation:
        with own_ids():
            return await _simulate(db, source, scenario)

    return await database.sandbox(scenario.request.environment_id, work)


async def _simulate(db: Sandbox, source: ContentSource, scenario: Scenario) -> Simulation:
    environment_id, at = scenario.request.environment_id, scenario.at
    integrations = IntegrationCache(source.vault)
    fixture = await copy_fixture(db, scenario)
    worker = SimulatedWorker(db, environment_id, integrations, min(scenario.now, at), source, scenario.answers)
    # What is under way may end or go on before the trigger comes.
    await worker.run(Millis(at - 1))
    worker.move(at)
    accepted = await _accept(db, scenario.request if fixture is None else fixture.request, at)
    if fixture is None or accepted.trigger is None:
        return Simulation(outcome=accepted.outcome, errors=accepted.errors)
    await _check_answers(db, scenario, accepted.trigger)
    if scenario.begins_at > at:
        await worker.run(Millis(scenario.begins_at - 1))
        worker.move(scenario.begins_at)
        await begin_due_triggers(db, scenario.begins_at, limit=1)
    await worker.work()
    await _run_with_events(worker, scenario, Happening(db=db, trigger=accepted.trigger, vault=source.vault))
    return Simulation(
        outcome=accepted.outcome,
        errors=accepted.errors,
        recipients=await list_recipients(db, scenario, integrations, accepted.trigger.id, worker.now),
        total=fixture.total,
        is_counted=fixture.is_counted,
        is_cut_short=worker.is_cut_short,
    )


async def _run_with_events(worker: SimulatedWorker, scenario: Scenario, happening: Happening) -> None:
    """Go on until the end; what is due at the moment of an event is done before it happens."""
    for event in scenario.events:
        await worker.run(event.at)
        if worker.is_cut_short:
            return
        await happening.let_happen(event, event.at)
        await worker.work()
    await worker.run(scenario.until)


async def _check_answers(db: Sandbox, scenario: Scenario, trigger: Trigger) -> None:
    """Raise Invalid for answers to steps that ask nothing."""
    if not scenario.answers:
        return
    versions = await list_versions_by_id(db, scenario.request.environment_id, [trigger.version_id])
    steps = versions[trigger.version_id].steps
    asking = {step.step_id for step in steps if step.type is StepType.HTTP_REQUEST}
    for name in scenario.answers:
        if name not in asking:
            known = ", ".join(sorted(asking)) or "there are none"
            raise Invalid.field("answers", f"is for the `stepId` of HTTP steps of the workflow: {known}", name)


async def _accept(db: Sandbox, request: TriggerRequest, at: Millis) -> Accepted:
    """Accept the trigger as a request would; one whose transaction was seen before would not be run again."""
    transaction = request.transaction
    is_repeated = transaction is not None and await store.has_transaction(db, request.environment_id, transaction)
    if is_repeated:
        request = replace(request, transaction=make_transaction_key(at))
    (outcome,) = (await accept_triggers(db, [request], at)).outcomes
    if isinstance(outcome, RequestError):
        raise outcome
    if not is_repeated:
        return outcome
    error = f"Transaction '{transaction}' was seen before, so nothing would be run; leave out transactionId"
    return replace(outcome, errors=[*outcome.errors, error], trigger=None)
