"""Messages that are changed or withdrawn after they were sent: what providers get, and what stays with the message."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from clarion.clock import HOUR, MINUTE
from clarion.sending.model import ClaimedSend
from clarion.sending.retry import MAX_ATTEMPTS
from clarion.vocabulary import Channel
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import WebServer, answering, web_server
from tests.sending.support import claim_sends_of, send_claimed
from tests.sending.test_sends import integrate

CHAT = step("chat", body="The site is down")
EMAIL = step("email", subject="Down", body="<p>Down</p>")


class Chat:
    """The webhook of a person at Discord, which keeps the messages that it has."""

    server: WebServer

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.calls: list[tuple[str, str]] = []
        self.status = 200

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        method, path = request.split(b" ", 2)[:2]
        call = method.decode(), path.decode().partition("?")[0].rpartition("/")[2]
        self.calls.append(call)
        status, body = self.status, '{"message":"no"}'
        if status == 200:
            status, body = self._keep(call, request.partition(b"\r\n\r\n")[2])
        await answering(status, body)(request, writer)

    def _keep(self, call: tuple[str, str], body: bytes) -> tuple[int, str]:
        method, name = call
        if method == "POST":
            name = f"m{len(self.texts) + 1}"
        elif name not in self.texts:
            return 404, '{"code":10008,"message":"Unknown Message"}'
        if method == "DELETE":
            del self.texts[name]
            return 204, ""
        self.texts[name] = json.loads(body)["content"]
        return 200, json.dumps({"id": name})


@asynccontextmanager
async def chat_of_ada(world: World) -> AsyncIterator[Chat]:
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
    await integrate(world, "discord", "chat")
    chat = Chat()
    async with web_server(chat.respond) as chat.server:
        body = {"providerId": "discord", "credentials": {"webhookUrl": chat.server.url("/hook")}}
        assert (await world.api.patch("/v1/subscribers/ada/credentials", json=body)).status_code == 200
        yield chat


async def start(world: World, *steps: dict[str, Any], transaction: str = "t-1") -> None:
    await world.make_workflow(*steps)
    await world.trigger(transactionId=transaction)
    await world.work()


async def patch(world: World, message: dict[str, Any], **body: Any) -> httpx.Response:
    return await world.api.patch(f"/v1/messages/{message['_id']}", json=body)


async def withdraw(world: World, **query: Any) -> dict[str, Any]:
    response = await world.api.delete("/v1/messages", params=query)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def only_message(world: World, channel: str = "chat") -> dict[str, Any]:
    (message,) = await world.messages(channel=channel)
    return message


async def test_a_chat_message_is_changed_where_it_was_sent(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT, in_app("after"))
        answer = await patch(world, await only_message(world), body="The site is up again")
        assert (answer.status_code, answer.json()["change"]["state"]) == (200, "updating")
        await world.work()

        assert chat.texts == {"m1": "The site is up again"}
        assert chat.calls == [("POST", "hook"), ("PATCH", "m1")]
        message = await only_message(world)
        assert (message["content"], message["status"]) == ("The site is up again", "sent")
        assert message["change"]["state"] == "updated"
        assert await world.statuses() == [["completed", "completed"]]
        assert details((await world.events())[0]["jobs"][0])[-2:] == [
            "Message is being changed at its provider",
            "Message was changed",
        ]


async def test_a_chat_message_is_taken_back_and_its_record_stays(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        answer = await withdraw(world, transactionId="t-1")
        assert (answer["withdrawn"], answer["pending"], answer["notWithdrawn"], answer["next"]) == (0, 1, 0, None)
        await world.work()

        assert chat.texts == {}
        message = await only_message(world)
        assert (message["content"], message["change"]["state"]) == ("The site is down", "withdrawn")
        assert (await withdraw(world, transactionId="t-1"))["withdrawn"] == 1
        await world.work()
        assert len(chat.calls) == 2


async def test_a_message_that_somebody_deleted_at_the_provider_is_withdrawn(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        chat.texts.clear()
        await withdraw(world, transactionId="t-1")
        await world.work()

        assert (await only_message(world))["change"]["state"] == "withdrawn"


async def test_a_change_that_the_provider_refuses_leaves_the_record_as_the_person_sees_it(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        chat.texts.clear()
        await patch(world, await only_message(world), body="The site is up again")
        await world.work()

        message = await only_message(world)
        assert (message["content"], message["status"]) == ("The site is down", "sent")
        assert message["change"]["state"] == "not_updated"
        assert "Unknown Message" in message["change"]["reason"]
        assert await world.statuses() == [["completed"]]
        assert (await world.api.get("/v1/dead-letters")).json()["data"] == []


async def test_a_change_is_tried_again_while_the_provider_is_out(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        chat.status = 503
        await patch(world, await only_message(world), body="New")
        await world.work()
        assert (await only_message(world))["change"]["state"] == "updating"
        chat.status = 200
        await world.work(after=MINUTE)

        assert chat.texts == {"m1": "New"}
        assert (await only_message(world))["change"]["state"] == "updated"


async def test_a_change_is_given_up_after_as_many_attempts_as_a_send(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        chat.status = 503
        await patch(world, await only_message(world), body="New")
        for _ in range(MAX_ATTEMPTS + 1):
            await world.work(after=HOUR)

        message = await only_message(world)
        assert (message["content"], message["change"]["state"]) == ("The site is down", "not_updated")
        assert chat.calls.count(("PATCH", "m1")) == MAX_ATTEMPTS
        assert await world.statuses() == [["completed"]]


async def test_a_message_that_waits_to_be_sent_goes_out_with_its_new_content(world: World) -> None:
    async with chat_of_ada(world) as chat:
        chat.status = 503
        await start(world, CHAT)
        answer = await patch(world, await only_message(world), body="New")
        assert answer.json()["change"]["state"] == "updated"
        chat.status = 200
        await world.work(after=MINUTE)

        assert chat.texts == {"m1": "New"}
        assert [method for method, _ in chat.calls] == ["POST", "POST"]


async def test_a_message_that_is_withdrawn_before_it_is_sent_is_never_sent(world: World) -> None:
    async with chat_of_ada(world) as chat:
        chat.status = 503
        await start(world, CHAT, in_app("after"))
        assert (await withdraw(world, transactionId="t-1"))["withdrawn"] == 1
        chat.status = 200
        await world.work(after=MINUTE)

        assert chat.texts == {}
        assert await world.statuses() == [["skipped", "completed"]]
        assert (await world.api.get("/v1/dead-letters")).json()["data"] == []


async def test_an_email_that_waits_to_be_sent_is_withdrawn_too_and_one_that_is_sent_is_not(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
    await world.make_workflow(EMAIL)
    await world.trigger(transactionId="t-1")
    await world.engine.drain()
    answer = await withdraw(world, transactionId="t-1")

    (message,) = answer["messages"]
    assert (answer["notWithdrawn"], message["state"]) == (1, "not_withdrawn")
    assert message["reason"] == "An e-mail that is made cannot be taken back once it is sent"
    assert details((await world.events())[0]["jobs"][0])[-1] == "Message could not be withdrawn"
    # Asked again, it says the same, and notes it once.
    again = await withdraw(world, transactionId="t-1")
    assert again["messages"] == answer["messages"]
    assert details((await world.events())[0]["jobs"][0]).count("Message could not be withdrawn") == 1


async def test_a_message_that_is_changed_while_it_is_sent_is_changed_afterwards(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await world.make_workflow(CHAT, in_app("after"))
        await world.trigger(transactionId="t-1")
        claimed = await _claim_only(world)
        answer = await patch(world, await only_message(world), body="New")
        assert answer.json()["change"]["state"] == "updating"
        await send_claimed(world.engine, claimed)
        assert chat.texts == {"m1": "The site is down"}
        await world.work()

        assert chat.texts == {"m1": "New"}
        assert (await only_message(world))["change"]["state"] == "updated"
        assert await world.statuses() == [["completed", "completed"]]


async def test_a_message_that_is_withdrawn_while_it_is_sent_is_taken_back(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await world.make_workflow(CHAT)
        await world.trigger(transactionId="t-1")
        claimed = await _claim_only(world)
        assert (await withdraw(world, transactionId="t-1"))["pending"] == 1
        await send_claimed(world.engine, claimed)
        await world.work()

        assert (chat.texts, [method for method, _ in chat.calls]) == ({}, ["POST", "DELETE"])
        assert (await only_message(world))["change"]["state"] == "withdrawn"


@pytest.mark.parametrize("kind", ["update", "withdraw"])
async def test_a_worker_that_dies_in_a_send_leaves_the_change_to_the_next_one(world: World, kind: str) -> None:
    async with chat_of_ada(world) as chat:
        await world.make_workflow(CHAT)
        await world.trigger(transactionId="t-1")
        await _claim_only(world)
        if kind == "update":
            await patch(world, await only_message(world), body="New")
        else:
            await withdraw(world, transactionId="t-1")
        await world.work(after=MINUTE)

        message = await only_message(world)
        if kind == "update":
            assert (chat.texts, message["change"]["state"]) == ({"m1": "New"}, "updated")
        else:
            assert (chat.texts, message["change"]["state"]) == ({}, "withdrawn")


async def test_a_worker_that_dies_in_a_change_leaves_it_to_the_next_one(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        await patch(world, await only_message(world), body="New")
        (claimed,) = await claim_sends_of(world, Channel.CHAT)
        await world.engine.sender._deliverer.deliver(claimed)
        assert (await only_message(world))["change"]["state"] == "updating"
        await world.work(after=MINUTE)

        assert chat.texts == {"m1": "New"}
        assert (await only_message(world))["change"]["state"] == "updated"
        assert [method for method, _ in chat.calls] == ["POST", "PATCH", "PATCH"]


async def test_the_last_of_several_changes_is_what_the_person_sees(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        await patch(world, await only_message(world), body="First")
        (claimed,) = await claim_sends_of(world, Channel.CHAT)
        await patch(world, await only_message(world), body="Second")
        await send_claimed(world.engine, claimed)
        assert (await only_message(world))["change"]["state"] == "updating"
        await world.work()

        assert chat.texts == {"m1": "Second"}
        message = await only_message(world)
        assert (message["content"], message["change"]["state"]) == ("Second", "updated")


async def test_a_canceled_trigger_does_not_keep_its_messages_from_being_withdrawn(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT, step("delay", amount=1, unit="days"))
        await withdraw(world, transactionId="t-1")
        assert (await world.api.delete("/v1/events/trigger/t-1")).json() is True
        await world.work()

        assert chat.texts == {}
        assert (await only_message(world))["change"]["state"] == "withdrawn"


async def test_an_integration_that_is_gone_can_change_nothing(world: World) -> None:
    async with chat_of_ada(world) as chat:
        await start(world, CHAT)
        integrations = (await world.api.get("/v1/integrations")).json()
        (discord,) = [one for one in integrations if one["providerId"] == "discord"]
        await world.api.delete(f"/v1/integrations/{discord['_id']}")
        await patch(world, await only_message(world), body="New")
        await world.work()

        message = await only_message(world)
        assert (message["content"], message["change"]["state"]) == ("The site is down", "not_updated")
        assert len(chat.calls) == 1


async def test_a_message_cannot_be_changed_once_it_is_withdrawn(world: World) -> None:
    async with chat_of_ada(world):
        await start(world, CHAT)
        await withdraw(world, transactionId="t-1")
        answer = await patch(world, await only_message(world), body="New")

        assert answer.status_code == 422
        assert "It was withdrawn" in answer.text


async def _claim_only(world: World) -> ClaimedSend:
    """Decide the run and claim its send, as a worker does that is slow then."""
    await world.engine.work_lanes()
    (claimed,) = await claim_sends_of(world, Channel.CHAT)
    return claimed
