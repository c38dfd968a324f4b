"""A provider is called only while the job is this worker's: until the job is canceled."""

import asyncio

from tests.engine.providers import ADA, EMAIL, account
from tests.engine.sending.test_several import CHAT, hooks
from tests.engine.support import World
from tests.providers.loopback import Respond, answering


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
