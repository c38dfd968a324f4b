"""The sender of one process: claims, sends and records, all at the same time.

Each claimed job is sent by its own task, so that a slow provider holds up nobody but its own messages. Results are
recorded in groups: while one group is written, the next one gathers.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from clarion.background import IDLE_SECONDS, PAUSE_SECONDS, BackgroundService, ServiceName
from clarion.clock import Clock, Millis
from clarion.db.port import Database
from clarion.engine.measuring import measure_sends
from clarion.engine.tasks import Tasks
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.integrations.cache import IntegrationCache
from clarion.jobs.sends import is_in_attempt
from clarion.monitoring.metrics.measures import Gauge, Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE, claim_sends
from clarion.sending.deliver import Deliverer, give_up, set_aside
from clarion.sending.leases import LeaseKeeper
from clarion.sending.model import ClaimedSend
from clarion.sending.outgoing import ReceiptsUrl, nowhere
from clarion.sending.places import Places, Room, list_waiting
from clarion.sending.record import record_sends
from clarion.sending.traces import add_traces

_BUSY = 16
_GATHER_SECONDS = 0.04
"""While many sends are in flight, results wait this long for others: a larger group costs less per result."""

log = logging.getLogger(__name__)


class Sender:
    """Sends the jobs of all environments through their providers."""

    def __init__(  # noqa: PLR0913 - what it is composed of
        self,
        database: Database,
        *,
        clock: Clock,
        gateway: ProviderGateway,
        integrations: IntegrationCache,
        wake_lanes: Callable[[], None],
        receipts_url: ReceiptsUrl = nowhere,
        lease: Millis = LEASE,
        tracer: Tracer | None = None,
        measures: Measures | None = None,
    ) -> None:
        self._database = database
        self._measures = measures or Measures()
        self._clock = clock
        self._lease = lease
        self._integrations = integrations
        self._wake_lanes = wake_lanes
        self._tracer = tracer
        self._deliverer = Deliverer(
            gateway,
            clock,
            is_current=self._is_current,
            receipts_url=receipts_url,
            tracer=tracer,
            measures=self._measures,
        )
        self._hint = asyncio.Event()
        self._is_full = False
        self._is_ending = False
        self._places = Places()
        self._leases = LeaseKeeper(database, self._places, clock, lease=lease)
        self._delivered: list[ClaimedSend] = []
        self._tasks = Tasks()
        self._sends = Tasks()
        self._recorder: asyncio.Task[None] | None = None
        self._measures.watch(Gauge.SENDS_IN_FLIGHT, lambda: len(self._places))

    def wake(self) -> None:
        """There may be jobs to send."""
        self._hint.set()

    def list_services(self, grace_seconds: float | None = None) -> list[BackgroundService]:
        """Claims of sends, and the renewal of their leases until the last one has ended."""
        claims = BackgroundService(
            name=ServiceName.SENDS,
            run_once=self.claim,
            interval=IDLE_SECONDS,
            wake_up=self._hint,
            finish=partial(self._end, grace_seconds),
        )
        return [claims, self._leases.make_service()]

    async def _end(self, grace_seconds: float | None) -> None:
        """Give what is in flight the grace period to end, and record its results."""
        self._is_ending = True
        # Claims that have begun still end.
        await self._tasks.finish()
        await self._sends.wait(grace_seconds)
        self._deliverer.is_ending = True
        self._sends.cancel()
        await self._finish()
        self._deliverer.is_ending = False

    async def _finish(self) -> None:
        await self._sends.finish()
        await self._tasks.finish()

    async def work(self) -> bool:
        """Send and record what is due at this moment; returns whether there was any."""
        has_claimed = await self.claim()
        await self._finish()
        return has_claimed

    async def claim(self) -> bool:
        """Take what there is room for and send it; returns whether there was any."""
        waiting = await self._database.read(lambda db: list_waiting(db, self._clock.now()))
        rooms = self._places.find_room(waiting)
        self._is_full = len(rooms) < len(waiting)
        return await self._tasks.claim([self._claim(one) for one in rooms])

    async def _claim(self, room: Room) -> bool:
        claim = partial(
            claim_sends,
            room=room,
            integrations=self._integrations,
            places=self._places,
            lease=self._lease,
            now=self._clock.now(),
        )
        claimed = await self._database.transaction(claim)
        self._measures.expired_leases += claimed.expired
        self._is_full = self._is_full or claimed.is_full
        self._places.take(claimed.sends)
        if self._tracer is not None and claimed.sends:
            await add_traces(self._database, claimed.sends)
        for send in claimed.sends:
            self._sends.start(self._send(send))
        return claimed.has_found

    async def _send(self, send: ClaimedSend) -> None:
        try:
            if not await self._deliverer.deliver(send):
                self._places.release([send])
                return
        except Exception as error:
            log.exception("Send failed", extra={"job_id": send.job.id.hex()})
            give_up(send, error, self._clock.now())
        self._delivered.append(send)
        if self._recorder is None:
            self._recorder = self._tasks.start(self._record_delivered())

    async def _is_current(self, send: ClaimedSend) -> bool:
        find = partial(is_in_attempt, environment_id=send.environment_id, job_id=send.job.id)
        try:
            return await self._database.read(partial(find, attempt=send.claimed_attempt))
        except StoreUnavailable:
            # Without the store nobody knows: the rest of the attempt is left to a retry.
            return False

    async def _record_delivered(self) -> None:
        try:
            while self._delivered:
                if len(self._places) - len(self._delivered) > _BUSY:
                    await asyncio.sleep(_GATHER_SECONDS)
                group, self._delivered = self._delivered, []
                group.sort(key=lambda send: send.environment_id)
                for environment_id, sends in groupby(group, lambda send: send.environment_id):
                    await self._record(environment_id, list(sends))
        finally:
            self._recorder = None

    async def _record(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        try:
            await self._write(environment_id, sends)
        except Exception:
            log.exception("Results not recorded", extra={"environment_id": environment_id.hex()})
            await self._record_apart(environment_id, sends)
        self._places.release(sends)
        if self._is_full:
            self._hint.set()

    async def _record_apart(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        """Record each alone, so that one that fails unexpectedly does not take the others along; it ends as failed."""
        for send in sends:
            try:
                if len(sends) == 1:
                    set_aside(send, self._clock.now())
                await self._write(environment_id, [send])
            except Exception:
                log.exception("Result not recorded", extra={"job_id": send.job.id.hex()})
                if len(sends) > 1:
                    await self._record_apart(environment_id, [send])

    async def _write(self, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
        """Write results, however long the store cannot be used: a result that is lost would be sent again."""
        record = partial(record_sends, environment_id=environment_id, sends=sends, now=self._clock.now())
        while True:
            try:
                recorded = await self._database.transaction(record)
                measure_sends(self._measures, recorded, self._clock.now())
                if recorded.has_released:
                    self._wake_lanes()
            except StoreUnavailable as error:
                log.warning("Recording postponed", extra={"error": str(error), "count": len(sends)})
                if self._is_ending:
                    return
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return

    async def renew_leases(self) -> None:
        """Keep the jobs that are in flight; leases that cannot be renewed in time lapse."""
        await self._leases.renew(self._database)
