"""Connections of a person: workspaces and the addresses in them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

SLACK = {
    "providerId": "slack", "channel": "chat", "identifier": "slack-acme", "name": "Slack", "active": True,
    "credentials": {"applicationId": "A1", "clientId": "1.2", "secretKey": "s3cret"},
}  # fmt: skip
CONNECTION = {
    "integrationIdentifier": "slack-acme", "subscriberId": "ada", "identifier": "acme",
    "workspace": {"id": "T1", "name": "Acme Workspace"}, "auth": {"accessToken": "xoxb-very-secret"},
}  # fmt: skip
ENDPOINT = {
    "integrationIdentifier": "slack-acme", "subscriberId": "ada", "identifier": "general",
    "connectionIdentifier": "acme", "type": "slack_channel", "endpoint": {"channelId": "C0123"},
}  # fmt: skip


async def make_connection(desk: Desk) -> None:
    await desk.call("POST", "/v1/integrations", SLACK)
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada"})
    await desk.call("POST", "/v1/channel-connections", CONNECTION)
    await desk.call("POST", "/v1/channel-endpoints", ENDPOINT)


async def test_connections_are_shown_without_their_secrets_and_removed(desk: Desk, page: Page) -> None:
    await make_connection(desk)
    await desk.open(page, "/subscribers/ada/channels")
    await expect(page.get_by_role("table", name="Connected workspaces")).to_contain_text("Acme Workspace")
    endpoints = page.get_by_role("table", name="Addresses at integrations")
    await expect(endpoints).to_contain_text("channelId: C0123")
    assert "xoxb-very-secret" not in await page.content()
    assert await list_problems(page) == []

    await page.get_by_role("button", name="Remove general").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    await expect(endpoints).to_have_count(0)
    assert (await desk.call("GET", "/v1/channel-endpoints?subscriberId=ada"))["data"] == []


async def test_a_viewer_sees_connections_and_removes_none(desk: Desk, page: Page) -> None:
    await make_connection(desk)
    await desk.open(page, "/subscribers/ada/channels", role="viewer")
    await expect(page.get_by_text("Acme Workspace")).to_be_visible()
    await expect(page.get_by_role("button", name="Remove acme")).to_have_count(0)


def at(**shift: int) -> str:
    return (datetime.now(UTC) + timedelta(**shift)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("auth", "told"),
    [
        ({}, "Works"),
        ({"refreshToken": "r", "expiresAt": at(hours=-1)}, "is renewed when it is used"),
        ({"expiresAt": at(hours=5)}, "Token ends"),
        ({"expiresAt": at(hours=-1)}, "Token has ended: connect again"),
    ],
)
async def test_a_connection_says_how_long_its_token_works(
    desk: Desk, page: Page, auth: dict[str, str], told: str
) -> None:
    await make_connection(desk)
    workspace = CONNECTION["workspace"]
    body = {"workspace": workspace, "auth": {"accessToken": "xoxb-other", **auth}}
    await desk.call("PATCH", "/v1/channel-connections/acme", body)
    await desk.open(page, "/subscribers/ada/channels")
    await expect(page.get_by_role("table", name="Connected workspaces")).to_contain_text(told)


@pytest.mark.parametrize(("needs_consent", "told"), [(True, "Connect again"), (False, "Not renewed")])
async def test_trouble_of_a_connection_is_shown(desk: Desk, page: Page, *, needs_consent: bool, told: str) -> None:
    await make_connection(desk)

    async def add_trouble(route: Route) -> None:
        answer = await route.fetch()
        found: dict[str, Any] = await answer.json()
        message = "Slack gave no new token (invalid_refresh_token)"
        found["data"][0]["trouble"] = {"at": at(minutes=-5), "message": message, "needsConsent": needs_consent}
        await route.fulfill(response=answer, body=json.dumps(found))

    await page.route("**/v1/channel-connections?*", add_trouble)
    await desk.open(page, "/subscribers/ada/channels")
    table = page.get_by_role("table", name="Connected workspaces")
    await expect(table).to_contain_text(told)
    await expect(table).to_contain_text("invalid_refresh_token")
    assert await list_problems(page) == []
