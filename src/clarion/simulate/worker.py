"""Simulated runs: the engine's own units of work and sends, on a clock that jumps from one due moment to the next."""

import logging
import time

from clarion.clock import ManualClock, Millis
from clarion.db.port import Sandbox
from clarion.engine.poison import isolate_poison
from clarion.engine.unit import UnitResult, run_unit
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.integrations.cache import IntegrationCache
from clarion.jobs.lanes import ALL_LANES
from clarion.jobs.model import JobQueue
from clarion.jobs.sends import is_in_attempt
from clarion.monitoring.metrics.measures import Measures
from clarion.providers.sending.gateway import DryGateway
from clarion.sending.claim import LEASE, claim_sends
from clarion.sending.deliver import Deliverer, give_up
from clarion.sending.model import ClaimedSend
from clarion.sending.places import Places, list_waiting
from clarion.sending.record import record_sends
from clarion.simulate.model import MAX_DURATION, MAX_MOMENTS
from clarion.simulate.store import list_due

log = logging.getLogger(__name__)


class SimulatedWorker:
    """Works on what is due in a sandbox. No lane is locked, nothing is announced, and no provider is called."""

    def __init__(
        self, db: Sandbox, environment_id: EnvironmentId, integrations: IntegrationCache, start: Millis
    ) -> None:
        self._db = db
        self._environment_id = environment_id
        self._integrations = integrations
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
            return await self._db.transaction(lambda db: run_unit(db, self._environment_id, self.now, lanes=ALL_LANES))
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("Simulated unit of work failed")
            done: list[UnitResult] = []
            if not await isolate_poison(self._db, self._environment_id, ALL_LANES, self.now, announce=done.append):
                raise
            return UnitResult(has_sends=any(one.has_sends for one in done), has_more=True)

    async def _send(self) -> bool:
        """Send what is due; returns whether runs go on."""
        places = Places()
        goes_on = False
        for room in places.find_room(await list_waiting(self._db, self.now)):
            claimed = await claim_sends(self._db, room, self._integrations, places, lease=LEASE, now=self.now)
            sends = [send for send in claimed.sends if await self._deliver(send)]
            if sends:
                recorded = await record_sends(self._db, self._environment_id, sends, self.now)
                goes_on = goes_on or recorded.has_released
        return goes_on

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
