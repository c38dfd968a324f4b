"""HTTP steps in the editor: filled in, saved, and tried against a server on loopback."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import INBOX, add_step, make_workflow, open_editor, read_workflow, save, write
from tests.sending.requests.support import serving


async def test_a_step_is_filled_in_saved_and_tried(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    async with serving() as server:
        await open_editor(desk, page)
        await add_step(page, "HTTP request")
        await page.get_by_label("Method").select_option("GET")
        await write(page, "URL", server.url("/people"))
        await page.get_by_role("button", name="Add to headers").click()
        await page.get_by_label("Name", exact=True).last.fill("X-Key")
        await page.get_by_label("Value", exact=True).last.fill("{{payload.key}}")
        await page.get_by_label("If it fails", exact=True).select_option("The run goes on")
        assert await list_problems(page) == []
        await save(page)
        await page.get_by_role("link", name="Preview", exact=True).first.click()
        await page.get_by_role("button", name="Make the request").click()
        await expect(page.get_by_text("200 after")).to_be_visible()
        await expect(page.get_by_label("What later steps see")).to_contain_text("pro")

        assert [request.path for request in server.requests] == ["/people"]
    step = (await read_workflow(desk))["steps"][1]
    assert step["controlValues"] == {
        "method": "GET",
        "url": server.url("/people"),
        "headers": [{"key": "X-Key", "value": "{{payload.key}}"}],
        "onFailure": "continue",
    }


async def test_an_author_fills_in_what_is_no_new_url(desk: Desk, page: Page) -> None:
    fetch = {"name": "Fetch", "type": "http_request", "controlValues": {"url": "https://example.com/a"}}
    await make_workflow(desk, fetch)
    await open_editor(desk, page, "?step=fetch", role="author")

    await expect(page.get_by_text("Making the request needs the role of an admin")).to_be_visible()
    await expect(page.get_by_role("button", name="Make the request")).to_have_count(0)
