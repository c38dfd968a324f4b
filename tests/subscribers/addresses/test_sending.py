"""Chat steps send to the endpoints of people, on both databases, to a vendor on loopback."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.engine.support import World, details, step
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.subscribers.addresses.support import CONNECTIONS, ENDPOINTS, add_endpoint, connect, create, make_slack

CHAT = step("chat", body="Hello {{subscriber.firstName}}")
HOOK = "https://hooks.slack.com/services/T1/B1/a-secret-path"


class Slack:
    """What the vendor was sent, and whether it accepts it."""

    def __init__(self) -> None:
        self.error: str | None = None

    def answer(self, request: Received) -> Reply:
        if "api.line.me" in request.url:
            return Reply(body=json.dumps({"sentMessages": [{"id": "1"}]}))
        if "chat.postMessage" not in request.url:
            return Reply(body="ok", headers={"X-Slack-Req-Id": "r-1"})
        body = {"ok": False, "error": self.error} if self.error else {"ok": True, "ts": "1.2"}
        return Reply(body=json.dumps(body))


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
async def vendor(slack: Slack) -> AsyncIterator[Vendor]:
    async with play(slack.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


def sent(vendor: Vendor) -> list[tuple[str, str | None, dict[str, Any]]]:
    return [(one.url, one.headers.get("authorization"), json.loads(one.body)) for one in vendor.requests]


async def test_a_chat_step_goes_to_each_endpoint_by_the_token_of_its_connection(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    await add_endpoint(world.api, connectionIdentifier="acme")
    await add_endpoint(world.api, connectionIdentifier="acme", type="slack_user", endpoint={"userId": "U1"})
    await add_endpoint(world.api, type="webhook", endpoint={"url": HOOK})
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    bearer, url = "Bearer xoxb-a-secret-token", "https://slack.com/api/chat.postMessage"
    assert sorted(sent(vendor), key=str) == [
        (HOOK, None, {"text": "Hello "}),
        (url, bearer, {"channel": "C1", "text": "Hello "}),
        (url, bearer, {"channel": "U1", "text": "Hello "}),
    ]
    assert await world.statuses() == [["completed"]]
    assert len(await world.messages(channel="chat")) == 3


async def test_a_chat_step_goes_to_the_person_of_an_endpoint_of_line(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    account = {"providerId": "line", "channel": "chat", "identifier": "line", "active": True}
    await create(world.api, "/v1/integrations", {**account, "credentials": {"token": "the-channel-token"}})
    await add_endpoint(world.api, integrationIdentifier="line", type="line_user", endpoint={"userId": "U4af"})
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    text = {"type": "text", "text": "Hello "}
    url, bearer = "https://api.line.me/v2/bot/message/push", "Bearer the-channel-token"
    assert sent(vendor) == [(url, bearer, {"to": "U4af", "messages": [text]})]
    assert await world.statuses() == [["completed"]]


async def test_only_endpoints_of_exactly_the_contexts_of_the_trigger_are_used(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    for name, context in (("none", None), ("acme", {"tenant": "acme"}), ("both", {"tenant": "acme", "app": "shop"})):
        await connect(world.api, identifier=name, subscriberId="ada", context=context)
        await add_endpoint(world.api, connectionIdentifier=name, context=context, endpoint={"channelId": name})
    await world.make_workflow(CHAT)

    for context in (None, {"tenant": "acme"}, {"app": "shop", "tenant": "acme"}):
        await world.trigger(context=context)
        await world.work()

    assert [body["channel"] for _, _, body in sent(vendor)] == ["none", "acme", "both"]


async def test_an_endpoint_without_a_connection_fails_and_says_why(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    await add_endpoint(world.api, identifier="general", connectionIdentifier="acme")
    await world.api.delete(f"{CONNECTIONS}/acme")
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    told = str(event["jobs"][0]["executionDetails"])
    assert vendor.requests == []
    assert "connect the workspace again" in told
    assert "general" in told


async def test_a_message_to_an_endpoint_that_is_deleted_meanwhile_is_not_sent(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    await add_endpoint(world.api, identifier="general", connectionIdentifier="acme")
    await world.make_workflow(CHAT)
    await world.trigger()
    await world.engine.work_lanes()

    await world.api.delete(f"{ENDPOINTS}/general")
    await world.work()

    (event,) = await world.events()
    assert vendor.requests == []
    assert "The channel endpoint was deleted before" in str(details(event["jobs"][0]))


async def test_an_address_that_cannot_be_opened_stops_its_own_message_alone(
    world: World, vendor: Vendor, database: Database
) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    for name in ("first", "second"):
        await add_endpoint(world.api, identifier=name, connectionIdentifier="acme")
    named = "WHERE environment_id = :environment_id AND identifier = 'first'"
    damage = sql(f"UPDATE channel_endpoints SET endpoint = 'v1.lost.AAAA' {named}")
    remove = sql(f"DELETE FROM channel_endpoints {named}")
    environment_id = world.api.environment.id
    await database.transaction(lambda db: db.execute(damage, environment_id=environment_id))
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert len(vendor.requests) == 1
    assert "its stored address cannot be opened" in str(event["jobs"][0]["executionDetails"])
    # Left behind, it would keep later tests that share the store from rotating keys.
    await database.transaction(lambda db: db.execute(remove, environment_id=environment_id))


async def test_people_without_any_address_are_told_of(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada", "bob")
    await add_endpoint(world.api, subscriberId="bob", type="webhook", endpoint={"url": HOOK})
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert vendor.requests == []
    assert "Subscriber does not have a configured channel" in details(event["jobs"][0])


async def test_tokens_of_connections_are_in_no_detail(world: World, vendor: Vendor, slack: Slack) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    await add_endpoint(world.api, connectionIdentifier="acme")
    await world.make_workflow(CHAT)
    slack.error = "xoxb-a-secret-token is not a channel"

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert len(vendor.requests) == 1
    assert "xoxb" not in str(event)
    assert "*** is not a channel" in str(event)


async def test_a_phone_endpoint_gets_whatsapp_in_the_place_of_the_persons_number(world: World, vendor: Vendor) -> None:
    body = {"apiToken": "t", "phoneNumberIdentification": "1"}
    account = {"providerId": "whatsapp-business", "channel": "chat", "identifier": "wa", "active": True}
    await create(world.api, "/v1/integrations", account | {"credentials": body})
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada", "phone": "+441632960001"})
    await add_endpoint(world.api, integrationIdentifier="wa", type="phone", endpoint={"phoneNumber": "+441632960000"})
    await world.make_workflow(CHAT)

    await world.trigger()
    await world.work()

    assert [body["to"] for _, _, body in sent(vendor)] == ["441632960000"]


async def test_a_telegram_endpoint_gets_a_message_of_the_bot(world: World, vendor: Vendor) -> None:
    account = {"providerId": "telegram", "channel": "chat", "identifier": "bot", "active": True}
    await create(world.api, "/v1/integrations", account | {"credentials": {"apiToken": "1:bot-token"}})
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada"})
    await add_endpoint(world.api, integrationIdentifier="bot", type="telegram_chat", endpoint={"chatId": "77"})
    await world.make_workflow(CHAT)
    vendor.answers = lambda _: Reply(body='{"ok": true, "result": {"message_id": 5}}')

    await world.trigger()
    await world.work()

    body = {"chat_id": "77", "text": "Hello "}
    assert sent(vendor) == [("https://api.telegram.org/bot1:bot-token/sendMessage", None, body)]
    assert await world.statuses() == [["completed"]]


async def test_a_simulation_names_the_endpoint(world: World, vendor: Vendor) -> None:
    await make_slack(world.api, "ada")
    await connect(world.api, identifier="acme", subscriberId="ada")
    await add_endpoint(world.api, identifier="general", connectionIdentifier="acme")
    await world.make_workflow(CHAT)

    simulated = await world.api.post("/v1/simulate", json={"name": "welcome", "to": "ada"})

    assert simulated.status_code == 200, simulated.text
    assert '"general"' in simulated.text
    assert vendor.requests == []
