"""Contexts: the list, and the data of one."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

ACME = {"type": "tenant", "id": "acme", "data": {"name": "Acme"}}


async def write_data(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Data").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


async def test_a_context_is_made_found_changed_and_deleted(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/contexts", ACME)
    await desk.open(page, "/contexts")
    await page.get_by_role("button", name="New context").click()
    await page.get_by_label("Id", exact=True).fill("zenith")
    await write_data(page, '{"name": "Zenith"}')
    await page.get_by_role("button", name="Create context").click()

    await expect(page.get_by_role("heading", level=1, name="zenith")).to_be_visible()
    await write_data(page, '{"name": "Zenith", "plan": "pro"}')
    await page.get_by_role("button", name="Save data").click()
    await expect(page.get_by_role("button", name="Save data")).to_be_disabled()
    stored = await desk.call("GET", "/v2/contexts/tenant/zenith")
    assert stored["data"] == {"name": "Zenith", "plan": "pro"}

    await page.get_by_role("link", name="All contexts").click()
    await page.get_by_role("searchbox", name="Search").fill("zen")
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.get_by_role("link", name="zenith").click()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("link", name="acme")).to_be_visible()
    await expect(page.get_by_role("link", name="zenith")).to_have_count(0)


async def test_a_hostile_context_stays_text(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/contexts", {**ACME, "data": {"name": "<img src=x onerror=alert(1)>"}})
    await desk.open(page, "/contexts")
    await expect(page.get_by_role("table")).to_contain_text("<img src=x onerror=alert(1)>")


async def test_a_viewer_reads_a_context_and_is_told_why_nothing_changes(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/contexts", ACME)
    await desk.open(page, "/contexts/tenant/acme", role="viewer")
    await expect(page.get_by_text("Changing it needs the role of an author")).to_be_visible()
    await expect(page.get_by_role("button", name="Save data")).to_have_count(0)
    await expect(page.get_by_role("button", name="Delete")).to_have_count(0)


async def test_contexts_are_accessible_and_fit(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/contexts", ACME)
    found: list[str] = []
    for path in ("/contexts", "/contexts/tenant/acme"):
        await desk.open(page, path)
        await expect(page.get_by_text("acme").first).to_be_visible()
        found += [f"{path}: {problem}" for problem in await list_problems(page)]
    assert found == []
