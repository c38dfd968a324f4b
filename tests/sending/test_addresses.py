"""Whom chat and push messages go to: credentials of the subscriber, the phone, the account, or what a trigger says."""

import json
from typing import Any

from clarion.sending.outgoing import make_outgoing
from clarion.vocabulary import Channel
from tests.engine.support import World, details, step
from tests.providers.contract.cases.fcm import CASE as FCM
from tests.providers.loopback import WebServer, answering, web_server
from tests.sending.support import claim_sends_of
from tests.sending.test_sends import integrate

PUSH = step("push", subject="Hi", body="Ping", data={"from": "step"})
CHAT = step("chat", body="Ping")


async def give(world: World, provider_id: str, **credentials: Any) -> None:
    body = {"providerId": provider_id, "credentials": credentials}
    response = await world.api.patch("/v1/subscribers/ada/credentials", json=body)
    assert response.status_code == 200, response.text


async def add_ada(world: World, **fields: Any) -> None:
    response = await world.api.post("/v2/subscribers", json={"subscriberId": "ada", **fields})
    assert response.status_code == 201, response.text


async def integrate_fcm(world: World, server: WebServer) -> None:
    """An account that gets no access token, so that Google is not called."""
    account = json.loads(FCM.credentials["serviceAccount"]) | {"token_uri": server.url("/token")}
    await integrate(world, "fcm", "push", serviceAccount=json.dumps(account))


async def push_messages(world: World) -> list[tuple[str, list[str]]]:
    found = await world.messages(channel="push")
    return sorted((one["providerId"], one.get("deviceTokens") or []) for one in found)


def bodies_of(server: WebServer) -> list[dict[str, Any]]:
    return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in server.requests]


async def test_a_topic_of_fcm_gets_one_message_although_the_person_has_several_devices(world: World) -> None:
    async with web_server(answering(400, '{"error":"invalid_grant"}')) as server:
        await integrate_fcm(world, server)
        await add_ada(world)
        await give(world, "fcm", deviceTokens=["one", "two"])
        await world.make_workflow(PUSH)
        await world.trigger(overrides={"providers": {"fcm": {"topic": "news"}}})
        await world.work()

        assert await push_messages(world) == [("fcm", [])]


async def test_triggers_reach_topics_and_devices_of_people_without_credentials(world: World) -> None:
    async with web_server(answering(400, '{"error":"invalid_grant"}')) as server:
        await integrate_fcm(world, server)
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await add_ada(world)
        await world.make_workflow(PUSH)
        await world.trigger(overrides={"providers": {"fcm": {"condition": "'a' in topics"}}})
        await world.trigger(overrides={"fcm": {"tokens": ["x", "y"]}})
        await world.trigger(overrides={"push": {"deviceTokens": ["for those who have some"]}})
        await world.work()

        assert await push_messages(world) == [("fcm", []), ("fcm", ["x"]), ("fcm", ["y"])]


async def test_a_push_webhook_gets_the_subscriber_and_the_digest(world: World) -> None:
    async with web_server(answering(200)) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await add_ada(world, firstName="Ada", data={"plan": "pro"})
        await give(world, "push-webhook", deviceTokens=["one", "two"])
        await world.make_workflow(step("digest", amount=5, unit="minutes"), PUSH)
        for number in (1, 2):
            await world.trigger(payload={"n": number})
        await world.work()
        await world.work(after=6 * 60_000)

        body, _ = bodies_of(server)
        payload = body["payload"]
        assert payload["n"] == 1
        assert payload["step"] == {"digest": True, "events": [{"n": 1}, {"n": 2}], "total_count": 2}
        person = payload["subscriber"]
        assert (person["subscriberId"], person["firstName"], person["data"]) == ("ada", "Ada", {"plan": "pro"})
        assert [one["credentials"] for one in person["channels"]] == [{"deviceTokens": body["target"]}]


async def test_whatsapp_needs_nothing_but_a_phone_number(world: World) -> None:
    async with web_server(answering(200, '{"messages":[{"id":"wamid.1"}]}')) as server:
        account = {"apiToken": "t", "phoneNumberIdentification": "1", "baseUrl": server.url("")}
        await integrate(world, "whatsapp-business", "chat", **account)
        await add_ada(world, phone="+442079460000")
        await world.make_workflow(CHAT)
        template = {"name": "hello_world", "language": {"code": "en_US"}}
        await world.trigger(overrides={"chat": {"template": template}})
        await world.trigger("grace")
        await give(world, "whatsapp-business")
        await world.trigger()
        await world.work()

        first, second = bodies_of(server)
        assert (first["to"], first["type"], first["template"]) == ("442079460000", "template", template)
        assert (second["to"], second["type"]) == ("442079460000", "text")
        assert await world.statuses() == [["completed"], ["failed"], ["completed"]]


async def test_a_chat_webhook_goes_to_the_subscriber_or_else_to_the_account(world: World) -> None:
    async with web_server(answering(200)) as server:
        await integrate(world, "chat-webhook", "chat", webhookUrl=server.url("/account"))
        await add_ada(world)
        await give(world, "chat-webhook", webhookUrl=server.url("/ada"))
        await world.make_workflow(CHAT)
        await world.trigger(["ada", "grace"])
        await world.work()

        paths = [one.split()[1] for one in server.requests]
        assert sorted(paths) == [b"/account", b"/ada"]


async def test_a_chat_webhook_without_an_account_address_is_for_those_who_have_their_own(world: World) -> None:
    async with web_server(answering(200)) as server:
        await integrate(world, "chat-webhook", "chat", secretKey="s")
        await integrate(world, "discord", "chat")
        await add_ada(world)
        await give(world, "discord", webhookUrl=server.url("/discord"))
        await world.make_workflow(CHAT)
        await world.trigger()
        await world.work()
        assert len(server.requests) == 1
        (event,) = await world.events()
        assert "Neither the subscriber nor the integration has a webhook URL" in details(event["jobs"][0])
        assert (await world.api.get("/v1/dead-letters")).json()["data"] == []

        await give(world, "chat-webhook", webhookUrl=server.url("/ada"))
        await world.trigger()
        await world.work()
        assert sorted(one.split()[1] for one in server.requests[1:]) == [b"/ada", b"/discord?wait=true"]


async def test_the_payload_reaches_the_provider_with_the_data_of_the_step(world: World) -> None:
    await integrate(world, "expo", "push", apiKey="k")
    await add_ada(world)
    await give(world, "expo", deviceTokens=["one", "two"])
    await world.make_workflow(PUSH)
    await world.trigger(payload={"n": 1})
    await world.trigger(payload={"n": 2})
    await world.engine.work_lanes()
    sends = await claim_sends_of(world, Channel.PUSH)

    made = [make_outgoing(send, one, send.integrations[0])[0] for send in sends for one in send.messages]
    assert sorted(one.payload["n"] for one in made) == [1, 1, 2, 2]
    assert all(one.data == {"from": "step"} for one in made)


async def test_a_provider_that_takes_many_devices_at_once_gets_one_message_for_each_entry(world: World) -> None:
    await integrate(world, "one-signal", "push", applicationId="a", apiKey="k")
    await add_ada(world)
    await give(world, "one-signal", deviceTokens=["first", " second ", "first", ""])
    await world.make_workflow(PUSH)
    await world.trigger()
    await world.trigger(overrides={"providers": {"one-signal": {"deviceTokens": ["other", "another"]}}})

    await world.engine.work_lanes()

    assert [one["deviceTokens"] for one in await world.messages()] == [["first", "second"], ["other", "another"]]


async def test_a_person_without_devices_gets_no_push_whatever_a_trigger_says_of_other_channels(world: World) -> None:
    await integrate(world, "one-signal", "push", applicationId="a", apiKey="k")
    await add_ada(world)
    await give(world, "one-signal", deviceTokens=[])
    await world.make_workflow(PUSH)
    await world.trigger()
    await world.trigger(overrides={"providers": {"slack": {"deviceTokens": ["other"]}}})
    await world.work()

    assert await world.messages(channel="push") == []
    assert await world.statuses() == [["failed"], ["failed"]]
