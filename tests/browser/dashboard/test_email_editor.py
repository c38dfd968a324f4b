"""The editor of e-mails: kinds of bodies, and the layout."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import MAIL, make_workflow, open_editor, read_workflow, save
from tests.browser.dashboard.test_layouts import make_layout


async def test_a_body_becomes_mjml_with_completion_and_a_preview(desk: Desk, page: Page) -> None:
    await make_workflow(desk, MAIL)
    await open_editor(desk, page, "?step=mail")
    preview = page.get_by_role("region", name="Preview").frame_locator("iframe")
    await expect(preview.get_by_text("Hi")).to_be_visible()
    await page.get_by_role("radio", name="MJML").check()
    body = page.get_by_role("textbox", name="Body", exact=True)
    await expect(body).to_contain_text("<mj-column>")
    await expect(body).to_contain_text("<p>Hi</p>")
    await expect(preview.locator("table").first).to_be_visible()

    await body.click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("<mj-but")
    await expect(page.get_by_role("option", name="mj-button")).to_be_visible()
    await page.keyboard.press("Escape")
    for _ in "<mj-but":
        await page.keyboard.press("Backspace")
    await save(page)
    values = (await read_workflow(desk))["steps"][0]["controlValues"]
    assert values["editorType"] == "mjml"
    assert "<p>Hi</p>" in values["body"]

    await page.get_by_role("radio", name="HTML", exact=True).check()
    await page.get_by_role("radio", name="MJML").check()
    await expect(body).to_contain_text("<p>Hi</p>")
    assert await list_problems(page) == []


async def test_an_email_gets_a_layout_which_is_previewed(desk: Desk, page: Page) -> None:
    await make_layout(desk)
    await make_workflow(desk, MAIL)
    await open_editor(desk, page, "?step=mail")
    await page.get_by_label("Layout", exact=True).select_option("News (default)")
    preview = page.get_by_role("region", name="Preview").frame_locator("iframe")
    await expect(preview.get_by_role("heading", name="Acme")).to_be_visible()
    await expect(preview.get_by_text("Hi")).to_be_visible()
    await save(page)
    assert (await read_workflow(desk))["steps"][0]["controlValues"]["layoutId"] == "news"

    await desk.open(page, "/layouts/news")
    await expect(page.get_by_role("link", name="Welcome")).to_be_visible()


@pytest.mark.usefixtures("languages")
async def test_the_preview_is_in_the_chosen_language(desk: Desk, page: Page) -> None:
    step = {**MAIL, "controlValues": {"subject": "Hello", "body": "<p>{{t.greeting}}</p>"}}
    await make_workflow(desk, step, isTranslationEnabled=True)
    for locale, text in (("en_US", "Good day"), ("de_DE", "Guten Tag")):
        body = {"resourceId": "welcome", "resourceType": "workflow", "locale": locale, "content": {"greeting": text}}
        await desk.call("POST", "/v2/translations", body)
    await open_editor(desk, page, "?step=mail")
    preview = page.get_by_role("region", name="Preview").frame_locator("iframe")
    await expect(preview.get_by_text("Good day")).to_be_visible()
    await page.get_by_label("Language", exact=True).select_option("de_DE")
    await expect(preview.get_by_text("Guten Tag")).to_be_visible()
