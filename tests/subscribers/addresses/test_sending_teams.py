"""Messages of a bot of Teams to channels and people, on both databases, to Microsoft on loopback."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import pytest

from clarion.clock import MINUTE, SECOND, ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from tests.engine.support import World, step
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.subscribers.addresses.oauth import open_gateway
from tests.subscribers.addresses.support import ENDPOINTS, TEAMS, connect, create, endpoint
from tests.subscribers.addresses.vendors import PERSON, TENANT

CHAT = step("chat", body="Hello")
CONVERSATIONS = "https://smba.trafficmanager.net/teams/v3/conversations"
CHANNEL = "19:abc@thread.tacv2"
HOOK = "https://example.webhook.office.com/hook"


class Bots:
    """Gives tokens, creates conversations and takes messages; `refusals` answer one path each."""

    def __init__(self) -> None:
        self.tokens: list[tuple[str, dict[str, list[str]]]] = []
        self.messages: list[tuple[str, str | None, dict[str, Any]]] = []
        self.refusals: dict[str, Reply] = {}

    def answer(self, request: Received) -> Reply:
        if request.url.startswith("https://login.microsoftonline.com/"):
            self.tokens.append((request.url, parse_qs(request.body.decode())))
            token = f"bot-token-{len(self.tokens)}"
            return Reply(body=json.dumps({"access_token": token, "expires_in": 3600}))
        self.messages.append((request.url, request.headers.get("authorization"), json.loads(request.body)))
        refusal = next((one for end, one in self.refusals.items() if request.url.endswith(end)), None)
        return refusal or Reply(status=201, body=json.dumps({"id": "a:1" if request.url == CONVERSATIONS else "m-1"}))


@pytest.fixture
def bots() -> Bots:
    return Bots()


@pytest.fixture
async def vendor(bots: Bots) -> AsyncIterator[Vendor]:
    async with play(bots.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


async def make_teams(world: World, *endpoints: dict[str, Any]) -> None:
    await create(world.api, "/v1/integrations", TEAMS)
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada"})
    auth, workspace = {"accessToken": "app-only"}, {"id": TENANT}
    await connect(
        world.api,
        integrationIdentifier="teams",
        identifier="acme",
        subscriberId="ada",
        auth=auth,
        workspace=workspace,
    )
    for fields in endpoints:
        await create(world.api, ENDPOINTS, of_teams(**fields))
    await world.make_workflow(CHAT)


def of_teams(**fields: Any) -> dict[str, Any]:
    return endpoint(**{"integrationIdentifier": "teams", "connectionIdentifier": "acme", **fields})


IN_CHANNEL = {"type": "ms_teams_channel", "endpoint": {"teamId": "team-1", "channelId": CHANNEL}}
TO_PERSON = {"type": "ms_teams_user", "endpoint": {"userId": PERSON}}


async def test_a_channel_gets_a_message_of_the_bot(world: World, bots: Bots) -> None:
    await make_teams(world, IN_CHANNEL)

    await world.trigger()
    await world.work()

    ((url, form),) = bots.tokens
    assert url == "https://login.microsoftonline.com/home-tenant/oauth2/v2.0/token"
    assert form["scope"] == ["https://api.botframework.com/.default"]
    assert bots.messages == [
        (
            f"{CONVERSATIONS}/19:abc@thread.tacv2/activities",
            "Bearer bot-token-1",
            {
                "type": "message",
                "from": {"id": "28:app-1"},
                "text": "Hello",
                "channelData": {"tenant": {"id": TENANT}, "team": {"id": "team-1"}, "channel": {"id": CHANNEL}},
            },
        )
    ]
    assert await world.statuses() == [["completed"]]


async def test_a_person_gets_it_in_the_chat_with_the_bot(world: World, bots: Bots) -> None:
    await make_teams(world, TO_PERSON)

    await world.trigger()
    await world.work()

    opened, said = bots.messages
    assert opened[0] == CONVERSATIONS
    assert opened[2] == {
        "isGroup": False,
        "bot": {"id": "28:app-1"},
        "members": [{"id": PERSON}],
        "tenantId": TENANT,
        "channelData": {"tenant": {"id": TENANT}},
    }
    assert said[0] == f"{CONVERSATIONS}/a:1/activities"
    assert said[2] == {"type": "message", "from": {"id": "28:app-1"}, "text": "Hello"}
    (message,) = await world.messages(channel="chat")
    assert (message["status"], message["providerId"]) == ("sent", "msteams")


async def test_the_token_of_the_bot_is_kept_for_55_minutes_and_shared(
    world: World, bots: Bots, clock: ManualClock
) -> None:
    await make_teams(world, IN_CHANNEL, TO_PERSON)
    for minutes in (0, 54, 2):
        clock.move(minutes * MINUTE)
        await world.trigger()
        await world.work()

    assert [auth for _, auth, _ in bots.messages] == ["Bearer bot-token-1"] * 6 + ["Bearer bot-token-2"] * 3


async def test_a_webhook_never_gets_the_token_of_the_bot(world: World, bots: Bots) -> None:
    await make_teams(world, {"type": "webhook", "endpoint": {"url": HOOK}, "connectionIdentifier": None})

    await world.trigger()
    await world.work()

    assert bots.tokens == []
    assert [(url, auth) for url, auth, _ in bots.messages] == [(HOOK, None)]


async def test_a_card_is_sent_as_a_card(world: World, bots: Bots) -> None:
    card = {"type": "AdaptiveCard", "version": "1.4", "body": []}
    await make_teams(world, IN_CHANNEL)
    await world.make_workflow(step("chat", body=json.dumps(card)), key="card")

    await world.trigger(name="card")
    await world.work()

    ((_, _, body),) = bots.messages
    assert "text" not in body
    assert body["attachments"][0]["content"] == card


NOT_INSTALLED = {"error": {"code": "BadArgument", "message": "Bot is not installed in user's personal scope"}}


@pytest.mark.parametrize(
    ("end", "reply", "attempts"),
    [
        ("/conversations", Reply(status=403, body=NOT_INSTALLED), 1),
        ("/activities", Reply(status=403, body={"error": {"code": "BotNotInConversationRoster"}}), 1),
        ("/activities", Reply(status=403, body={"message": '{"subCode": "MessageWritesBlocked"}'}), 1),
        ("/activities", Reply(status=404, body={"error": {"code": "ConversationNotFound"}}), 1),
        ("/activities", Reply(status=413, body={"error": {"code": "MessageSizeTooBig"}}), 1),
        ("/conversations", Reply(status=429, body={"error": {"code": "Throttled"}}, headers={"Retry-After": "7"}), 2),
        ("/activities", Reply(status=429, body={"error": {"code": "Throttled"}}, headers={"Retry-After": "7"}), 2),
        ("/conversations", Reply(status=412, body={"error": {"code": "PreconditionFailed"}}), 2),
        ("/activities", Reply(status=502), 2),
    ],
)
async def test_what_microsoft_refuses_is_tried_again_if_that_can_help(
    world: World, bots: Bots, clock: ManualClock, end: str, reply: Reply, attempts: int
) -> None:
    await make_teams(world, TO_PERSON)
    bots.refusals[end] = reply
    await world.trigger()
    await world.work()
    clock.move(MINUTE if reply.status != 429 else 8 * SECOND)
    bots.refusals = {}
    await world.work()

    assert sum(url == CONVERSATIONS for url, _, _ in bots.messages) == attempts
    assert await world.statuses() == [["completed" if attempts > 1 else "failed"]]


async def test_a_tenant_that_is_not_known_is_said(world: World, bots: Bots) -> None:
    await make_teams(world, TO_PERSON)
    await world.api.delete("/v1/channel-connections/acme")

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert (bots.tokens, bots.messages) == ([], [])
    assert "The tenant is not known" in str(event)


async def test_a_channel_needs_a_connection_and_a_person_a_connection_or_a_tenant(world: World) -> None:
    await make_teams(world)
    path = ENDPOINTS
    lone = {"connectionIdentifier": None}

    answers = [
        await world.api.post(path, json=of_teams(**one, **lone))
        for one in (IN_CHANNEL, TO_PERSON, {**TO_PERSON, "endpoint": {"userId": PERSON, "tenantId": TENANT}})
    ]

    assert [one.status_code for one in answers] == [422, 422, 201]
    assert "connectionIdentifier" in answers[0].json()["errors"]


async def test_the_service_is_one_of_microsofts(world: World) -> None:
    for address in ("https://evil.example/teams", "http://smba.trafficmanager.net/teams"):
        credentials = TEAMS["credentials"] | {"baseUrl": address}
        refused = await world.api.post("/v1/integrations", json=TEAMS | {"credentials": credentials})
        assert refused.status_code == 422
        assert "baseUrl" in refused.text
