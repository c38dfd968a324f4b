"""An editor with changes that are not saved asks before it is left, whichever way."""

from playwright.async_api import Dialog, Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.test_editor import INBOX, make_workflow, open_editor


async def change(desk: Desk, page: Page) -> None:
    """Come from Workflows to the editor, and change something."""
    await make_workflow(desk, INBOX)
    await desk.open(page, "/workflows")
    await page.get_by_role("main").get_by_role("link", name="Welcome").click()
    await page.get_by_label("Description").fill("Not saved yet")
    await expect(page.get_by_text("Not saved", exact=True)).to_be_visible()


async def follow_link(page: Page) -> None:
    await page.get_by_role("link", name="Activity").click()


async def switch_environment(page: Page) -> None:
    await page.get_by_label("Environment").select_option(label="Production")


async def use_palette(page: Page) -> None:
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search people").fill("topics")
    await page.get_by_role("option", name="Topics").first.click()


async def press_keys(page: Page) -> None:
    await page.get_by_role("heading", level=1).click()
    await page.keyboard.press("g")
    await page.keyboard.press("a")


async def go_back(page: Page) -> None:
    await page.evaluate("history.back()")


async def test_every_way_out_asks_first_and_those_who_stay_lose_nothing(desk: Desk, page: Page) -> None:
    await change(desk, page)
    question = page.get_by_role("dialog", name="Leave without saving?")

    for leave in (follow_link, switch_environment, use_palette, press_keys, go_back):
        await leave(page)
        await expect(question).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(question).to_have_count(0)
        await expect(page).to_have_url(desk.address_of("/workflows/welcome"))
        await expect(page.get_by_label("Description")).to_have_value("Not saved yet")
    await expect(page.get_by_label("Environment")).to_have_value(desk.identifier)

    asked: list[str] = []

    async def accept(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.accept()

    page.on("dialog", accept)
    await page.reload()
    await expect(page.get_by_text("Changes that were not saved are back")).to_be_visible()
    assert asked == ["beforeunload"]


async def test_those_who_agree_to_leave_get_where_they_wanted(desk: Desk, page: Page) -> None:
    await change(desk, page)
    agree = page.get_by_role("button", name="Leave", exact=True)

    await use_palette(page)
    await agree.click()
    await expect(page.get_by_role("heading", level=1, name="Topics")).to_be_visible()

    await page.go_back()
    await expect(page.get_by_text("Changes that were not saved are back")).to_be_visible()
    await go_back(page)
    await agree.click()
    await expect(page.get_by_role("heading", level=1, name="Workflows")).to_be_visible()
    await page.go_forward()
    await expect(page.get_by_label("Description")).to_have_value("Not saved yet")

    await switch_environment(page)
    await agree.click()
    await expect(page.get_by_label("Environment")).not_to_have_value(desk.identifier)


async def test_a_workflow_that_is_deleted_is_left_without_a_question(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)
    await page.get_by_label("Description").fill("Not saved yet")
    await expect(page.get_by_text("Not saved", exact=True)).to_be_visible()

    await page.get_by_role("button", name="Actions for Welcome").click()
    await page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Type welcome to confirm").fill("welcome")
    await dialog.get_by_role("button", name="Delete").click()

    await expect(page).to_have_url(desk.address_of("/workflows"))
