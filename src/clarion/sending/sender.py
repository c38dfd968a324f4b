"""The sender of one process: it claims jobs that are due, sends their messages and records the results."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from clarion.background import IDLE_SECONDS, BackgroundService, ServiceName
from clarion.clock import Clock, Millis
from clarion.db.port import Database
from clarion.engine.pipeline import Pipeline
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.integrations.store import IntegrationCache
from clarion.jobs.sends import is_in_attempt
from clarion.monitoring.metrics import Gauge, Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE, claim_sends
from clarion.sending.deliver import Deliverer
from clarion.sending.leases import LeaseKeeper
from clarion.sending.model import ClaimedSend
from clarion.sending.outgoing import ReceiptsUrl, nowhere
from clarion.sending.places import AnySend, Places, Room, list_waiting
from clarion.sending.record import measure_sends, record_sends
from clarion.sending.requests.call import RequestCaller
from clarion.sending.requests.call import fail_unrecorded as fail_unrecorded_request
from clarion.sending.requests.call import give_up as give_up_request
from clarion.sending.requests.claim import claim_requests
from clarion.sending.requests.model import ClaimedRequest
from clarion.sending.requests.record import measure_requests, record_requests
from clarion.sending.traces import add_traces
from clarion.sending.unexpected import fail_unrecorded, give_up
from clarion.subscribers.addresses.oauth.renewal import TokenRenewer

_GATHER_SECONDS = 0.04

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
        public_url: str | None = None,
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
        self._tokens = TokenRenewer(database, integrations.vault, clock, gateway.call)
        self._deliverer = Deliverer(
            gateway,
            clock,
            is_current=self._is_current,
            tokens=self._tokens,
            receipts_url=receipts_url,
            public_url=public_url,
            tracer=tracer,
            measures=self._measures,
        )
        self._requests = RequestCaller(gateway, clock)
        self._places = Places()
        self._leases = LeaseKeeper(database, self._places, clock, lease=lease)
        self._pipeline = Pipeline(
            self._places,
            clock,
            log,
            perform=self._send,
            record=self._record,
            log_unrecorded=_log_unrecorded,
            make_failed=_fail_unrecorded,
            gather_seconds=_GATHER_SECONDS,
        )
        self._measures.watch(Gauge.SENDS_IN_FLIGHT, lambda: len(self._places))

    def wake(self) -> None:
        """There may be jobs to send."""
        self._pipeline.wake_up.set()

    def list_services(self, grace_seconds: float | None = None) -> list[BackgroundService]:
        """Claims of sends, and the renewal of their leases until the last one has ended."""
        claims = BackgroundService(
            name=ServiceName.SENDS,
            run_once=self.claim,
            interval=IDLE_SECONDS,
            wake_up=self._pipeline.wake_up,
            finish=partial(self._end, grace_seconds),
        )
        return [claims, self._leases.make_service()]

    async def _end(self, grace_seconds: float | None) -> None:
        """Give what is in flight the grace period to end, and record its results."""
        await self._pipeline.drain(grace_seconds)
        self._deliverer.is_ending = self._requests.is_ending = True
        await self._pipeline.cancel()
        await self._tokens.finish()
        self._deliverer.is_ending = self._requests.is_ending = False

    async def work(self) -> bool:
        """Send and record what is due at this moment; returns whether there was any."""
        has_claimed = await self.claim()
        await self._pipeline.finish()
        return has_claimed

    async def claim(self) -> bool:
        """Take what there is room for and send it; returns whether there was any."""
        waiting = await self._database.read(lambda db: list_waiting(db, self._clock.now()))
        rooms = self._places.find_room(waiting)
        self._pipeline.is_full = len(rooms) < len(waiting)
        return await self._pipeline.claim(self._claim(room) for room in rooms)

    async def _claim(self, room: Room) -> bool:
        return await (self._claim_requests(room) if room.queue.channel is None else self._claim_sends(room))

    async def _claim_requests(self, room: Room) -> bool:
        claim = partial(
            claim_requests,
            room=room,
            vault=self._integrations.vault,
            places=self._places,
            lease=self._lease,
            now=self._clock.now(),
        )
        claimed = await self._database.transaction(claim)
        self._measures.expired_leases += claimed.expired
        self._pipeline.is_full |= claimed.is_full
        self._pipeline.start(claimed.requests)
        return claimed.has_found

    async def _claim_sends(self, room: Room) -> bool:
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
        self._pipeline.is_full |= claimed.is_full
        if self._tracer is not None and claimed.sends:
            await add_traces(self._database, claimed.sends)
        self._pipeline.start(claimed.sends)
        return claimed.has_found

    async def _send(self, send: AnySend) -> bool:
        try:
            if isinstance(send, ClaimedRequest):
                return await self._requests.perform(send)
            return await self._deliverer.deliver(send)
        except Exception as error:
            log.exception("Send failed", extra={"job_id": send.job.id.hex()})
            if isinstance(send, ClaimedRequest):
                give_up_request(send, error, self._clock.now())
            else:
                give_up(send, error, self._clock.now())
            return True

    async def _is_current(self, send: ClaimedSend) -> bool:
        find = partial(is_in_attempt, environment_id=send.environment_id, job_id=send.job.id)
        try:
            return await self._database.read(partial(find, attempt=send.claimed_attempt))
        except StoreUnavailable:
            # Not known without the store: the rest of the attempt is left to a retry.
            return False

    async def _record(self, environment_id: EnvironmentId, items: Sequence[AnySend], now: Millis) -> None:
        sends = [one for one in items if isinstance(one, ClaimedSend)]
        if sends:
            record = partial(record_sends, environment_id=environment_id, sends=sends, now=now)
            recorded = await self._database.transaction(record)
            measure_sends(self._measures, recorded, self._clock.now())
            if recorded.has_released:
                self._wake_lanes()
        requests = [one for one in items if isinstance(one, ClaimedRequest)]
        if requests:
            await self._record_requests(environment_id, requests, now)

    async def _record_requests(
        self, environment_id: EnvironmentId, requests: Sequence[ClaimedRequest], now: Millis
    ) -> None:
        record = partial(record_requests, environment_id=environment_id, requests=requests, now=now)
        recorded = await self._database.transaction(record)
        measure_requests(self._measures, recorded, self._clock.now())
        if recorded.has_released:
            self._wake_lanes()


def _fail_unrecorded(send: AnySend, now: Millis) -> None:
    if isinstance(send, ClaimedRequest):
        fail_unrecorded_request(send, now)
    else:
        fail_unrecorded(send, now)


def _log_unrecorded(send: AnySend, error: Exception) -> None:
    log.error("Result not recorded", exc_info=error, extra={"job_id": send.job.id.hex()})
