"""The frame around all pages."""

import re

from playwright.async_api import Page, Route, expect

from tests.browser.conftest import OpenPage, list_axe_problems
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk, make_desk

WORKFLOW = {
    "name": "Order shipped",
    "workflowId": "order-shipped",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}],
}


async def open_palette(page: Page, text: str) -> None:
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search people").fill(text)


async def test_every_page_of_the_navigation_opens_with_the_focus_on_its_heading(desk: Desk, page: Page) -> None:
    await desk.open(page)
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    await expect(links.first).to_be_visible()
    names = await links.all_inner_texts()
    for name in [*names[1:], names[0]]:
        await links.get_by_text(name, exact=True).click()
        heading = page.get_by_role("heading", level=1, name=name)
        await expect(heading).to_be_focused()
        await expect(page).to_have_title(re.compile(f"^{name}"))


async def test_a_page_that_does_not_exist_leads_back(desk: Desk, page: Page) -> None:
    await desk.open(page, "/nothing-here")

    await expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    await page.get_by_role("link", name="Go to overview").click()
    await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


async def test_an_environment_that_cannot_be_entered_offers_those_that_can(desk: Desk, page: Page) -> None:
    await desk.open(page)
    await page.goto(f"{desk.service.address}/dashboard/e/unknown/activity")

    await expect(page.get_by_role("heading", name="You cannot enter this environment")).to_be_visible()
    await page.get_by_role("link", name="Development", exact=True).click()
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


async def test_another_environment_shows_the_same_page_where_it_exists(desk: Desk, page: Page) -> None:
    other = await make_desk(desk.team)
    for one in (desk, other):
        await one.call("POST", "/v2/workflows", WORKFLOW)
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada"})
    switch = page.get_by_label("Environment")
    places = {
        "/topics": "/topics",
        "/activity?status=failed": "/activity?status=failed",
        "/workflows/order-shipped": "/workflows/order-shipped",
        "/subscribers/ada": "/subscribers",
        "/integrations/0193": "/integrations",
    }
    for here, there in places.items():
        await desk.open(page, here)
        await switch.focus()
        await switch.select_option(other.identifier)
        await page.wait_for_url(other.address_of(there))
        await expect(switch).to_be_focused()
    page.__dict__["problems"].clear()


async def test_production_is_marked_in_words(desk: Desk, page: Page) -> None:
    shop = await make_desk(desk.team, type="prod")
    await shop.open(page)
    header = page.get_by_role("banner")
    await expect(header.locator("strong").get_by_text("Production")).to_be_visible()

    await header.get_by_label("Environment").select_option(label="Production")
    await expect(header.get_by_text("Live", exact=True)).to_be_visible()
    await header.get_by_label("Environment").select_option(desk.identifier)
    await expect(header.get_by_text("Live", exact=True)).to_be_hidden()


async def test_the_palette_finds_people_ids_pages_and_actions(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "u-1", "firstName": "Ada", "lastName": "Lovelace"})
    await desk.call("POST", "/v2/workflows", WORKFLOW)
    await desk.call("POST", "/v1/events/trigger", {"name": "order-shipped", "to": "u-1", "transactionId": "order-77"})
    await desk.open(page)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()

    await open_palette(page, "lovelace")
    await expect(page.get_by_role("option", name="Ada Lovelace")).to_be_visible()
    await page.keyboard.press("Enter")
    await page.wait_for_url(desk.address_of("/subscribers/u-1"))
    await expect(page.get_by_role("heading", level=1)).to_be_focused()

    await open_palette(page, "order-77")
    await page.get_by_role("option", name="order-77").click()
    await page.wait_for_url(desk.address_of("/activity?transactionId=order-77"))

    await page.get_by_role("button", name="Search or jump to").click()
    await expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("Ada Lovelace")
    await page.get_by_role("combobox", name="Search people").fill("theme dark")
    await page.keyboard.press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await open_palette(page, "no such thing at all")
    await expect(page.get_by_text("Nothing matches")).to_be_visible()


async def test_a_viewer_finds_no_action_that_they_may_not_do(desk: Desk, page: Page) -> None:
    await desk.open(page, role="viewer")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await open_palette(page, "workflow")

    await expect(page.get_by_role("option", name="Workflows")).to_be_visible()
    await expect(page.get_by_role("option", name="Create a workflow")).to_have_count(0)


async def test_keys_lead_to_pages_and_list_themselves(desk: Desk, page: Page) -> None:
    await desk.open(page)
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("t")
    await expect(page.get_by_role("heading", level=1, name="Topics")).to_be_visible()
    await page.keyboard.press("Shift+?")

    await expect(page.get_by_role("dialog", name="Keys").get_by_text("Search, jump and act")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_status_line_shows_the_connection_and_the_version(desk: Desk, page: Page) -> None:
    await desk.open(page)
    status = page.get_by_role("contentinfo")
    await expect(status).to_contain_text("Connected")
    await expect(status).to_contain_text("No backlog")
    await expect(status).to_contain_text(re.compile(r"Clarion \d"))

    await page.context.set_offline(True)
    await expect(status).to_contain_text("Not connected")
    await page.context.set_offline(False)
    await expect(status).not_to_contain_text("Not connected")
    page.__dict__["problems"].clear()


async def test_a_page_whose_file_is_gone_offers_to_load_the_new_version(desk: Desk, page: Page) -> None:
    async def vanish(route: Route) -> None:
        await route.fulfill(status=404)

    await desk.open(page)
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await page.route("**/dashboard/assets/page-*.js", vanish)
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Topics").click()
    await expect(page.get_by_role("heading", name="This page could not be loaded")).to_be_visible()
    await page.unroute("**/dashboard/assets/page-*.js")
    await page.get_by_role("button", name="Load again").click()

    await expect(page.get_by_role("heading", level=1, name="Topics")).to_be_visible()
    page.__dict__["problems"].clear()


async def test_the_menu_of_a_phone_leads_to_all_pages_and_signing_out_ends_the_session(
    desk: Desk, make_page: OpenPage
) -> None:
    page = await make_page(width=390)
    await desk.team.cookie_of("viewer")
    await page.goto(desk.address_of("/"))
    await page.get_by_label("Email address").fill("viewer@example.com")
    await page.get_by_label("Password", exact=True).fill("correct horse battery")
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("dialog", name="Menu").get_by_role("link", name="Audit log").click()
    await expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_focused()
    await expect(page.get_by_role("dialog")).to_have_count(0)

    await page.get_by_role("button", name=re.compile("Your account")).click()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", level=1, name="Sign in")).to_be_visible()
    page.__dict__["problems"].clear()


async def test_the_shell_is_accessible_and_fits_a_phone(desk: Desk, make_page: OpenPage) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "u-1", "firstName": "عائشة", "lastName": "x" * 90})
    for width, scheme in [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]:
        page = await make_page(width=width, color_scheme=scheme)
        await desk.open(page, "/topics")
        await expect(page.get_by_role("contentinfo")).to_contain_text("Connected")
        await page.get_by_role("button", name=re.compile("Your account")).click()
        assert (await list_axe_problems(page), await overflow_of(page)) == ([], 0), (width, scheme)
        await page.keyboard.press("Escape")
        await open_palette(page, "عائشة")
        await expect(page.get_by_role("option", name="عائشة")).to_be_visible()
        assert (await list_axe_problems(page), await overflow_of(page)) == ([], 0), (width, scheme)
