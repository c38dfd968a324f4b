"""Environments and what is taken from one to another."""

import asyncio
from typing import Any

from playwright.async_api import Page, Route, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk, make_desk
from tests.browser.dashboard.looks import list_problems


def workflow(name: str, body: str = "Hello") -> dict[str, Any]:
    steps = [{"name": "Inbox", "stepId": "inbox", "type": "in_app", "controlValues": {"body": body}}]
    return {"name": name, "workflowId": name.lower(), "active": True, "steps": steps}


async def test_an_environment_is_made_changed_and_deleted(desk: Desk, page: Page) -> None:
    name = f"Staging {desk.identifier}"
    await desk.open(page, "/environments")
    await page.get_by_role("button", name="New environment").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.locator("pre")).not_to_be_empty()
    await dialog.get_by_role("button", name="Close", exact=True).last.click()

    await page.get_by_role("button", name=f"Settings of {name}").click()
    await dialog.get_by_label("Time zone").fill("Nowhere/Land")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_label("Time zone")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Time zone").fill("Europe/Athens")
    await dialog.get_by_label("Triggers: a second").fill("50")
    await dialog.get_by_label("Runs and their messages").fill("30")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name=f"Settings of {name}").click()
    await expect(dialog.get_by_label("Triggers: a second")).to_have_value("50")
    await dialog.get_by_role("switch", name="Require a hash").click()
    await expect(page.get_by_text("Saved")).to_be_visible()
    await page.keyboard.press("Escape")

    await page.get_by_role("button", name=f"Delete {name}?").click()
    await expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    await dialog.get_by_label(f"Type {name} to confirm").fill(name)
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("row", name=name)).to_have_count(0)


async def test_replies_and_tracking_are_switched_on_where_one_looks_for_them(desk: Desk, page: Page) -> None:
    await desk.open(page, "/environments")
    settings = page.get_by_role("row", name=desk.identifier).get_by_role("button", name="Settings of")
    await settings.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Track opens").check()
    await dialog.get_by_label("Ask for replies").check()
    assert await list_problems(page) == []
    await page.set_viewport_size({"width": 1280, "height": 800})
    await dialog.get_by_role("button", name="Save").click()
    # The service of the tests has no public address.
    host_of_links = dialog.get_by_label("Host of tracked links")
    await expect(host_of_links).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_text("CLARION_PUBLIC_URL").first).to_be_visible()

    await dialog.get_by_label("Track opens").uncheck()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_label("Host for replies")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Host for replies").fill("in.example.com")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    environment = await desk.call("GET", "/v1/environments/me")
    assert environment["replies"] == {"enabled": True, "domain": "in.example.com"}
    await settings.click()
    await expect(dialog.get_by_label("Host for replies")).to_have_value("in.example.com")


async def test_the_host_of_links_says_whether_it_was_proven(desk: Desk, page: Page) -> None:
    answer = {"opens": True, "clicks": False, "domain": "links.example.com"}

    async def tracked(route: Route) -> None:
        reply = await route.fetch()
        listed = [one | {"tracking": answer} for one in await reply.json()]
        await route.fulfill(response=reply, json=listed)

    await page.route("**/v1/environments", tracked)
    await desk.open(page, "/environments")
    settings = page.get_by_role("row", name=desk.identifier).get_by_role("button", name="Settings of")
    await settings.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Track opens")).to_be_checked()
    await expect(dialog.get_by_text("Checked: it leads to this installation.")).to_be_visible()
    await dialog.get_by_label("Host of tracked links").fill("other.example.com")
    await expect(dialog.get_by_text("It is checked when you save")).to_be_visible()


async def test_settings_that_were_saved_close_when_the_list_has_them(desk: Desk, page: Page) -> None:
    """Whoever opens them at once would otherwise see what was stored before, and store that again."""
    await desk.open(page, "/environments")
    settings = page.get_by_role("row", name=desk.identifier).get_by_role("button", name="Settings of")
    await settings.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Triggers: a second").fill("50")
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await page.route("**/v1/environments", hold)
    async with page.expect_request("**/v1/environments"):
        await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_be_visible()
    released.set()

    await expect(dialog).to_have_count(0)
    await settings.click()
    await expect(dialog.get_by_label("Triggers: a second")).to_have_value("50")


@on_both_databases
async def test_a_workflow_is_promoted_and_rolled_back(desk: Desk, page: Page) -> None:
    target = await make_desk(desk.team)
    await desk.call("POST", "/v2/workflows", workflow("Welcome", "New text"))
    await desk.call("POST", "/v2/workflows", workflow("Other"))
    await target.call("POST", "/v2/workflows", workflow("Welcome", "Old text"))
    await desk.open(page, f"/promotion?to={target.identifier}")

    welcome = page.get_by_role("article", name="Welcome")
    await expect(welcome).to_contain_text("Changed")
    await welcome.get_by_text("1 change").click()
    await expect(welcome).to_contain_text("Old text")
    await expect(welcome).to_contain_text("New text")
    await page.get_by_role("article", name="Other").get_by_role("checkbox").uncheck()
    await page.get_by_role("button", name="Publish 1 resource").click()
    await page.get_by_role("dialog").get_by_role("button", name="Publish 1 resource").click()

    await expect(page.get_by_role("heading", name="Published")).to_be_visible()
    assert await body_of(target) == "New text"
    await page.get_by_role("button", name="Roll back Welcome").click()
    await expect(page.get_by_role("table").get_by_text("Rolled back")).to_be_visible()
    assert await body_of(target) == "Old text"
    assert [one["workflowId"] for one in (await target.call("GET", "/v2/workflows"))["workflows"]] == ["welcome"]


async def test_a_viewer_is_told_who_promotes(desk: Desk, page: Page) -> None:
    await desk.open(page, "/promotion", role="viewer")

    await expect(page.get_by_role("alert")).to_contain_text("Your role in this environment is viewer")
    await expect(page.get_by_role("navigation").get_by_role("link", name="Promotion")).to_have_count(0)
    await page.get_by_role("navigation").get_by_role("link", name="Environments").click()
    await expect(page.get_by_role("table", name="Environments of the organization")).to_be_visible()
    await expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)


async def body_of(desk: Desk) -> str:
    found = await desk.call("GET", "/v2/workflows/welcome")
    text: str = found["steps"][0]["controlValues"]["body"]
    return text
