"""Counts the requests of each environment under its rate limits."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.batching import Batch, Batcher
from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection, Database, Dialect
from clarion.ids import EnvironmentId
from clarion.limits.buckets import (
    Admission,
    Bucket,
    CountedRequest,
    find_refusal,
    keys_of,
    take_stored_tokens,
    take_tokens,
)
from clarion.limits.headers import Headers, LimitTexts
from clarion.settings.rate_limits import LimitCategory, RateLimit

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may use limits that another process has changed."""

_MAX_ENVIRONMENTS = 10_000
_COUNTS_IN = {category: tuple(dict.fromkeys((category, LimitCategory.ALL))) for category in LimitCategory}

Limits = Mapping[LimitCategory, RateLimit]
ReadLimits = Callable[[Connection, EnvironmentId], Coroutine[Any, Any, Limits]]
"""Reads the limits of an environment."""


class _Environment(Struct):
    until: Millis
    buckets: dict[LimitCategory, Bucket]
    """If they are shared, as they were when this process saw them last."""


class RateLimiter:
    """Admits requests as long as the environment has tokens; a token bucket for each category.

    If this is the only process, as it is on SQLite, the buckets are in memory. Otherwise they are in the store, and
    requests that come while a unit of work is under way are counted together by the next one.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        bus: Bus,
        read_limits: ReadLimits,
        *,
        is_shared: bool | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._read_limits = read_limits
        self._is_shared = database.dialect is Dialect.POSTGRES if is_shared is None else is_shared
        self._environments: dict[EnvironmentId, _Environment] = {}
        self._first_loads: dict[EnvironmentId, asyncio.Task[_Environment]] = {}
        self._batcher: Batcher[CountedRequest] = Batcher(self._count_together)
        bus.listen(Signal.LIMITS_CHANGED, self._expire)

    async def admit(
        self, environment_id: EnvironmentId, category: LimitCategory, cost: int = 1, *, held: int = 0
    ) -> Headers:
        """Count a request in its category and in ALL, or raise RateLimited; returns headers for the response.

        `held` is what was counted for the same request before; it is given back first.
        """
        now = self._clock.now()
        environment = self._environments.get(environment_id)
        if environment is None:
            environment = await self._load_once(environment_id, now)
        elif environment.until <= now:
            # Requests that come while the limits are read again use the old ones.
            environment.until = Millis(now + CACHED_FOR)
            environment = await self._load(environment_id, now)
        known = environment.buckets
        buckets = [known[one] for one in _COUNTS_IN[category] if one in known]
        if not buckets:
            return []
        request = CountedRequest(environment_id, buckets, cost, held)
        answer = await self._count(request, now) if self._is_shared else take_tokens(buckets, request, now)
        return answer.headers_for(cost)

    async def _count(self, request: CountedRequest, now: Millis) -> Admission:
        """Count a request in the store, unless the buckets cannot pay even if no other process has taken from them."""
        for bucket in request.buckets:
            bucket.refill(now)
        refusal = None if request.held else find_refusal(request.buckets, request.cost)
        answer: Admission = refusal or await self._batcher.submit(request)
        return answer

    async def _count_together(self, batch: Batch[CountedRequest]) -> Sequence[Admission]:
        requests, now = batch.take(), self._clock.now()
        answers, stored = await self._database.transaction(lambda db: take_stored_tokens(db, requests, now))
        for request in requests:
            for bucket, key in zip(request.buckets, keys_of(request), strict=True):
                bucket.tokens, bucket.refilled_at = stored[key].tokens, stored[key].refilled_at
        return answers

    async def _load_once(self, environment_id: EnvironmentId, now: Millis) -> _Environment:
        """Load limits that this process does not know; all requests that come meanwhile wait for the same read."""
        load = self._first_loads.get(environment_id)
        if load is None:
            load = self._first_loads[environment_id] = asyncio.create_task(self._load(environment_id, now))
            load.add_done_callback(lambda _: self._first_loads.pop(environment_id))
        # A client that goes away must not end the load of the others.
        return await asyncio.shield(load)

    async def _load(self, environment_id: EnvironmentId, now: Millis) -> _Environment:
        limits = await self._database.read(lambda db: self._read_limits(db, environment_id))
        # Looked up after reading: another request may have loaded the same environment meanwhile.
        known = self._environments.get(environment_id)
        if known is None and len(self._environments) >= _MAX_ENVIRONMENTS:
            del self._environments[next(iter(self._environments))]
        buckets = dict(known.buckets) if known else {}
        for category, limit in limits.items():
            if category not in buckets or buckets[category].limit != limit:
                buckets[category] = Bucket(LimitTexts(category, limit), limit.capacity, now)
        loaded = _Environment(Millis(now + CACHED_FOR), {category: buckets[category] for category in limits})
        self._environments[environment_id] = loaded
        return loaded

    def _expire(self) -> None:
        for environment in self._environments.values():
            environment.until = Millis(0)
