"""A viewer who tries everything: pages show no way to change things, and the server refuses it all the same."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.demo import list_addresses, make_demo_desk
from tests.browser.dashboard.desk import Team

CHANGING = (
    "New ",
    "Add ",
    "Create",
    "Rename",
    "Rotate",
    "Delete",
    "Remove",
    "Revoke",
    "Erase",
    "Redrive",
    "Discard",
    "Publish",
    "Invite",
    "Trigger",
    "Import",
)


async def test_no_page_offers_a_viewer_a_change(team: Team, page: Page) -> None:
    desk = await make_demo_desk(team)
    offered: list[str] = []
    for address in await list_addresses(desk):
        if address == "/account":
            continue
        await desk.open(page, address, role="viewer")
        await page.get_by_role("heading", level=1).first.wait_for()
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        for button in await page.get_by_role("main").get_by_role("button").all():
            if not await button.is_enabled():
                continue
            name = (await button.get_attribute("aria-label")) or await button.inner_text()
            if name.startswith(CHANGING):
                offered.append(f"{address}: {name}")
    assert offered == []
