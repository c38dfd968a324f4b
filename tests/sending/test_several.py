"""Jobs with several messages: each address has its own outcome, retries and dead letter."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from clarion.clock import HOUR, MINUTE, SECOND
from clarion.sending.retry import MAX_ATTEMPTS
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import WebServer, answering, web_server
from tests.sending.test_sends import integrate
from tests.webhooks.support import list_deliveries, make_endpoint

CHAT = step("chat", body="Ping")


@dataclass
class Hook:
    """The webhook of a person at a chat provider, which answers with a status."""

    server: WebServer = field(init=False)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.server.requests)

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        body = '{"id":"m-1"}' if self.status == 200 else "no"
        await answering(self.status, body, **self.headers)(request, writer)


@asynccontextmanager
async def hooks(world: World, *providers: str) -> AsyncIterator[list[Hook]]:
    """Ada has a webhook at each of these providers."""
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    async with AsyncExitStack() as stack:
        made = []
        for provider in providers:
            hook = Hook()
            hook.server = await stack.enter_async_context(web_server(hook.respond))
            await integrate(world, provider, "chat", **_CREDENTIALS.get(provider, {}))
            body = {"providerId": provider, "credentials": {"webhookUrl": hook.server.url()}}
            response = await world.api.patch("/v1/subscribers/ada/credentials", json=body)
            assert response.status_code == 200, response.text
            made.append(hook)
        yield made


_CREDENTIALS = {"slack": {"applicationId": "a", "clientId": "c", "secretKey": "s"}}


async def dead_letters(world: World, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await world.api.get("/v1/dead-letters", params=query)).json()["data"]
    return found


async def message_statuses(world: World) -> dict[str, str]:
    return {one["providerId"]: one["status"] for one in await world.messages(channel="chat")}


async def test_an_address_that_failed_once_is_tried_again_and_the_others_are_not(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        discord.status = 503
        await world.make_workflow(CHAT, in_app("after"))
        await world.trigger()
        await world.work()
        assert await world.statuses() == [["queued", "pending"]]
        assert await message_statuses(world) == {"slack": "sent", "discord": "error"}

        discord.status = 200
        await world.work(after=MINUTE)

        assert (slack.count, discord.count) == (1, 2)
        assert await world.statuses() == [["completed", "completed"]]
        assert await message_statuses(world) == {"slack": "sent", "discord": "sent"}
        assert await dead_letters(world) == []


async def test_an_address_that_fails_for_good_is_a_dead_letter_although_others_were_sent(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        discord.status = 503
        await world.make_workflow(CHAT, in_app("after"))
        await world.trigger()
        for _ in range(MAX_ATTEMPTS):
            await world.work(after=HOUR)

        assert (slack.count, discord.count) == (1, MAX_ATTEMPTS)
        assert await world.statuses() == [["completed", "completed"]]
        (found,) = await dead_letters(world, providerId="discord")
        assert (found["providerId"], found["attempts"], len(found["errors"])) == ("discord", MAX_ATTEMPTS, 1)
        (event,) = await world.events()
        last = event["jobs"][0]["executionDetails"][-1]
        assert (last["detail"], last["status"]) == ("Some messages of the step were not sent", "Warning")
        assert (last["providerId"], '"providerId":"discord"' in last["raw"]) == ("discord", True)


async def test_redriving_sends_only_the_messages_that_failed(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.status = 404
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        (found,) = await dead_letters(world, providerId="slack")
        assert await world.statuses() == [["completed"]]

        slack.status = 200
        body = {"ids": [found["_id"]]}
        assert (await world.api.post("/v1/dead-letters/redrive", json=body)).json()["redriven"] == 1
        await world.work()

        assert (slack.count, discord.count) == (2, 1)
        assert await world.statuses() == [["completed"]]
        assert await message_statuses(world) == {"slack": "sent", "discord": "sent"}
        assert await dead_letters(world) == []


async def test_a_redriven_message_that_fails_again_is_a_dead_letter_again(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.status = 404
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        await world.api.post("/v1/dead-letters/redrive", json={"all": True})
        await world.work()

        assert (slack.count, discord.count) == (2, 1)
        assert await world.statuses() == [["completed"]]
        assert len(await dead_letters(world)) == 1


async def test_a_message_that_failed_for_good_is_not_tried_again_with_the_others(world: World) -> None:
    async with hooks(world, "slack", "discord", "mattermost") as (slack, discord, mattermost):
        slack.status, discord.status = 404, 503
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        discord.status = 200
        await world.work(after=MINUTE)

        assert (slack.count, discord.count, mattermost.count) == (1, 2, 1)
        assert await world.statuses() == [["completed"]]
        assert [one["providerId"] for one in await dead_letters(world)] == ["slack"]


async def test_a_message_that_is_given_up_makes_one_failed_event_while_others_are_still_tried(world: World) -> None:
    endpoint = await make_endpoint(world.api, "https://hooks.example.com/clarion", active=True)
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.status, discord.status = 404, 503
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.engine.work_lanes()
        await world.engine.sender.work()
        early = await list_deliveries(world.api, endpoint)
        discord.status = 200
        world.clock.move(MINUTE)
        await world.engine.sender.work()

        found = [one["payload"] for one in await list_deliveries(world.api, endpoint)]
        kinds = [(one["type"], one["data"].get("providerId")) for one in found if one["type"].startswith("message.")]
        assert [one["payload"]["type"] for one in early] == ["workflow.created", "message.failed"]
        assert kinds == [("message.failed", "slack"), ("message.sent", "discord")]


async def test_a_job_none_of_whose_messages_was_sent_fails(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.status, discord.status = 404, 503
        await world.make_workflow({**CHAT, "shouldStopOnFail": True}, in_app("after"))
        await world.trigger()
        for _ in range(MAX_ATTEMPTS):
            await world.work(after=HOUR)

        assert (slack.count, discord.count) == (1, MAX_ATTEMPTS)
        assert await world.statuses() == [["failed", "canceled"]]
        (found,) = await dead_letters(world)
        assert len(found["errors"]) == 2
        for provider in ("slack", "discord"):
            assert len(await dead_letters(world, providerId=provider)) == 1


async def test_an_address_whose_provider_asks_for_patience_does_not_hold_up_the_others(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        slack.status, discord.status = 429, 503
        slack.headers = {"Retry_After": "7200"}
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        discord.status = 200
        await world.work(after=MINUTE)
        assert (slack.count, discord.count) == (1, 2)
        assert await world.statuses() == [["queued"]]

        slack.status = 200
        await world.work(after=2 * HOUR - MINUTE - SECOND)
        assert slack.count == 1
        await world.work(after=SECOND)

        assert (slack.count, discord.count) == (2, 2)
        assert await world.statuses() == [["completed"]]


async def test_a_job_whose_last_open_message_was_deleted_ends_as_the_others_did(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        discord.status = 503
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        (failed,) = [one for one in await world.messages() if one["status"] == "error"]
        await world.api.delete(f"/v1/messages/{failed['_id']}")
        await world.work(after=MINUTE)

        (event,) = await world.events()
        assert (slack.count, discord.count) == (1, 1)
        assert event["jobs"][0]["status"] == "completed"
        assert "The message was deleted before it was sent" in details(event["jobs"][0])


async def test_canceling_stops_the_messages_that_wait_to_be_tried_again(world: World) -> None:
    async with hooks(world, "slack", "discord") as (slack, discord):
        discord.status = 503
        await world.make_workflow(CHAT)
        await world.trigger(transactionId="t")
        await world.work()
        await world.api.delete("/v1/events/trigger/t")
        await world.work(after=HOUR)

        assert (slack.count, discord.count) == (1, 1)
        assert await world.statuses() == [["canceled"]]
        assert await dead_letters(world) == []


async def test_each_device_is_retried_by_itself(world: World) -> None:
    statuses = {b'"first"': 200, b'"second"': 503}

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        await answering(next(status for token, status in statuses.items() if token in request))(request, writer)

    async with web_server(respond) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await give_devices(world, "first", "second")
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger()
        await world.work()
        assert await world.statuses() == [["queued"]]
        assert await device_statuses(world) == {"first": "sent", "second": "error"}

        statuses[b'"second"'] = 200
        await world.work(after=MINUTE)

        assert await device_statuses(world) == {"first": "sent", "second": "sent"}
        assert await world.statuses() == [["completed"]]
        assert len(server.requests) == 3


async def test_a_device_that_fails_for_good_is_a_dead_letter_of_its_own(world: World) -> None:
    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        await answering(200 if b'"first"' in request else 400)(request, writer)

    async with web_server(respond) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await give_devices(world, "first", "second")
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger()
        await world.work()

        assert await device_statuses(world) == {"first": "sent", "second": "error"}
        assert len(await dead_letters(world, providerId="push-webhook")) == 1


async def test_a_dead_device_token_is_no_dead_letter(world: World) -> None:
    async with web_server(answering(410)) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await give_devices(world, "first")
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger()
        await world.work()

        assert await world.statuses() == [["failed"]]
        assert await dead_letters(world) == []


async def test_tokens_that_a_trigger_names_instead_get_one_message_each(world: World) -> None:
    async with web_server(answering(200)) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await give_devices(world, "first", "second", "third")
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger(overrides={"providers": {"push-webhook": {"deviceTokens": ["other", "another", "other"]}}})
        await world.work()

        assert await device_statuses(world) == {"other": "sent", "another": "sent"}
        assert len(server.requests) == 2


async def give_devices(world: World, *tokens: str) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    body = {"providerId": "push-webhook", "credentials": {"deviceTokens": list(tokens)}}
    response = await world.api.patch("/v1/subscribers/ada/credentials", json=body)
    assert response.status_code == 200, response.text


async def device_statuses(world: World) -> dict[str, str]:
    """The status of each device's message, which has no other device."""
    found = {}
    for one in await world.messages(channel="push"):
        (token,) = one["deviceTokens"]
        found[token] = one["status"]
    return found
