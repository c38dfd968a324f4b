"""Environment variables: values per environment, secrets masked."""

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems


async def clear(desk: Desk) -> None:
    """Variables belong to the organization, which all tests share."""
    async with await desk.team.client("owner", desk.identifier) as owner:
        for variable in (await owner.get("/v1/environment-variables")).json():
            await owner.delete(f"/v1/environment-variables/{variable['key']}")


async def test_a_variable_is_made_changed_and_deleted(desk: Desk, page: Page) -> None:
    await clear(desk)
    name = desk.environment["name"]
    await desk.open(page, "/variables")
    await page.get_by_role("button", name="New variable").first.click()
    await page.get_by_label("Key").fill("SUPPORT_URL")
    await page.get_by_label(f"Value in {name}", exact=True).fill("https://help.example.com")
    await page.get_by_role("button", name="Create variable").click()
    row = page.get_by_role("row").filter(has_text="SUPPORT_URL")
    await expect(row).to_contain_text("https://help.example.com")
    await expect(row).to_contain_text("no value")

    await row.get_by_role("button", name="Actions for SUPPORT_URL").click()
    await page.get_by_role("button", name="Edit", exact=True).click()
    await page.get_by_label("Secret").check()
    await page.get_by_label(f"Value in {name}", exact=True).fill("very-secret-value")
    await page.get_by_role("button", name="Save variable").click()
    await expect(row).to_contain_text("••••••••")
    assert "very-secret-value" not in await page.content()
    assert await list_problems(page) == []

    await row.get_by_role("button", name="Actions for SUPPORT_URL").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("SUPPORT_URL")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("There are no variables yet")).to_be_visible()


async def test_a_viewer_is_told_why_variables_do_not_change(desk: Desk, page: Page) -> None:
    await desk.open(page, "/variables", role="viewer")
    await expect(page.get_by_text("Changing them needs the role of an admin")).to_be_visible()
    await expect(page.get_by_role("button", name="New variable")).to_have_count(0)
