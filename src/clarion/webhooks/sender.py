"""Webhooks of one process: deliveries are claimed, posted and recorded, all at the same time.

Many go out at once but few to one endpoint, so that a slow receiver holds up nobody but itself. Results are recorded
in groups: while one group is being written, the next one gathers.
"""

import asyncio
import logging
from collections import Counter
from functools import partial

from clarion.background import IDLE_SECONDS, PAUSE_SECONDS, BackgroundService, ServiceName
from clarion.clock import Clock
from clarion.db.port import Database
from clarion.engine.tasks import Tasks
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, WebhookEndpointId
from clarion.monitoring.metrics.measures import Gauge, Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.webhooks.deliveries import (
    ClaimedDelivery,
    claim_deliveries,
    group_by_environment,
    list_due_endpoints,
    make_expired_attempt,
    record_attempts,
)
from clarion.webhooks.model import DeliveryAttempt
from clarion.webhooks.posting import post_event
from clarion.webhooks.traces import WebhookTracer

Place = tuple[EnvironmentId, WebhookEndpointId]

MAX_IN_FLIGHT = 256
"""Deliveries that one process posts at a time, shared by the endpoints that have some."""
MAX_PER_ENDPOINT = 8

log = logging.getLogger(__name__)


class WebhookSender:
    """Posts events of all environments to their endpoints."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        vault: Vault,
        gateway: ProviderGateway,
        tracer: Tracer | None = None,
        measures: Measures | None = None,
    ) -> None:
        self._database = database
        self._measures = measures or Measures()
        self._clock = clock
        self._vault = vault
        self._gateway = gateway
        self._traces = None if tracer is None else WebhookTracer(database, tracer)
        self._hint = asyncio.Event()
        self._is_full = False
        self._is_ending = False
        self._in_flight: set[ClaimedDelivery] = set()
        self._posted: list[tuple[ClaimedDelivery, DeliveryAttempt]] = []
        self._tasks = Tasks()
        self._posts = Tasks()
        self._recorder: asyncio.Task[None] | None = None
        self._measures.watch(Gauge.WEBHOOKS_IN_FLIGHT, lambda: len(self._in_flight))

    def make_service(self, grace_seconds: float | None = None) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.WEBHOOKS,
            run_once=self.claim,
            interval=IDLE_SECONDS,
            wake_up=self._hint,
            finish=partial(self._end, grace_seconds),
        )

    async def _end(self, grace_seconds: float | None) -> None:
        """Give what is in flight the grace period to end; after that it is left to its lease."""
        self._is_ending = True
        # Claims that have begun still end.
        await self._tasks.finish()
        await self._posts.wait(grace_seconds)
        self._posts.cancel()
        await self._finish()

    async def _finish(self) -> None:
        await self._posts.finish()
        await self._tasks.finish()

    async def work(self) -> bool:
        """Post and record what is due at this moment; returns whether there was any."""
        has_claimed = await self.claim()
        await self._finish()
        return has_claimed

    async def claim(self) -> bool:
        """Take what there is room for and post it; returns whether there was any."""
        now = self._clock.now()
        waiting = await self._database.read(lambda db: list_due_endpoints(db, now))
        counts = Counter((one.endpoint.environment_id, one.endpoint.id) for one in self._in_flight)
        share = max(1, min(MAX_PER_ENDPOINT, MAX_IN_FLIGHT // max(len(counts.keys() | set(waiting)), 1)))
        room = {place: share - counts[place] for place in waiting if counts[place] < share}
        self._is_full = len(room) < len(waiting)
        return await self._tasks.claim([self._claim_of(place, limit) for place, limit in room.items()])

    async def _claim_of(self, place: Place, limit: int) -> bool:
        claim = partial(claim_deliveries, place=place, vault=self._vault, limit=limit, now=self._clock.now())
        deliveries = await self._database.transaction(claim)
        self._in_flight.update(deliveries)
        if self._traces is not None:
            await self._traces.add(place[0], deliveries)
        for delivery in deliveries:
            self._posts.start(self._post(delivery))
        return bool(deliveries)

    async def _post(self, delivery: ClaimedDelivery) -> None:
        try:
            attempt = await self._attempt(delivery)
            self._measures.webhooks["delivered" if attempt.is_success else "failed"] += 1
        except Exception as error:
            log.exception("Webhook failed", extra={"delivery_id": delivery.id.hex()})
            attempt = DeliveryAttempt(error=f"{type(error).__name__} in Clarion itself")
        self._posted.append((delivery, attempt))
        if self._recorder is None:
            self._recorder = self._tasks.start(self._record_posted())

    async def _attempt(self, delivery: ClaimedDelivery) -> DeliveryAttempt:
        if delivery.payload is None:
            return make_expired_attempt()
        post = partial(
            post_event, self._gateway, delivery.endpoint, delivery.event_id, delivery.payload, self._clock.now()
        )
        return await (post() if self._traces is None else self._traces.post(delivery, post))

    async def _record_posted(self) -> None:
        try:
            while self._posted:
                group, self._posted = self._posted, []
                for environment_id, attempts in group_by_environment(group).items():
                    await self._record(environment_id, attempts)
                    self._in_flight.difference_update(attempts)
                if self._is_full:
                    self._hint.set()
        finally:
            self._recorder = None

    async def _record(self, environment_id: EnvironmentId, attempts: dict[ClaimedDelivery, DeliveryAttempt]) -> None:
        """Write results down; what cannot be written is posted again when its lease is over."""
        record = partial(record_attempts, environment_id=environment_id, attempts=attempts, now=self._clock.now())
        while True:
            try:
                await self._database.transaction(record)
            except StoreUnavailable as error:
                log.warning("Recording postponed", extra={"error": str(error), "count": len(attempts)})
                if self._is_ending:
                    return
                await asyncio.sleep(PAUSE_SECONDS)
            except Exception:
                log.exception("Results not recorded", extra={"environment_id": environment_id.hex()})
                await self._record_apart(environment_id, attempts)
                return
            else:
                return

    async def _record_apart(
        self, environment_id: EnvironmentId, attempts: dict[ClaimedDelivery, DeliveryAttempt]
    ) -> None:
        """Record each alone, so that one that fails unexpectedly does not take the others along."""
        if len(attempts) > 1:
            for delivery, attempt in attempts.items():
                await self._record(environment_id, {delivery: attempt})
