"""While the store cannot be used, nothing is lost and nobody is blamed for it, and a process still ends."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.clock import MINUTE
from clarion.db.port import Database, Work
from clarion.engine.worker import Engine
from clarion.errors import StoreUnavailable
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, details, in_app
from tests.engine.test_poison import BREAK_OVERRIDES, damage
from tests.providers.loopback import answering
from tests.sending.test_sender import Unsteady, has_requests, until


class Store(Unsteady):
    """A database that refuses everything while it is out."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.is_out = False
        self.goes_out_after: int | None = None
        """How many transactions there are before it goes out."""
        self.refused = 0
        self.read = self._read

    async def _read(self, work: Work[Any]) -> Any:
        self._check()
        return await self._database.read(work)

    async def transaction(self, work: Work[Any]) -> Any:
        if self.goes_out_after is not None:
            self.is_out = self.is_out or self.goes_out_after == 0
            self.goes_out_after -= 1
        self._check()
        return await super().transaction(work)

    def _check(self) -> None:
        if self.is_out:
            self.refused += 1
            raise StoreUnavailable("out for a moment")


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


@pytest.fixture
def world(world: World, store: Store, application: Application, vault: Vault, gateway: ProviderGateway) -> World:
    bus = application.services.bus
    return World(world.api, Engine(store, clock=world.clock, vault=vault, bus=bus, gateway=gateway), world.clock)


async def test_a_unit_of_work_that_the_store_refuses_fails_nothing(world: World, store: Store) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.trigger()
    store.failures = 1

    with pytest.raises(StoreUnavailable):
        await world.engine.work_lanes()

    assert await world.events() == []
    await world.work()
    assert await world.feed() == ["Hello"]


@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.usefixtures("logged_errors")
async def test_a_store_that_goes_out_while_a_culprit_is_looked_for_fails_nobody_else(
    world: World, store: Store, database: Database, after: int
) -> None:
    await world.make_workflow(EMAIL)
    for key in ("bad", "good"):
        await world.trigger({"subscriberId": key, "email": f"{key}@example.com"}, transactionId=key)
    await damage(world, database, BREAK_OVERRIDES, "bad")
    store.goes_out_after = after

    with pytest.raises(StoreUnavailable):
        await world.engine.work_lanes()
    store.is_out, store.goes_out_after = False, None
    await world.work()

    assert await world.statuses(transactionId="bad") == [["failed"]]
    (event,) = await world.events(transactionId="good")
    assert details(event["jobs"][0])[1] == "Message created"


async def test_without_the_store_a_message_is_not_given_to_the_next_integration(world: World, store: Store) -> None:
    async with account(world, "a") as first, account(world, "b") as second:

        async def refuse(request: bytes, writer: asyncio.StreamWriter) -> None:
            store.is_out = True
            await answering(401)(request, writer)

        first.server.respond = refuse
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.engine.work_lanes()
        await world.engine.sender.claim()
        sending = asyncio.create_task(world.engine.sender._pipeline.finish())
        await until(partial(has_requests, first.server, 1))
        await until(partial(has_warned, store))
        assert second.count == 0

        first.server.respond = first.respond
        store.is_out = False
        await sending
        await world.work(after=MINUTE)

        assert first.count + second.count == 2
        assert await world.statuses() == [["completed"]]


async def has_warned(store: Store) -> bool:
    return store.refused > 1


async def test_a_process_ends_although_results_cannot_be_recorded_and_they_are_sent_again(
    world: World, store: Store
) -> None:
    async with account(world, "a") as first:

        async def accept(request: bytes, writer: asyncio.StreamWriter) -> None:
            store.is_out = True
            await answering(200)(request, writer)

        first.server.respond = accept
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        running = asyncio.create_task(Supervisor().run(world.engine.list_services()))
        await until(partial(has_requests, first.server, 1))
        await until(partial(has_warned, store))
        await stop(running)
        assert await world.statuses() == [["running"]]

        store.is_out = False
        first.server.respond = first.respond
        await world.work(after=LEASE)

        assert first.count == 2
        assert await world.statuses() == [["completed"]]


async def stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    async with asyncio.timeout(20):
        with suppress(asyncio.CancelledError):
            await task
