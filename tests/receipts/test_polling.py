"""Polled receipts: dead device tokens are detected, each once."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clarion.clock import DAY, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.providers.sending.gateway import ProviderGateway
from clarion.receipts.polling import poll_receipts
from clarion.vault import Vault
from tests.engine.support import World, details, step
from tests.providers.contract.vendor import Received, Reply, Vendor

COUNT = sql("SELECT count(*) AS n FROM awaited_receipts WHERE environment_id = :environment_id")
GONE = {"status": "error", "message": '"{}" is not a recipient', "details": {"error": "DeviceNotRegistered"}}
OK = {"status": "ok"}
SEND = "https://exp.host/--/api/v2/push/send"
ASK = "https://exp.host/--/api/v2/push/getReceipts"

Ask = Callable[[int], Awaitable[None]]


async def count_tickets(database: Database, environment: Environment) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=environment.id))
    assert row is not None
    return int(row["n"])


@pytest.fixture
def ask(world: World, database: Database, gateway: ProviderGateway, vault: Vault) -> Ask:
    async def ask(after: int) -> None:
        """Let time pass, then poll due tickets."""
        world.clock.move(after)
        await poll_receipts(database, gateway, vault, world.clock.now())

    return ask


def play_expo(vendor: Vendor, receipts: dict[str, Any]) -> None:
    """Answer as Expo does: tickets are named for the tokens, and `receipts` are those that are ready, by token."""

    def answer(request: Received) -> Reply:
        asked = json.loads(request.body)
        if request.url == SEND:
            return Reply(body={"data": {"status": "ok", "id": f"ticket of {asked['to']}"}})
        found = {one: receipts[one.removeprefix("ticket of ")] for one in asked["ids"] if one[10:] in receipts}
        return Reply(body={"data": found})

    vendor.answers = answer


def questions(vendor: Vendor) -> list[list[str]]:
    return [json.loads(one.body)["ids"] for one in vendor.requests if one.url == ASK]


async def send_push(world: World, *tokens: str) -> dict[str, Any]:
    """A push to devices of a person, through Expo; returns the integration."""
    body = {"providerId": "expo", "channel": "push", "active": True, "credentials": {"apiKey": "canary-access-token"}}
    made = await world.api.post("/v1/integrations", json=body)
    assert made.status_code == 201, made.text
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await give_tokens(world, *tokens)
    await world.make_workflow(step("push", subject="Hi", body="Ping"))
    await world.trigger()
    await world.work()
    integration: dict[str, Any] = made.json()
    return integration


async def give_tokens(world: World, *tokens: str) -> None:
    entry = {"providerId": "expo", "credentials": {"deviceTokens": list(tokens)}}
    assert (await world.api.put("/v1/subscribers/ada/credentials", json=entry)).is_success


async def tokens_of(world: World) -> list[str]:
    (entry,) = (await world.api.get("/v2/subscribers/ada")).json()["channels"]
    tokens: list[str] = entry["credentials"]["deviceTokens"]
    return tokens


async def test_a_device_that_is_lost_is_found_out_about_after_a_quarter_of_an_hour(
    world: World, vendor: Vendor, database: Database, ask: Ask
) -> None:
    play_expo(vendor, {"device-lost": GONE})
    await send_push(world, "device-lost")
    await ask(14 * MINUTE)
    assert questions(vendor) == []

    await ask(MINUTE)

    (message,), (event,) = await world.messages(), await world.events()
    assert (message["status"], message["errorId"]) == ("error", "bounced")
    recorded = details(event["jobs"][0])
    assert recorded[-2:] == ["Message bounced", "Invalid push device token was removed from subscriber"]
    assert "device-lost" not in str(event["jobs"][0]["executionDetails"]).replace("ticket of device-lost", "")
    assert await tokens_of(world) == []
    assert await count_tickets(database, world.api.environment) == 0
    await ask(DAY)
    assert len(questions(vendor)) == 1


async def test_one_lost_device_of_several_is_removed_and_the_message_of_the_other_stays_sent(
    world: World, vendor: Vendor, ask: Ask
) -> None:
    play_expo(vendor, {"device-lost": GONE, "device-kept": OK})
    await send_push(world, "device-kept", "device-lost")
    await ask(15 * MINUTE)

    (event,) = await world.events()
    statuses = {one["deviceTokens"][0]: one["status"] for one in await world.messages()}
    assert statuses == {"device-kept": "sent", "device-lost": "error"}
    assert {"Message sent by the provider", "Message bounced"} <= set(details(event["jobs"][0]))
    assert await tokens_of(world) == ["device-kept"]


async def test_what_is_not_known_yet_is_asked_for_again_and_given_up_after_a_day(
    world: World, vendor: Vendor, database: Database, ask: Ask
) -> None:
    receipts: dict[str, Any] = {}
    play_expo(vendor, receipts)
    await send_push(world, "device-one", "device-two")
    await ask(15 * MINUTE)
    await ask(MINUTE)
    assert len(questions(vendor)) == 1
    receipts["device-one"] = {"status": "error", "message": "Too big", "details": {"error": "MessageTooBig"}}
    await ask(15 * MINUTE)
    assert await count_tickets(database, world.api.environment) == 1
    await ask(DAY)

    assert await count_tickets(database, world.api.environment) == 0
    assert [len(one) for one in questions(vendor)] == [2, 2, 1]
    (event,) = await world.events()
    assert details(event["jobs"][0])[-1] == "Message failed"


@pytest.mark.parametrize("reply", [None, Reply(status=503), Reply(body="[]"), Reply(body={"data": [1]})])
async def test_a_provider_that_does_not_answer_is_asked_again(
    world: World, vendor: Vendor, database: Database, ask: Ask, reply: Reply | None
) -> None:
    play_expo(vendor, {})
    await send_push(world, "device-lost")
    vendor.answers = lambda _: reply
    await ask(15 * MINUTE)
    assert await count_tickets(database, world.api.environment) == 1
    play_expo(vendor, {"device-lost": GONE})
    await ask(15 * MINUTE)

    assert await tokens_of(world) == []


async def test_nobody_is_asked_for_an_integration_that_is_gone(
    world: World, vendor: Vendor, database: Database, ask: Ask
) -> None:
    play_expo(vendor, {})
    integration = await send_push(world, "device-one")
    assert (await world.api.delete(f"/v1/integrations/{integration['_id']}")).is_success
    await ask(15 * MINUTE)

    assert questions(vendor) == []
    assert await count_tickets(database, world.api.environment) == 0


async def test_many_are_asked_for_in_portions(world: World, vendor: Vendor, database: Database, ask: Ask) -> None:
    tokens = [f"device-{number:03}" for number in range(130)]
    play_expo(vendor, dict.fromkeys(tokens, OK))
    await send_push(world, *tokens[:70])
    await give_tokens(world, *tokens[70:])
    await world.trigger()
    await world.work()
    await ask(15 * MINUTE)

    assert sorted(len(one) for one in questions(vendor)) == [30, 100]
    assert await count_tickets(database, world.api.environment) == 0
