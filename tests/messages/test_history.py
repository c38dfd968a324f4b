"""One message with its attempts and receipts."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import HOUR, ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, in_app
from tests.support import Api, MakeApi


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


async def get_only(world: World) -> dict[str, Any]:
    (listed,) = await world.messages()
    response = await world.api.get(f"/v1/messages/{listed['_id']}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    assert {name: found[name] for name in listed} == listed
    return found


async def test_a_message_is_shown_with_each_attempt_to_send_it(world: World) -> None:
    async with account(world, "a") as first, account(world, "b", "mailgun"):
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        found = await get_only(world)
        failed, sent = found["attempts"]
        assert (failed["integration"], failed["success"]) == ("a", False)
        assert failed["error"] == "Email Webhook answered 400: ok"
        assert failed["answer"]["status"] == 400
        assert all(one["milliseconds"] >= 0 for one in (failed, sent))
        assert (sent["integration"], sent["success"], sent["detail"]) == ("b", True, "Message sent")
        assert found["integration"] == "b"
        assert found["providerMessageId"] == "<1@mg>"
        assert "retryAt" not in found
        assert found["receipts"] == []


async def test_a_message_that_waits_says_when_it_is_tried_again(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down()
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        waiting = await get_only(world)
        for _ in range(8):
            await world.work(after=HOUR)
        given_up = await get_only(world)
        assert (len(waiting["attempts"]), "givenUpAt" in waiting) == (1, False)
        assert waiting["retryAt"] > "2026-01-01T00:00:00.000Z"
        assert (len(given_up["attempts"]), "retryAt" in given_up) == (8, False)
        assert given_up["givenUpAt"] == given_up["attempts"][-1]["at"]


async def test_an_in_app_message_has_no_attempts(world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    await world.trigger(ADA)
    await world.work()

    found = await get_only(world)

    assert (found["attempts"], found["receipts"], "integration" in found) == ([], [], False)


async def test_a_message_of_another_environment_is_not_found(world: World, other_api: Api, make_api: MakeApi) -> None:
    await world.make_workflow(in_app("Hi"))
    await world.trigger(ADA)
    await world.work()
    found = await get_only(world)
    writer = await make_api(scopes=frozenset({Scope.MESSAGES_WRITE}))

    assert (await other_api.get(f"/v1/messages/{found['_id']}")).status_code == 404
    assert (await world.api.get("/v1/messages/x")).status_code == 404
    assert (await writer.get(f"/v1/messages/{found['_id']}")).status_code == 403
