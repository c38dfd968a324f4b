"""Webhooks of one process: deliveries that are due are claimed, posted and recorded.

Many go out at once but few to one endpoint, so that a slow receiver holds up nobody but itself. Reply callbacks of an
environment share one endpoint, which has more room, and few go to one host.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from clarion.background import IDLE_SECONDS, BackgroundService, ServiceName
from clarion.clock import Clock, Millis
from clarion.db.port import Database
from clarion.engine.pipeline import InFlight, Pipeline
from clarion.ids import EnvironmentId, WebhookEndpointId
from clarion.monitoring.metrics import Gauge, Measures
from clarion.monitoring.traces.tracer import Tracer
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.webhooks.callbacks import HostShares, host_of
from clarion.webhooks.deliveries import (
    EXPIRED,
    ClaimedDelivery,
    Place,
    claim_callbacks,
    claim_deliveries,
    list_due_endpoints,
    record_attempts,
)
from clarion.webhooks.model import DeliveryAttempt
from clarion.webhooks.posting import WebhookTracer, post_event

MAX_IN_FLIGHT = 256
"""Deliveries that one process posts at a time, shared by the endpoints that have some."""
MAX_PER_ENDPOINT = 8
CALLBACK_HOSTS = 4
"""Slow hosts that reply callbacks of an environment go to, before they hold up its others."""

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
        self._in_flight = InFlight[ClaimedDelivery]()
        self._pipeline = Pipeline(
            self._in_flight, clock, log, perform=self._post, record=self._record, log_unrecorded=_log_unrecorded
        )
        self._measures.watch(Gauge.WEBHOOKS_IN_FLIGHT, lambda: len(self._in_flight))

    def make_service(self, grace_seconds: float | None = None) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.WEBHOOKS,
            run_once=self.claim,
            interval=IDLE_SECONDS,
            wake_up=self._pipeline.wake_up,
            finish=partial(self._end, grace_seconds),
        )

    async def _end(self, grace_seconds: float | None) -> None:
        """Give what is in flight the grace period to end; after that it is left to its lease."""
        await self._pipeline.drain(grace_seconds)
        await self._pipeline.cancel()

    async def work(self) -> bool:
        """Post and record what is due at this moment; returns whether there was any."""
        has_claimed = await self.claim()
        await self._pipeline.finish()
        return has_claimed

    async def claim(self) -> bool:
        """Take what there is room for and post it; returns whether there was any."""
        now = self._clock.now()
        waiting = await self._database.read(lambda db: list_due_endpoints(db, now))
        counts = Counter((delivery.environment_id, delivery.endpoint.id) for delivery in self._in_flight)
        share = max(1, min(MAX_PER_ENDPOINT, MAX_IN_FLIGHT // max(len(counts.keys() | set(waiting)), 1)))
        limits = {place: share * CALLBACK_HOSTS if _is_of_callbacks(place) else share for place in waiting}
        room = {place: limit - counts[place] for place, limit in limits.items() if counts[place] < limit}
        self._pipeline.is_full = len(room) < len(waiting)
        return await self._pipeline.claim(
            self._claim_callbacks(place, share, limit) if _is_of_callbacks(place) else self._claim(place, limit)
            for place, limit in room.items()
        )

    async def _claim(self, place: Place, limit: int) -> bool:
        claim = partial(claim_deliveries, place=place, vault=self._vault, limit=limit, now=self._clock.now())
        return await self._start(place, await self._database.transaction(claim))

    async def _claim_callbacks(self, place: Place, share: int, limit: int) -> bool:
        own = (delivery for delivery in self._in_flight if delivery.environment_id == place[0])
        hosts = HostShares(share, Counter(host_of(delivery.url) for delivery in own if delivery.url is not None))
        claim = partial(
            claim_callbacks, place=place, vault=self._vault, hosts=hosts, limit=limit, now=self._clock.now()
        )
        deliveries, leaves_some = await self._database.transaction(claim)
        self._pipeline.is_full |= leaves_some
        return await self._start(place, deliveries)

    async def _start(self, place: Place, deliveries: Sequence[ClaimedDelivery]) -> bool:
        if self._traces is not None:
            await self._traces.add(place[0], deliveries)
        self._pipeline.start(deliveries)
        return bool(deliveries)

    async def _post(self, delivery: ClaimedDelivery) -> bool:
        try:
            delivery.attempt = await self._attempt(delivery)
            self._measures.webhooks["delivered" if delivery.attempt.is_success else "failed"] += 1
        except Exception as error:
            log.exception("Webhook failed", extra={"delivery_id": delivery.id.hex()})
            delivery.attempt = DeliveryAttempt(error=f"{type(error).__name__} in Clarion itself")
        return True

    async def _attempt(self, delivery: ClaimedDelivery) -> DeliveryAttempt:
        if delivery.payload is None:
            return EXPIRED
        endpoint = delivery.endpoint if delivery.url is None else replace(delivery.endpoint, url=delivery.url)
        post = partial(post_event, self._gateway, endpoint, delivery.event_id, delivery.payload, self._clock.now())
        return await (post() if self._traces is None else self._traces.post(delivery, post))

    async def _record(self, environment_id: EnvironmentId, deliveries: Sequence[ClaimedDelivery], now: Millis) -> None:
        record = partial(record_attempts, environment_id=environment_id, deliveries=deliveries, now=now)
        await self._database.transaction(record)


def _is_of_callbacks(place: Place) -> bool:
    environment_id, endpoint_id = place
    return endpoint_id == WebhookEndpointId(environment_id)


def _log_unrecorded(delivery: ClaimedDelivery, error: Exception) -> None:
    log.error("Results not recorded", exc_info=error, extra={"environment_id": delivery.environment_id.hex()})
