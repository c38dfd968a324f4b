"""Counts the requests of each environment under its rate limits: its own, or those of the installation."""

import asyncio
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Database, Dialect
from clarion.environments import store
from clarion.http.static import HeaderList
from clarion.ids import EnvironmentId
from clarion.limits.admission import LimitTexts
from clarion.limits.allowances import Allowance, LocalAllowance, SharedAllowance
from clarion.limits.buckets import Portion, PortionRequest, take_portion
from clarion.settings.rate_limits import LimitCategory, RateLimit

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may use limits that another process has changed."""

_MAX_ENVIRONMENTS = 10_000
_NOW = Millis(0)


class _Limited(Struct, frozen=True):
    """A limit of an environment, and what this process may admit under it."""

    limit: RateLimit
    allowance: Allowance
    texts: LimitTexts


class _Environment(Struct):
    until: Millis
    limited: dict[LimitCategory, _Limited]
    applying: dict[LimitCategory, tuple[_Limited, ...]]
    """By category of a request: the limits that it counts in."""


class RateLimiter:
    """Admits requests as long as the environment has tokens; a token bucket for each category.

    If this is the only process, as it is on SQLite, the buckets are in memory. Otherwise they are in the store.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        bus: Bus,
        *,
        defaults: Mapping[LimitCategory, RateLimit],
        ceilings: Mapping[LimitCategory, RateLimit] | None = None,
        is_shared: bool | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._defaults = defaults
        self._ceilings = defaults if ceilings is None else ceilings
        self._is_shared = database.dialect is Dialect.POSTGRES if is_shared is None else is_shared
        self._environments: dict[EnvironmentId, _Environment] = {}
        self._first_loads: dict[EnvironmentId, asyncio.Task[_Environment]] = {}
        bus.listen(Signal.LIMITS_CHANGED, self._expire)

    async def admit(
        self, environment_id: EnvironmentId, category: LimitCategory, cost: int = 1, *, held: int = 0
    ) -> HeaderList:
        now = self._clock.now()
        environment = self._environments.get(environment_id)
        if environment is None:
            environment = await self._load_once(environment_id, now)
        elif environment.until <= now:
            # Requests that come while the limits are read again use the old ones.
            environment.until = Millis(now + CACHED_FOR)
            environment = await self._load(environment_id, now)
        applying = environment.applying[category]
        if not applying:
            return []
        if held:
            _give_back(applying, held)
        for one in applying:
            if not one.allowance.take(cost, now) and not await one.allowance.obtain(cost):
                _give_back(applying[: applying.index(one)], cost)
                tokens = one.allowance.tokens_at(self._clock.now())
                raise one.texts.refusal(min(max(0, int(tokens)), cost - 1), one.limit.wait(tokens, cost), cost)
        return _headers(applying, cost)

    async def _load_once(self, environment_id: EnvironmentId, now: Millis) -> _Environment:
        """Load limits that this process does not know; all requests that come meanwhile wait for the same read."""
        load = self._first_loads.get(environment_id)
        if load is None:
            load = self._first_loads[environment_id] = asyncio.create_task(self._load(environment_id, now))
            load.add_done_callback(lambda _: self._first_loads.pop(environment_id))
        # A client that goes away must not end the load of the others.
        return await asyncio.shield(load)

    async def _load(self, environment_id: EnvironmentId, now: Millis) -> _Environment:
        options = await self._database.read(lambda db: store.get_options(db, environment_id))
        wanted = {**self._ceilings, **self._defaults, **options.limits}
        limits = {category: limit.within(self._ceilings.get(category)) for category, limit in wanted.items()}
        # Looked up after reading: another request may have loaded the same environment meanwhile.
        known = self._environments.get(environment_id)
        limited = {
            category: self._keep_or_make(known, environment_id, category, limit) for category, limit in limits.items()
        }
        made = _Environment(Millis(now + CACHED_FOR), limited, _applying(limited))
        if known is None and len(self._environments) >= _MAX_ENVIRONMENTS:
            del self._environments[next(iter(self._environments))]
        self._environments[environment_id] = made
        return made

    def _keep_or_make(
        self, known: _Environment | None, environment_id: EnvironmentId, category: LimitCategory, limit: RateLimit
    ) -> _Limited:
        before = known.limited.get(category) if known else None
        if before is not None and before.limit == limit:
            return before
        allowance: Allowance
        if self._is_shared:
            take = partial(self._take_portion, environment_id, category, limit)
            allowance = SharedAllowance(limit, self._clock, take)
        else:
            allowance = LocalAllowance(limit, self._clock.now())
        return _Limited(limit, allowance, LimitTexts(category, limit))

    async def _take_portion(
        self,
        environment_id: EnvironmentId,
        category: LimitCategory,
        limit: RateLimit,
        *amounts: *tuple[int, float, float, Millis],
    ) -> Portion:
        cost, wanted, returned, now = amounts
        request = PortionRequest(
            environment_id=environment_id,
            category=category,
            limit=limit,
            cost=cost,
            wanted=wanted,
            returned=returned,
            now=now,
        )
        return await self._database.transaction(lambda db: take_portion(db, request))

    def _expire(self) -> None:
        for environment in self._environments.values():
            environment.until = Millis(0)


def _applying(limited: Mapping[LimitCategory, _Limited]) -> dict[LimitCategory, tuple[_Limited, ...]]:
    return {
        category: tuple(limited[one] for one in dict.fromkeys((category, LimitCategory.ALL)) if one in limited)
        for category in LimitCategory
    }


def _give_back(applying: tuple[_Limited, ...], cost: int) -> None:
    for one in applying:
        one.allowance.give_back(cost)


def _headers(applying: tuple[_Limited, ...], cost: int) -> HeaderList:
    """Headers about the limit that is going to be reached first."""
    tightest = applying[0]
    tokens = tightest.allowance.remaining
    for one in applying[1:]:
        if one.allowance.remaining < tokens:
            tightest, tokens = one, one.allowance.remaining
    if tokens >= cost:
        return tightest.texts.headers(int(tokens), _NOW, cost)
    return tightest.texts.headers(max(0, int(tokens)), tightest.limit.wait(tokens, cost), cost)
