"""Messages to rooms and people of Webex, on both databases, to Webex on loopback."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from tests.engine.support import World, step
from tests.providers.contract.vendor import Reply, Vendor, play
from tests.subscribers.addresses.oauth import open_gateway
from tests.subscribers.addresses.support import ENDPOINTS, WEBEX, connect, create, endpoint

CHAT = step("chat", body="Hello")
MESSAGES = "https://webexapis.com/v1/messages"


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with play(lambda _: Reply(body='{"id": "m-1"}')) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


async def make_webex(world: World, *endpoints: dict[str, Any]) -> None:
    await create(world.api, "/v1/integrations", WEBEX)
    await create(world.api, "/v2/subscribers", {"subscriberId": "ada"})
    auth = {"accessToken": "webex-secret-token"}
    await connect(world.api, integrationIdentifier="webex", identifier="acme", subscriberId="ada", auth=auth)
    for fields in endpoints:
        given = {"integrationIdentifier": "webex", "connectionIdentifier": "acme", **fields}
        await create(world.api, ENDPOINTS, endpoint(**given))
    await world.make_workflow(CHAT)


@pytest.mark.parametrize(
    ("kind", "address", "target"),
    [
        ("webex_room", {"roomId": "room-1"}, {"roomId": "room-1"}),
        ("webex_room", {"roomId": "room-1", "parentId": "m-0"}, {"roomId": "room-1", "parentId": "m-0"}),
        ("webex_person", {"personId": "person-1"}, {"toPersonId": "person-1"}),
        ("webex_person", {"personEmail": "ada@example.com"}, {"toPersonEmail": "ada@example.com"}),
    ],
)
async def test_an_endpoint_gets_it_by_the_token_of_its_connection(
    world: World, vendor: Vendor, kind: str, address: dict[str, str], target: dict[str, str]
) -> None:
    await make_webex(world, {"type": kind, "endpoint": address})

    await world.trigger()
    await world.work()

    (request,) = vendor.requests
    assert (request.url, request.headers["authorization"]) == (MESSAGES, "Bearer webex-secret-token")
    assert json.loads(request.body) == {**target, "text": "Hello"}
    assert await world.statuses() == [["completed"]]


async def test_a_text_that_is_too_long_is_not_sent(world: World, vendor: Vendor) -> None:
    await make_webex(world, {"type": "webex_room", "endpoint": {"roomId": "room-1"}})
    await world.make_workflow(step("chat", body="ä" * 3_720), key="long")

    await world.trigger(name="long")
    await world.work()

    (event,) = await world.events()
    assert vendor.requests == []
    assert "7440 bytes" in str(event)


async def test_an_endpoint_without_a_connection_fails_and_says_why(world: World, vendor: Vendor) -> None:
    await make_webex(world, {"type": "webex_room", "endpoint": {"roomId": "room-1"}})
    await world.api.delete("/v1/channel-connections/acme")

    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert vendor.requests == []
    assert "connect Webex again" in str(event)
