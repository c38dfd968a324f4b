"""axe finds nothing against WCAG 2.2 AA on the element and the demo page, light and dark, wide and narrow."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenPage, list_axe_problems
from tests.browser.element import Inbox, put_inbox_page
from tests.browser.service import Service
from tests.browser.site import ProductSite

# The database changes nothing about the looks.
pytestmark = pytest.mark.parametrize("served", ["sqlite"], indirect=True)

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_element_is_accessible(
    served: Service, product: ProductSite, make_page: OpenPage, scheme: str, width: int
) -> None:
    person = served.new_person()
    await served.notify(person, "invitation", title="Party")
    await served.notify(person, "alert", title="Alert")
    await served.notify(person, "mention", title="Mention")
    page = await make_page(width=width, color_scheme=scheme)
    tabs = [{"label": "All"}, {"label": "Mentions", "tags": ["mention"]}]
    await page.goto(put_inbox_page(product, served, person, tabs=tabs))
    inbox = Inbox(page)
    await inbox.open()
    await expect(inbox.items).to_have_count(3)
    await inbox.press_tool("Mention", "Mark as read")

    await inbox.press_tool("Mention", "Snooze")
    await expect(inbox.root.get_by_role("button", name="In an hour")).to_be_focused()
    assert await list_axe_problems(page) == []
    await page.keyboard.press("Escape")

    await inbox.press_tool("Alert", "Archive")
    await expect(inbox.message).to_be_visible()
    assert await list_axe_problems(page) == []

    await inbox.button("Preferences").click()
    await inbox.panel.get_by_role("switch", name="Only at these times").check()
    await expect(inbox.panel.get_by_label("Monday: From")).to_be_visible()
    assert await list_axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_demo_page_is_accessible_and_shows_arrivals(
    served: Service, make_page: OpenPage, scheme: str, width: int
) -> None:
    page = await make_page(width=width, color_scheme=scheme)
    await page.goto(f"{served.address}/demo")
    items = page.locator("#list .item")
    await expect(page.locator("#send")).to_be_enabled()
    await expect(page.locator("#list").locator(".item, .empty").first).to_be_visible()
    before = await items.count()

    await page.locator("#send").click()

    await expect(page.locator("#status")).to_have_text("Sent.")
    await expect(items).to_have_count(before + 1)
    await expect(page.locator("#bell .badge")).to_be_visible()
    assert await list_axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
