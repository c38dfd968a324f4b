"""A provider is down for a minute under load: the other one carries what it would have, and nothing is sent twice."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple

import pytest

from clarion.app import Application
from clarion.clock import SECOND, ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway, Timeouts
from clarion.providers.transport.egress import EgressGuard
from clarion.vault import Vault
from tests.engine.providers import EMAIL, SILENCE, Account, account, trigger_many
from tests.engine.support import World

STEP = 2 * SECOND
MANY, SOME = 34, 8
"""Messages that are accepted in each step; a thousand in a minute show a share of 99.9 %, and of some all must go."""


class Load:
    """Messages without end, carried by two workers in turn, on a clock that stands between the steps."""

    def __init__(self, world: World, other: Engine, *, a_step: int) -> None:
        self._world = world
        self._workers = (world.engine, other)
        self._a_step = a_step
        self.accepted = 0

    async def go_on(self, seconds: int) -> set[str]:
        """Accept and carry messages for a while; tells whose they are."""
        first = self.accepted
        for number in range(seconds * SECOND // STEP):
            await trigger_many(self._world, self._a_step, start=self.accepted)
            self.accepted += self._a_step
            await self._workers[number % 2].drain()
            self._world.clock.move(STEP)
        return {f"p{number}@example.com" for number in range(first, self.accepted)}

    async def finish(self) -> None:
        for _ in range(10):
            await self._world.work(after=10 * SECOND)


class Outage(NamedTuple):
    """What A does for a minute, and how it is set right again."""

    begin: Callable[[Account], Awaitable[None]]
    end: Callable[[Account], Awaitable[None]]
    a_step: int = SOME
    provider: str = "email-webhook"


async def answer_503(one: Account) -> None:
    one.break_down()


async def hang(one: Account) -> None:
    one.break_down(SILENCE)


async def come_back(one: Account) -> None:
    one.come_back()


OUTAGES = {
    "answers 503": Outage(answer_503, come_back, MANY),
    "hangs": Outage(hang, come_back, provider="mailgun"),
    "refuses connections": Outage(lambda one: one.server.refuse(), lambda one: one.server.open()),
}


@pytest.fixture
async def gateway(clock: ManualClock, request: pytest.FixtureRequest) -> AsyncIterator[ProviderGateway]:
    """One that does not wait long for a provider that hangs; others answer, however busy the machine is."""
    timeouts = Timeouts(http_seconds=4 if "hang" in request.node.name else 15)
    async with ProviderGateway(EgressGuard(("127.0.0.0/8",)), timeouts=timeouts, clock=clock) as entered:
        yield entered


@pytest.mark.parametrize("name", OUTAGES)
async def test_the_other_integration_carries_an_outage_and_traffic_returns_by_itself(
    name: str, world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> None:
    outage = OUTAGES[name]
    other = Engine(database, clock=world.clock, vault=vault, bus=application.services.bus, gateway=gateway)
    load = Load(world, other, a_step=outage.a_step)
    async with account(world, "a", outage.provider) as first, account(world, "b", outage.provider) as second:
        await world.make_workflow(EMAIL)
        before = await load.go_on(8)
        await outage.begin(first)
        during = await load.go_on(60)
        tried_in_vain = first.count - len(before)
        await outage.end(first)
        await load.go_on(50)
        after = await load.go_on(10)
        await load.finish()

        sent = Counter(first.taken + second.taken)
        assert len(sent) == load.accepted
        assert set(sent.values()) == {1}
        assert before <= first.recipients
        assert len(during & second.recipients) >= 0.999 * len(during)
        assert tried_in_vain < 2 * outage.a_step
        assert after <= first.recipients
    assert {status for (status,) in await world.statuses()} == {"completed"}


async def test_what_a_hanging_provider_may_have_taken_waits_for_it_where_it_knows_a_second_try(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(SILENCE)
        await world.make_workflow(EMAIL)
        await trigger_many(world, SOME)
        await world.work()
        await trigger_many(world, SOME, start=SOME)
        await world.work()
        assert len(second.taken) == SOME

        first.come_back()
        await world.work(after=20 * SECOND)

        sent = Counter(first.taken + second.taken)
        assert (len(first.taken), len(second.taken)) == (SOME, SOME)
        assert set(sent.values()) == {1}
    assert {status for (status,) in await world.statuses()} == {"completed"}
