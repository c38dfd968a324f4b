"""Rate limiters on one store: what several processes admit together."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clarion.bus import Bus, Signal
from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Connection, Database, Work
from clarion.environments import actions, store
from clarion.environments.actions import make_limits_reader
from clarion.environments.options import EnvironmentOptions
from clarion.errors import RateLimited
from clarion.ids import EnvironmentId
from clarion.limits.limiter import CACHED_FOR, RateLimiter
from clarion.settings.rate_limits import LimitCategory, RateLimit
from clarion.vault import Vault
from tests.conftest import VAULT_KEYS
from tests.support import Site

TRIGGER, ALL = LimitCategory.TRIGGER, LimitCategory.ALL

Limits = dict[LimitCategory, RateLimit]
MakeLimiter = Callable[..., RateLimiter]


class FailedUnitError(Exception):
    """Raised at the end of a unit of work, which is then rolled back."""


class Counted:
    """A database that counts its units of work."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dialect = database.dialect
        self.reads = 0
        self.writes = 0
        self.is_failing = False

    async def read(self, work: Work[Any]) -> Any:
        self.reads += 1
        return await self._database.read(work)

    async def transaction(self, work: Work[Any]) -> Any:
        self.writes += 1

        async def work_or_fail(db: Connection) -> Any:
            outcome = await work(db)
            if self.is_failing:
                raise FailedUnitError
            return outcome

        return await self._database.transaction(work_or_fail)


@pytest.fixture
def counted(database: Database) -> Any:
    return Counted(database)


@pytest.fixture
def environment_id(site: Site) -> EnvironmentId:
    return site.development.id


def make_limiter(database: Any, clock: ManualClock, limits: Limits, *, is_shared: bool | None = True) -> RateLimiter:
    return RateLimiter(database, clock, Bus(), make_limits_reader(limits, limits), is_shared=is_shared)


async def try_admit(
    limiter: RateLimiter, environment_id: EnvironmentId, category: LimitCategory = TRIGGER, cost: int = 1
) -> bool:
    try:
        await limiter.admit(environment_id, category, cost)
    except RateLimited:
        return False
    return True


async def count_admitted(limiter: RateLimiter, environment_id: EnvironmentId, tries: int) -> int:
    return sum([await try_admit(limiter, environment_id) for _ in range(tries)])


async def test_the_first_requests_of_an_environment_wait_for_one_read_of_its_limits(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10, burst=25)}, is_shared=False)
    requests = [asyncio.create_task(try_admit(limiter, environment_id)) for _ in range(30)]
    await asyncio.sleep(0)
    requests[0].cancel()

    admitted = await asyncio.gather(*requests[1:])

    assert (counted.reads, sum(admitted)) == (1, 25)


@pytest.mark.parametrize("is_shared", [True, False])
async def test_one_process_admits_a_burst_and_then_the_rate(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId, is_shared: bool
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10, burst=25)}, is_shared=is_shared)

    first = await count_admitted(limiter, environment_id, 50)
    clock.move(SECOND)
    second = await count_admitted(limiter, environment_id, 50)

    assert (first, second) == (25, 10)


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_request_counts_in_its_category_and_in_everything(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId, is_shared: bool
) -> None:
    limits = {TRIGGER: RateLimit(per_second=3), ALL: RateLimit(per_second=5)}
    limiter = make_limiter(counted, clock, limits, is_shared=is_shared)

    triggers = [await try_admit(limiter, environment_id) for _ in range(4)]
    others = [await try_admit(limiter, environment_id, ALL) for _ in range(3)]

    # The trigger that was refused does not count in everything either.
    assert (triggers, others) == ([True] * 3 + [False], [True] * 2 + [False])


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_refusal_by_the_limit_of_everything_uses_nothing_of_the_category(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId, is_shared: bool
) -> None:
    limits = {TRIGGER: RateLimit(per_second=1, burst=4), ALL: RateLimit(per_second=100, burst=2)}
    limiter = make_limiter(counted, clock, limits, is_shared=is_shared)

    assert await count_admitted(limiter, environment_id, 10) == 2
    clock.move(100)
    assert await count_admitted(limiter, environment_id, 10) == 2


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_bulk_above_the_burst_waits_for_a_full_bucket_and_is_then_paid_off(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId, is_shared: bool
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10)}, is_shared=is_shared)

    assert await try_admit(limiter, environment_id, cost=1)
    assert not await try_admit(limiter, environment_id, cost=50)
    clock.move(SECOND)
    assert await try_admit(limiter, environment_id, cost=50)
    clock.move(4 * SECOND)
    assert not await try_admit(limiter, environment_id)
    clock.move(SECOND)
    assert await try_admit(limiter, environment_id)


async def test_what_was_counted_for_a_request_before_is_given_back(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10)})

    await limiter.admit(environment_id, TRIGGER)
    headers = dict(await limiter.admit(environment_id, TRIGGER, 10, held=1))

    assert headers[b"ratelimit-remaining"] == b"0"


async def test_the_only_process_on_sqlite_does_not_write(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10)}, is_shared=None)

    await count_admitted(limiter, environment_id, 20)

    assert (counted.writes > 0) is (counted.dialect == "postgresql")


async def test_requests_that_the_buckets_cannot_pay_ask_the_store_for_nothing(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=10, burst=5)})

    admitted = 0
    for _ in range(200):
        admitted += await count_admitted(limiter, environment_id, 5)
        clock.move(1)

    assert (admitted, counted.writes, counted.reads) == (6, 6, 1)


async def test_requests_at_the_same_time_are_counted_together(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(
        counted, clock, {TRIGGER: RateLimit(per_second=100, burst=80), ALL: RateLimit(per_second=90)}
    )

    admitted = await asyncio.gather(*(try_admit(limiter, environment_id) for _ in range(100)))

    assert sum(admitted) == 80
    assert counted.writes < 10


async def test_a_unit_of_work_that_fails_counts_nothing(
    counted: Any, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiter = make_limiter(counted, clock, {TRIGGER: RateLimit(per_second=0.001, burst=5)})
    counted.is_failing = True

    with pytest.raises(FailedUnitError):
        await limiter.admit(environment_id, TRIGGER, 5)
    counted.is_failing = False

    assert await count_admitted(limiter, environment_id, 10) == 5


async def test_tokens_that_one_process_does_not_use_are_there_for_others(
    database: Database, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limits = {TRIGGER: RateLimit(per_second=100, burst=100)}
    busy, other = (make_limiter(database, clock, limits) for _ in range(2))
    await count_admitted(busy, environment_id, 60)

    first = await count_admitted(other, environment_id, 100)
    clock.move(SECOND)
    second = await count_admitted(other, environment_id, 200)

    assert (first, second) == (40, 100)


async def test_overloaded_processes_share_the_whole_rate(
    database: Database, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    limiters = [make_limiter(database, clock, {TRIGGER: RateLimit(per_second=200)}) for _ in range(3)]
    order = random.Random(0)

    admitted = [0, 0, 0]
    for _ in range(500):
        for number in order.sample(range(3), 3):
            admitted[number] += await count_admitted(limiters[number], environment_id, 2)
        clock.move(10)

    assert sum(admitted) == 200 + 499 * 2
    assert min(admitted) > 100


steps = st.lists(
    st.tuples(
        st.integers(0, 2),  # which process
        st.sampled_from([0, 0, 0, 1, 7, 40, 49, 51, 120, 249, 251, 499, 501, 1500]),  # ms before it
        st.sampled_from([1, 1, 1, 2, 10, 30]),  # what it costs
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    schedule=steps,
    rate=st.sampled_from([0.5, 3.0, 20.0, 400.0]),
    burst=st.sampled_from([None, 1, 5, 50]),
    skews=st.tuples(st.integers(-20, 20), st.integers(-20, 20)),
)
async def test_processes_together_admit_no_more_than_the_bound(
    database: Database,
    site: Site,
    schedule: list[tuple[int, int, int]],
    rate: float,
    burst: int | None,
    skews: tuple[int, int],
) -> None:
    start = 1_767_225_600_000
    limit = RateLimit(per_second=rate, burst=burst)
    environment_id = (await make_environment(database, start)).id
    clocks = [ManualClock(Millis(start + skew)) for skew in (0, *skews)]
    limiters = [make_limiter(database, one, {TRIGGER: limit}) for one in clocks]

    admitted: list[tuple[int, int]] = []
    moment = 0
    for number, wait, cost in schedule:
        moment += wait
        for one in clocks:
            one.move(wait)
        if await try_admit(limiters[number], environment_id, cost=cost):
            admitted.append((moment, cost))

    largest = max(cost for _, _, cost in schedule)
    for index, (begin, _) in enumerate(admitted):
        total = 0
        for end, cost in admitted[index:]:
            total += cost
            extra = (end - begin + 40) * rate / SECOND  # 40 ms: how far the clocks differ
            assert total <= max(limit.capacity, largest) + extra + 1e-6


async def make_environment(database: Database, now: int) -> Any:
    async def create(db: Connection) -> Any:
        vault = Vault.parse(VAULT_KEYS)
        made = await actions.create_without_inboxes(db, name="Limits", identifiers={}, vault=vault, now=Millis(now))
        return made[0]

    return await database.transaction(create)


async def set_options(db: Connection, environment_id: EnvironmentId, options: EnvironmentOptions) -> None:
    (environment,) = [one for one in await store.list_environments(db) if one.id == environment_id]
    await store.update_environment(db, replace(environment, options=options))


async def test_changed_limits_apply_at_once_here_and_after_two_seconds_elsewhere(
    database: Database, clock: ManualClock, environment_id: EnvironmentId
) -> None:
    bus = Bus()
    reader = make_limits_reader({}, {})
    here, elsewhere = (RateLimiter(database, clock, bus if own else Bus(), reader) for own in (True, False))
    await count_admitted(here, environment_id, 1)
    await count_admitted(elsewhere, environment_id, 1)
    options = EnvironmentOptions(limits={TRIGGER: RateLimit(per_second=2)})

    await database.transaction(lambda db: set_options(db, environment_id, options))
    bus.publish(Signal.LIMITS_CHANGED)

    assert await count_admitted(here, environment_id, 10) == 2
    assert await count_admitted(elsewhere, environment_id, 10) == 10
    clock.move(CACHED_FOR)
    assert await count_admitted(elsewhere, environment_id, 10) == 2
