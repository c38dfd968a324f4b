"""A provider is called only while the job is this worker's: within its lease, and until the job is canceled."""

import asyncio
from functools import partial

from clarion.app import Application
from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.claim import LEASE
from clarion.sending.model import ClaimedSend
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, details
from tests.providers.loopback import Respond, answering
from tests.sending.support import claim_email, send_claimed
from tests.sending.test_sender import until
from tests.sending.test_several import CHAT, Hook, hooks


async def claim_one(world: World) -> ClaimedSend:
    """A claimed job, as a worker has it that is stopped before it calls the provider."""
    await world.engine.work_lanes()
    (send,) = await claim_email(world)
    return send


async def test_a_send_whose_lease_has_lapsed_is_not_made(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        stopped = await claim_one(world)
        await world.work(after=LEASE)
        assert first.count == 1

        await send_claimed(world.engine, stopped)
        await world.work()

        (event,) = await world.events()
        assert first.count == 1
        assert details(event["jobs"][0]).count("Integration instance selected") == 1
        assert event["jobs"][0]["status"] == "completed"


async def test_nothing_is_recorded_of_a_send_that_was_not_made(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        stopped = await claim_one(world)
        world.clock.move(LEASE)

        await send_claimed(world.engine, stopped)

        assert first.count == 0
        assert await world.statuses() == [["running"]]
        await world.work()
        assert (first.count, await world.statuses()) == (1, [["completed"]])


async def test_a_lapsed_lease_is_not_renewed(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        stopped = await claim_one(world)
        sender = world.engine.sender
        sender._places.take([stopped])
        world.clock.move(LEASE)

        await sender._leases.renew(sender._database)
        await send_claimed(world.engine, stopped)

        assert first.count == 0
        await world.work()
        assert first.count == 1


async def start_slow_send(world: World, slack: Hook) -> asyncio.Event:
    """Claim a job with two messages; the first is being sent and is answered when the event is set."""
    may_answer = asyncio.Event()

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        await may_answer.wait()
        await answering(200)(request, writer)

    slack.server.respond = respond
    await world.make_workflow(CHAT)
    await world.trigger()
    await world.engine.work_lanes()
    await world.engine.sender.claim()
    await until(partial(_has_requests, slack))
    return may_answer


async def _has_requests(hook: Hook) -> bool:
    return hook.count > 0


async def test_a_renewed_lease_lets_the_rest_of_a_job_be_sent(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        may_answer = await start_slow_send(world, slack)
        world.clock.move(LEASE - SECOND)
        await world.engine.sender._leases.renew(world.engine.sender._database)
        world.clock.move(LEASE - SECOND)
        may_answer.set()
        await world.work()

        assert (slack.count, discord.count) == (1, 1)
        assert await world.statuses() == [["completed"]]


async def test_what_was_sent_before_the_lease_lapsed_is_recorded_and_only_the_rest_is_sent_later(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        may_answer = await start_slow_send(world, slack)
        world.clock.move(LEASE)
        may_answer.set()
        await world.engine.sender._pipeline.finish()
        assert (slack.count, discord.count) == (1, 0)
        assert await world.statuses() == [["queued"]]
        await world.work()

        assert (slack.count, discord.count) == (1, 1)
        assert await world.statuses() == [["completed"]]


async def test_a_process_does_not_take_over_its_own_send_whose_lease_has_lapsed(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, _):
        may_answer = await start_slow_send(world, slack)
        world.clock.move(LEASE)
        await world.engine.sender.claim()
        may_answer.set()
        await world.engine.sender._pipeline.finish()

        assert slack.count == 1


async def test_a_worker_whose_clock_is_behind_stops_when_another_has_taken_its_send_over(
    world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> None:
    ahead = ManualClock(Millis(world.clock.now() + LEASE))
    engine = Engine(database, clock=ahead, vault=vault, bus=application.services.bus, gateway=gateway)
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        behind = await claim_one(world)
        (taken_over,) = await claim_email(World(world.api, engine, ahead))

        await send_claimed(world.engine, behind)

        assert (first.count, second.count) == (1, 0)
        assert await world.statuses() == [["running"]]
        (event,) = await world.events()
        assert "Unexpected provider error" not in details(event["jobs"][0])

        await send_claimed(engine, taken_over)
        assert (second.count, await world.statuses()) == (1, [["completed"]])


def canceling(world: World, status: int) -> Respond:
    """Answer with the status once the trigger is canceled."""

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        assert (await world.api.delete("/v1/events/trigger/t")).json() is True
        await answering(status, '{"id":"<1@mg>"}')(request, writer)

    return respond


async def test_a_canceled_job_is_not_handed_to_the_next_integration(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.server.respond = canceling(world, 401)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, transactionId="t")
        await world.work()

        assert (first.count, second.count) == (1, 0)
        assert await world.statuses() == [["canceled"]]


async def test_a_canceled_job_sends_no_further_message(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.server.respond = canceling(world, 200)
        await world.make_workflow(CHAT)
        await world.trigger(transactionId="t")
        await world.work()

        assert (slack.count, discord.count) == (1, 0)
        assert await world.statuses() == [["canceled"]]
