"""What all forms of the dashboard have in common."""

import asyncio

from playwright.async_api import Page, Route, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import forget_refusals


async def test_a_refusal_stands_at_its_field_alone_and_the_cursor_is_there(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers")
    await page.get_by_role("button", name="New subscriber").first.click()
    form = page.get_by_role("dialog", name="New subscriber")
    await form.get_by_label("Subscriber id").fill("ada")
    await form.get_by_label("Time zone").fill("Mars/One")
    await form.get_by_role("button", name="Create subscriber").click()

    zone = form.get_by_label("Time zone")
    await expect(zone).to_be_focused()
    assert "must be an IANA time zone" in (await zone.evaluate(DESCRIPTION))
    await expect(form.get_by_role("alert")).to_have_count(0)
    forget_refusals(page)

    await zone.fill("")
    await form.get_by_label("Custom data").fill("[1]")
    await form.get_by_role("button", name="Create subscriber").click()
    await expect(form.get_by_label("Custom data")).to_be_focused()


async def test_a_refusal_that_is_about_no_field_is_shown_with_its_request(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/topics", {"key": "news"})
    await desk.open(page, "/topics")
    await page.get_by_role("button", name="New topic").first.click()
    form = page.get_by_role("dialog", name="New topic")
    await form.get_by_label("Key").fill("news")
    await form.get_by_role("button", name="Create topic").click()
    await expect(form.get_by_role("alert")).to_contain_text("Request")
    forget_refusals(page)
    await form.get_by_role("button", name="Cancel").click()
    await expect(form).to_have_count(0)


async def test_a_form_that_is_being_sent_keeps_the_focus_and_is_sent_once(desk: Desk, page: Page) -> None:
    requests = 0
    go_on = asyncio.Event()

    async def wait(route: Route) -> None:
        nonlocal requests
        requests += route.request.method == "POST"
        await go_on.wait()
        await route.continue_()

    await page.route("**/v2/topics*", wait)
    go_on.set()
    await desk.open(page, "/topics")
    await page.get_by_role("button", name="New topic").first.click()
    go_on.clear()
    form = page.get_by_role("dialog", name="New topic")
    await form.get_by_label("Key").fill("news")
    button = form.get_by_role("button", name="Create topic")
    await button.focus()
    for _ in range(3):
        await page.keyboard.press("Enter")
    await expect(button).to_have_attribute("aria-busy", "true")
    await expect(button).to_be_focused()
    go_on.set()
    await expect(page.get_by_role("heading", level=1, name="news")).to_be_visible()
    assert requests == 1


DESCRIPTION = """field => field.getAttribute('aria-describedby').split(' ')
    .map(id => document.getElementById(id).textContent).join(' ')"""
