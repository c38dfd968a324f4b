"""A provider is down for a minute under load: the other one carries what it would have, and nothing is sent twice."""

from collections import Counter

from clarion.app import Application
from clarion.clock import SECOND
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending import Carrier
from clarion.vault import Vault
from tests.engine.providers import EMAIL, Account, account, trigger_many
from tests.engine.support import World

STEP = 2 * SECOND
A_STEP = 34
"""Messages that are accepted in each step."""


class Load:
    """Messages without end, carried by two workers in turn, on a clock that stands between the steps."""

    def __init__(self, world: World, other: Engine) -> None:
        self._world = world
        self._workers = (world.engine, other)
        self.accepted = 0

    async def go_on(self, seconds: int) -> set[str]:
        """Accept and carry messages for a while; tells whose they are."""
        first = self.accepted
        for number in range(seconds * SECOND // STEP):
            await trigger_many(self._world, A_STEP, start=self.accepted)
            self.accepted += A_STEP
            await self._workers[number % 2].drain()
            self._world.clock.move(STEP)
        return {f"p{number}@example.com" for number in range(first, self.accepted)}

    async def finish(self) -> None:
        for _ in range(10):
            await self._world.work(after=10 * SECOND)


def recipients(one: Account) -> set[str]:
    return {body["to"][0] for body in one.bodies if body["id"] in set(one.taken)}


async def test_the_other_integration_carries_an_outage_and_traffic_returns_by_itself(
    world: World, application: Application, database: Database, vault: Vault, carrier: Carrier
) -> None:
    bus = application.services.bus
    load = Load(world, Engine(database, clock=world.clock, vault=vault, bus=bus, carrier=carrier))
    async with account(world, "a") as first, account(world, "b") as second:
        await world.make_workflow(EMAIL)
        before = await load.go_on(8)
        first.break_down()
        during = await load.go_on(60)
        tried_in_vain = first.count - len(before)
        first.come_back()
        await load.go_on(50)
        after = await load.go_on(10)
        await load.finish()

        sent = Counter(first.taken + second.taken)
        assert len(sent) == load.accepted
        assert set(sent.values()) == {1}
        assert before <= recipients(first)
        assert len(during & recipients(second)) >= 0.999 * len(during)
        assert tried_in_vain < 2 * A_STEP
        assert after <= recipients(first)
    assert {status for (status,) in await world.statuses()} == {"completed"}
