"""The versions of a workflow."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems


async def make_versions(desk: Desk) -> None:
    def body(text: str) -> dict[str, object]:
        return {"name": "Welcome", "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": text}}]}

    await desk.call("POST", "/v2/workflows", {"workflowId": "welcome", "active": True, **body("First text")})
    await desk.call("PUT", "/v2/workflows/welcome", body("Second text"))
    await desk.call("PUT", "/v2/workflows/welcome", body("Third text"))


async def test_versions_show_who_made_them_and_what_they_changed(desk: Desk, page: Page) -> None:
    await make_versions(desk)
    await desk.open(page, "/workflows/welcome/versions")
    versions = page.get_by_role("navigation", name="Versions")

    await expect(versions.get_by_role("link")).to_have_count(3)
    await expect(versions.get_by_role("link").first).to_contain_text("Current")
    await expect(versions.get_by_role("link").first).to_contain_text("First key")
    changes = page.get_by_role("table", name="Fields of Inbox")
    await expect(changes).to_contain_text("Second text")
    await expect(changes).to_contain_text("Third text")

    await versions.get_by_role("link", name="Version 1").click()
    await expect(page.get_by_text("This is the first version")).to_be_visible()
    await page.get_by_label("Compare with").select_option("The current version")
    await expect(page.get_by_text("From version 1 to version 3")).to_be_visible()
    await expect(changes).to_contain_text("First text")


async def test_a_version_is_restored_after_a_question(desk: Desk, page: Page) -> None:
    await make_versions(desk)
    await desk.open(page, "/workflows/welcome/versions?version=1")
    await page.get_by_role("button", name="Restore this version").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore").click()

    await expect(page.get_by_role("navigation", name="Versions").get_by_role("link")).to_have_count(4)
    await expect(page.get_by_role("heading", name="Version 4")).to_be_visible()
    saved = await desk.call("GET", "/v2/workflows/welcome")
    assert saved["steps"][0]["controlValues"] == {"body": "First text"}


async def test_a_viewer_cannot_restore(desk: Desk, page: Page) -> None:
    await make_versions(desk)
    await desk.open(page, "/workflows/welcome/versions?version=1", role="viewer")

    await expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    await expect(page.get_by_role("button", name="Restore this version")).to_have_count(0)


async def test_versions_are_accessible_and_fit(desk: Desk, page: Page) -> None:
    await make_versions(desk)
    await desk.open(page, "/workflows/welcome/versions")
    await expect(page.get_by_role("table", name="Fields of Inbox")).to_be_visible()

    assert await list_problems(page) == []
