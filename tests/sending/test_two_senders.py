"""Two workers that claim sends at the same moment share the rate limit and the trials of an integration."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.clock import MINUTE
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending import places
from clarion.sending.health import FAILURES_TO_OPEN
from clarion.vault import Vault
from tests.engine.providers import EMAIL, account, trigger_many
from tests.engine.support import World
from tests.engine.workers import open_engines


@pytest.fixture
async def engines(
    world: World,
    application: Application,
    database: Database,
    vault: Vault,
    gateway: ProviderGateway,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[list[Engine]]:
    # Neither takes all that is due.
    monkeypatch.setattr(places, "_MAX_CLAIM", 8)
    bus = application.services.bus
    async with open_engines(world, database, 2, vault=vault, bus=bus, gateway=gateway) as opened:
        yield opened


async def send_at_once(engines: list[Engine]) -> None:
    """One claim of each worker, begun at the same moment."""
    await asyncio.gather(*(one.sender.work() for one in engines))


@pytest.mark.parametrize("is_known", [True, False])
async def test_two_workers_keep_a_rate_limit_together(world: World, engines: list[Engine], is_known: bool) -> None:
    async with account(world, "a", rateLimit=5) as mail:
        await world.make_workflow(EMAIL)
        if is_known:
            await trigger_many(world, 1, start=100)
            await world.work()
            world.clock.move(MINUTE)
        before = mail.count
        await trigger_many(world, 16)
        await world.engine.work_lanes()

        await send_at_once(engines)

        assert mail.count - before == 5
        await world.work(after=MINUTE)
        assert mail.count - before == 16


async def test_one_message_of_two_workers_tries_whether_an_integration_works_again(
    world: World, engines: list[Engine]
) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down()
        await world.make_workflow(EMAIL)
        await trigger_many(world, FAILURES_TO_OPEN)
        await world.work()
        await world.work(after=MINUTE)
        world.clock.move(10 * MINUTE)
        tried = first.count
        await trigger_many(world, 16, start=100)
        await world.engine.work_lanes()

        await send_at_once(engines)

        assert first.count - tried == 1
        assert second.count >= 16
