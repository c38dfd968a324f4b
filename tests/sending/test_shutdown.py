"""The end of a process: calls of providers have the grace period; what is under way after it is not lost."""

import asyncio
from contextlib import suppress
from functools import partial

from clarion.background import Supervisor
from clarion.clock import MINUTE, SECOND
from tests.engine.providers import ADA, EMAIL, SILENCE, account
from tests.engine.support import World, details, step
from tests.sending.test_sender import has_requests, make_chatter, slow_chat, until
from tests.sending.test_sends import integrate
from tests.sending.test_several import hooks

CHAT = step("chat", body="Ping")


async def stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_call_that_outlasts_the_grace_period_counts_as_possibly_delivered_and_is_tried_again(
    world: World,
) -> None:
    async with account(world, "first", "mailgun") as mailgun:
        mailgun.break_down(SILENCE)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        running = asyncio.create_task(Supervisor().run(world.engine.list_services(grace_seconds=0)))
        await until(partial(has_requests, mailgun.server, 1))

        await stop(running)
        (message,) = await world.messages()
        ((job,),) = [event["jobs"] for event in await world.events()]
        mailgun.come_back()
        await world.work(after=MINUTE)

        assert message["errorId"] == "possibly_delivered"
        assert "stopped before the provider answered" in message["errorText"]
        assert job["status"] == "queued"
        assert details(job)[-1] == "Possibly delivered"
        assert await world.statuses() == [["completed"]]
        assert mailgun.count == 2


async def test_a_stop_says_nothing_about_the_health_of_a_provider(world: World) -> None:
    async with account(world, "first", "mailgun") as first, account(world, "second", "mailgun") as second:
        first.break_down(SILENCE)
        await world.make_workflow(EMAIL)
        await world.trigger([{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(8)])
        running = asyncio.create_task(Supervisor().run(world.engine.list_services(grace_seconds=0)))
        await until(partial(has_requests, first.server, 8))
        await stop(running)
        first.come_back()

        await world.trigger(ADA)
        await world.work()

        assert (len(first.taken), second.count) == (1, 0)


async def test_messages_whose_call_had_not_begun_go_back_to_the_queue_as_they_were(world: World) -> None:
    async with slow_chat() as (chat, _), hooks(world, "discord") as (discord,):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await make_chatter(world, chat, "ada", "/slow")
        await world.make_workflow(CHAT)
        await world.trigger("ada")
        running = asyncio.create_task(Supervisor().run(world.engine.list_services(grace_seconds=0)))

        async def is_under_way() -> bool:
            return len(chat.requests) + discord.count == 2 or len(chat.requests) == 1

        await until(is_under_way)
        await stop(running)
        before = {one["providerId"]: one for one in await world.messages(channel="chat")}
        ((job,),) = [event["jobs"] for event in await world.events()]
        await world.work(after=SECOND)

        assert job["status"] == "queued"
        assert before["slack"]["errorId"] == "possibly_delivered"
        assert "errorId" not in before["discord"]
        assert discord.count == 1


async def test_a_call_that_ends_within_the_grace_period_is_recorded(world: World) -> None:
    async with slow_chat() as (chat, may_answer):
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await make_chatter(world, chat, "ada", "/slow")
        await world.make_workflow(CHAT)
        await world.trigger("ada")
        running = asyncio.create_task(Supervisor().run(world.engine.list_services(grace_seconds=60)))
        await until(partial(has_requests, chat, 1))

        running.cancel()
        await asyncio.sleep(0)
        may_answer.set()
        await stop(running)

        assert await world.statuses() == [["completed"]]
