"""Device tokens and chat webhooks of people are shown to those who may change people, and masked for other members."""
# ruff: noqa: F811

from typing import Any

import pytest

from clarion.http.operation import Operation
from clarion.operations import OPERATIONS
from clarion.vocabulary import Role
from tests.contract.test_isolation import BODIES, MISSING, QUERIES, fill
from tests.engine.conftest import world  # noqa: F401 - a fixture
from tests.engine.support import World, step
from tests.members.support import Browser, SignIn
from tests.support import Site

TOKEN = "canary-token-of-a-device-0123456789"
HOOK = "http://127.0.0.1:9/services/canary-hook-4711"
CANARIES = ("canary-token", "canary-hook")


@pytest.fixture
async def values(world: World) -> dict[str, str]:
    """The values of paths, for a person with credentials, and for a run that failed to reach them there."""
    api = world.api
    for provider, channel, credentials in (
        ("push-webhook", "push", {"webhookUrl": "http://127.0.0.1:9/push", "secretKey": "s"}),
        ("discord", "chat", {}),
    ):
        body = {"providerId": provider, "channel": channel, "active": True, "credentials": credentials}
        made = await api.post("/v1/integrations", json=body)
        assert made.status_code == 201, made.text
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    for provider, own in (("push-webhook", {"deviceTokens": [TOKEN]}), ("discord", {"webhookUrl": HOOK})):
        body = {"providerId": provider, "credentials": own}
        assert (await api.patch("/v1/subscribers/ada/credentials", json=body)).status_code == 200
    await world.make_workflow(step("push", subject="x", body="x"), step("chat", body="x"))
    overrides = {"push": {"deviceTokens": [f"{TOKEN}-of-the-trigger"]}}
    await world.trigger(transactionId="t-1", overrides=overrides)
    await world.trigger(transactionId="t-2")
    await world.work(after=3_600_000)
    event, message = (await world.events())[0], (await world.messages())[0]
    return MISSING | {
        "subscriberId": "ada",
        "workflowId": "welcome",
        "transactionId": "t-1",
        "notificationId": event["_id"],
        "messageId": message["_id"],
    }


def is_read(operation: Operation) -> bool:
    return operation.method == "GET" and not operation.is_for_subscribers and not operation.is_for_members


async def find_canaries(client: Any, values: dict[str, str]) -> set[str]:
    """The operations whose answers show a credential."""
    found = set()
    for operation in filter(is_read, OPERATIONS):
        route = (operation.method, operation.path)
        answer = await client.request(
            operation.method, fill(operation.path, values), json=BODIES.get(route), params=QUERIES.get(route)
        )
        if any(one in answer.text for one in CANARIES):
            found.add(operation.path)
    return found


async def test_credentials_of_people_are_masked_for_those_who_may_not_change_people(
    make_browser: SignIn, site: Site, world: World, values: dict[str, str]
) -> None:
    shown = {role: await find_canaries(await make_browser(role, site.development), values) for role in Role}
    by_key = await find_canaries(world.api, values)

    assert shown[Role.VIEWER] == set()
    assert shown[Role.AUTHOR] == shown[Role.ADMIN] == shown[Role.OWNER] == by_key
    assert {
        "/v2/subscribers/{subscriberId}",
        "/v2/subscribers/{subscriberId}/export",
        "/v1/messages",
        "/v1/notifications/{notificationId}",
    } <= by_key


async def test_a_mask_shows_which_device_and_which_service_it_is(
    make_browser: SignIn, site: Site, values: dict[str, str]
) -> None:
    viewer: Browser = await make_browser(Role.VIEWER, site.development)

    channels = (await viewer.get("/v2/subscribers/ada")).json()["channels"]

    credentials = {one["providerId"]: one["credentials"] for one in channels}
    assert credentials["push-webhook"]["deviceTokens"] == ["…6789"]
    assert credentials["discord"]["webhookUrl"] == "http://127.0.0.1/…"
