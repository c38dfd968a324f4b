"""Waiting for a connection of our own is no failure of the provider, uses no attempt and pauses no other message."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from clarion.app import Application
from clarion.clock import HOUR, SECOND
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.sending.health import FAILURES_TO_OPEN
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL, account, trigger_many
from tests.engine.support import World, details


class Crowded(ProviderGateway):
    """A gateway all of whose connections are in use by others while it is full."""

    is_full = True

    async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
        if self.is_full:
            raise SendFailure(FailureKind.NO_CONNECTION, "All connections to mail.example are in use")
        return await super().send(provider_id, outgoing)


@asynccontextmanager
async def crowded(
    world: World, application: Application, database: Database, vault: Vault
) -> AsyncIterator[tuple[Crowded, World]]:
    async with Crowded(EgressGuard(["127.0.0.0/8"]), clock=world.clock) as gateway:
        engine = Engine(database, clock=world.clock, vault=vault, bus=application.services.bus, gateway=gateway)
        yield gateway, World(world.api, engine, world.clock)


async def test_a_job_that_gets_no_connection_goes_back_to_the_queue_unharmed(
    world: World, application: Application, database: Database, vault: Any
) -> None:
    async with crowded(world, application, database, vault) as (gateway, engine), account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        # Neither the attempts nor the day for which a provider may put a message off are a limit.
        for _ in range(30):
            await engine.work(after=HOUR)
        (event,) = await world.events()
        (message,) = await world.messages()
        assert event["jobs"][0]["status"] == "queued"
        assert "Waits for a free connection" in details(event["jobs"][0])
        assert not any(one["status"] == "Failed" or one["isRetry"] for one in event["jobs"][0]["executionDetails"])
        assert "errorText" not in message

        gateway.is_full = False
        await engine.work(after=10 * SECOND)

        assert first.count == 1
        assert await world.statuses() == [["completed"]]


async def test_waiting_for_connections_opens_no_circuit_and_pauses_no_message(
    world: World, application: Application, database: Database, vault: Any
) -> None:
    async with (
        crowded(world, application, database, vault) as (gateway, engine),
        account(world, "a") as first,
        account(world, "b") as second,
    ):
        await world.make_workflow(EMAIL)
        await trigger_many(world, 2 * FAILURES_TO_OPEN)
        await engine.work()
        gateway.is_full = False
        await world.trigger(ADA)
        await engine.work()
        assert (first.count, second.count) == (1, 0)

        await engine.work(after=10 * SECOND)

        assert (first.count, second.count) == (1 + 2 * FAILURES_TO_OPEN, 0)
        assert {status for (status,) in await world.statuses()} == {"completed"}
