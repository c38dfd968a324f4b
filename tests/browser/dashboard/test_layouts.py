"""Layouts: the list, and the editor with its preview."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

BODY = """<html><head><style>
p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) { p { color: rgb(200, 201, 202) !important } }
</style></head><body><h1>Acme</h1>{{content}}<p>Dear {{subscriber.firstName}}</p></body></html>"""


async def make_layout(desk: Desk, key: str = "news", body: str = BODY) -> Any:
    await desk.call("POST", "/v2/layouts", {"layoutId": key, "name": key.title()})
    return await save_body(desk, key, body)


async def save_body(desk: Desk, key: str, body: str, name: str | None = None) -> Any:
    values = {"email": {"body": body, "editorType": "html"}}
    return await desk.call("PUT", f"/v2/layouts/{key}", {"name": name or key.title(), "controlValues": values})


async def write_body(page: Page, text: str) -> None:
    await page.get_by_role("textbox", name="Body").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()


def picture_of(page: Page) -> Any:
    return page.get_by_role("region", name="Preview").frame_locator("iframe")


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


async def test_a_layout_is_made_written_previewed_and_saved(desk: Desk, page: Page) -> None:
    await desk.open(page, "/layouts")
    await page.get_by_role("button", name="New layout").first.click()
    await page.get_by_label("Name").fill("Monthly news")
    await expect(page.get_by_label("Identifier")).to_have_value("monthly-news")
    await page.get_by_role("button", name="Create layout").click()

    await expect(page.get_by_role("heading", level=1, name="Monthly news")).to_be_visible()
    await page.get_by_role("radio", name="HTML").check()
    await expect(picture_of(page).get_by_text("Dynamic placeholder content")).to_be_visible()
    await write_body(page, "<html><body><h1>Acme</h1>{{content}}</body></html>")
    await expect(picture_of(page).get_by_role("heading", name="Acme")).to_be_visible()
    await save(page)

    saved = await desk.call("GET", "/v2/layouts/monthly-news")
    assert saved["controls"]["values"]["email"]["editorType"] == "html"
    assert "<h1>Acme</h1>" in saved["controls"]["values"]["email"]["body"]
    await expect(page.get_by_text("No workflow uses it yet")).to_be_visible()


async def test_the_preview_shows_both_widths_both_themes_and_a_person(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada"})
    await make_layout(desk)
    await desk.open(page, "/layouts/news")
    text = picture_of(page).locator("p")
    await expect(text).to_have_css("color", "rgb(1, 2, 3)")
    await page.get_by_role("radio", name="Dark").check()
    await expect(text).to_have_css("color", "rgb(200, 201, 202)")
    frame = page.locator("iframe")
    await expect(frame).to_have_attribute("width", "600")
    await page.get_by_role("radio", name="Phone, 390 pixels").check()
    await expect(frame).to_have_attribute("width", "390")
    await page.get_by_role("combobox", name="Person").fill("ada")
    await page.get_by_role("option", name="Ada").click()
    await expect(text).to_have_text("Dear Ada")


@pytest.mark.usefixtures("languages")
async def test_the_preview_is_in_the_chosen_language_and_missing_texts_are_told(desk: Desk, page: Page) -> None:
    await make_layout(desk, body="<html><body>{{t.hello}} {{t.bye}} {{content}}</body></html>")
    await desk.call("PUT", "/v2/layouts/news", {"name": "News", "isTranslationEnabled": True})
    for locale, texts in (("en_US", {"hello": "Good day"}), ("de_DE", {"hello": "Guten Tag", "bye": "Tschüss"})):
        body = {"resourceId": "news", "resourceType": "layout", "locale": locale, "content": texts}
        await desk.call("POST", "/v2/translations", body)
    await desk.open(page, "/layouts/news")
    preview = page.get_by_role("region", name="Preview")
    await expect(picture_of(page).get_by_text("Good day")).to_be_visible()
    await expect(preview.get_by_text("their keys are shown: bye")).to_be_visible()
    await expect(page.get_by_text("there is no text for it in en_US, the default language")).to_be_visible()

    await preview.get_by_label("Language", exact=True).select_option("de_DE")

    await expect(picture_of(page).get_by_text("Guten Tag Tschüss")).to_be_visible()
    await expect(preview.get_by_text("their keys are shown")).to_have_count(0)


async def test_a_body_without_a_place_for_the_content_is_told_of(desk: Desk, page: Page) -> None:
    await make_layout(desk)
    await desk.open(page, "/layouts/news")
    await write_body(page, "<html><body>Nothing here</body></html>")
    preview = page.get_by_role("region", name="Preview")
    await expect(preview.get_by_role("status").first).to_contain_text("content")
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(picture_of(page).get_by_role("heading", name="Acme")).to_be_visible()


async def test_two_people_who_edit_one_layout_merge_what_they_did(desk: Desk, make_page: OpenPage) -> None:
    await make_layout(desk)
    page = await make_page()
    await desk.open(page, "/layouts/news")
    await write_body(page, "<html><body>{{content}} mine</body></html>")
    await save_body(desk, "news", BODY, name="Theirs")

    await page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="Somebody else has saved this layout")
    await dialog.get_by_role("button", name="Save the merged layout").click()
    await expect(page.get_by_role("heading", level=1, name="Theirs")).to_be_visible()
    saved = await desk.call("GET", "/v2/layouts/news")
    assert saved["name"] == "Theirs"
    assert "mine" in saved["controls"]["values"]["email"]["body"]


async def test_layouts_are_found_copied_made_the_default_and_deleted(desk: Desk, page: Page) -> None:
    await make_layout(desk, "news")
    await make_layout(desk, "bills")
    await desk.open(page, "/layouts")
    await expect(row_of(page, "News")).to_contain_text("Default")
    await page.get_by_role("button", name="Actions for Bills").click()
    await page.get_by_role("button", name="Make it the default").click()
    await expect(row_of(page, "Bills")).to_contain_text("Default")

    await page.get_by_role("button", name="Actions for News").click()
    await page.get_by_role("button", name="Duplicate").click()
    await page.get_by_role("dialog").get_by_role("button", name="Duplicate").click()
    await expect(page.get_by_role("heading", level=1, name="News copy")).to_be_visible()
    await page.get_by_role("link", name="All layouts").click()

    await page.get_by_role("button", name="Actions for News", exact=True).click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("news")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("link", name="News", exact=True)).to_have_count(0)
    await page.get_by_role("searchbox", name="Search").fill("bil")
    await expect(page.get_by_role("row")).to_have_count(2)


async def test_a_viewer_reads_layouts_and_is_told_why_nothing_changes(desk: Desk, page: Page) -> None:
    await make_layout(desk)
    await desk.open(page, "/layouts/news", role="viewer")
    await expect(page.get_by_text("Changing it needs the role of an author")).to_be_visible()
    await expect(picture_of(page).get_by_role("heading", name="Acme")).to_be_visible()
    await expect(page.get_by_label("Name")).to_be_disabled()
    await expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)


async def test_layouts_are_accessible_and_fit(desk: Desk, page: Page) -> None:
    await make_layout(desk)
    found: list[str] = []
    for path in ("/layouts", "/layouts/news"):
        await desk.open(page, path)
        await expect(page.get_by_text("News").first).to_be_visible()
        found += [f"{path}: {problem}" for problem in await list_problems(page)]
    assert found == []


async def test_a_long_body_scrolls_and_is_reached_by_keyboard(desk: Desk, page: Page) -> None:
    await make_layout(desk, body=BODY.replace("<h1>", "<p>A line</p>\n" * 60 + "<h1>"))
    await desk.open(page, "/layouts/news")
    await expect(page.get_by_role("textbox", name="Body")).to_be_visible()
    assert await list_problems(page) == []
