"""Connections of a person: workspaces and the addresses in them."""

from playwright.async_api import Page, expect

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
