"""The editor of e-mails: kinds of bodies, and the layout."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import MAIL, add_step, make_workflow, open_editor, read_workflow, save
from tests.browser.dashboard.test_layouts import make_layout
from tests.browser.dashboard.vendor import add_integration, mail_vendor, sent_bodies


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


async def test_an_email_is_sent_as_a_test_to_the_one_who_writes_it(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        made = await add_integration(desk, vendor)
        await make_workflow(desk, MAIL)
        await open_editor(desk, page, "?step=mail")
        await page.get_by_role("textbox", name="Subject", exact=True).click()
        await page.keyboard.press("Control+End")
        await page.keyboard.type(", not saved yet")

        await page.get_by_role("button", name="Send test to me").click()

        result = page.get_by_role("region", name="Result", exact=True)
        await expect(result).to_contain_text("vendor-42")
        await expect(page.get_by_text(f"To owner@example.com through {made['identifier']}")).to_be_visible()
        (mail,) = sent_bodies(vendor)
        assert mail["to"] == ["owner@example.com"]
        assert mail["subject"].startswith("[Test] ")
        assert mail["subject"].endswith(", not saved yet")
        assert await list_problems(page) == []


async def test_a_test_without_an_integration_says_where_to_add_one(desk: Desk, page: Page) -> None:
    await make_workflow(desk, MAIL)
    await open_editor(desk, page, "?step=mail")

    await page.get_by_role("button", name="Send test to me").click()

    await expect(page.get_by_role("alert")).to_contain_text("add one first")
    await expect(page.get_by_role("link", name="Add an integration")).to_be_visible()


async def test_a_layout_is_sent_as_a_test_as_it_is_in_the_editor(desk: Desk, page: Page) -> None:
    async with mail_vendor() as vendor:
        await add_integration(desk, vendor)
        await desk.call("POST", "/v2/layouts", {"layoutId": "news", "name": "News"})
        await desk.open(page, "/layouts/news")
        await page.get_by_role("radio", name="HTML").check()
        await page.get_by_role("textbox", name="Body").click()
        await page.keyboard.press("Control+a")
        await page.keyboard.insert_text("<html><body><h1>Not saved yet</h1>{{content}}</body></html>")

        await page.get_by_role("button", name="Send test to me").click()

        await expect(page.get_by_role("region", name="Result", exact=True)).to_contain_text("vendor-42")
        (mail,) = sent_bodies(vendor)
        assert (mail["to"], mail["subject"]) == (["owner@example.com"], "[Test] News")
        assert "Not saved yet" in str(mail)
        assert await list_problems(page) == []


async def test_who_may_not_change_webhooks_is_offered_no_address_for_replies(desk: Desk, page: Page) -> None:
    callback = {"active": True, "url": "https://app.example.com/replies"}
    await make_workflow(desk, {**MAIL, "replyCallback": callback})

    await desk.open(page, "/workflows/welcome?step=mail", role="author")
    switch = page.get_by_label("Post replies to this mail")
    await expect(page.get_by_text("Only who may change webhooks sets where replies go")).to_be_visible()
    await expect(page.get_by_label("Address", exact=True)).to_be_disabled()
    await switch.uncheck()
    await expect(switch).to_be_disabled()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()

    await desk.open(page, "/workflows/welcome?step=mail")
    await page.get_by_text("Replies", exact=True).click()
    await expect(page.get_by_label("Address", exact=True)).to_be_enabled()
    await expect(page.get_by_text("Only who may change webhooks")).to_have_count(0)


async def test_who_may_not_edit_sends_no_tests(desk: Desk, page: Page) -> None:
    await make_workflow(desk, MAIL)
    await desk.open(page, "/workflows/welcome?step=mail", role="viewer")

    await expect(page.get_by_role("region", name="Preview")).to_be_visible()
    await expect(page.get_by_role("button", name="Send test to me")).to_have_count(0)


async def test_remarks_stand_under_their_fields_and_are_no_problems(desk: Desk, page: Page) -> None:
    controls = {"subject": "Hello", "body": '<p>Hi</p><img src="https://example.com/a.png">', "unheardOf": 1}
    await make_workflow(desk, {**MAIL, "controlValues": controls})
    await open_editor(desk, page, "?step=mail")

    remarks = page.get_by_role("region", name="Remarks")
    await expect(remarks).to_contain_text("2 remarks")
    await expect(remarks).to_contain_text("unheardOf")
    await expect(page.get_by_role("list", name="Remarks")).to_contain_text("alt")
    await expect(page.get_by_role("region", name="Problems")).to_have_count(0)
    assert await list_problems(page) == []


async def test_a_new_email_starts_with_the_default_layout(desk: Desk, page: Page) -> None:
    await make_layout(desk)
    await make_workflow(desk, MAIL)
    await open_editor(desk, page)
    await add_step(page, "Email")

    layout = page.get_by_label("Layout", exact=True)
    await expect(layout).to_have_value("news")
    await expect(page.get_by_text("New e-mails start with News, the default")).to_be_visible()
    await layout.select_option("No layout")
    await expect(page.get_by_role("textbox", name="Subject", exact=True)).to_be_visible()
    assert await list_problems(page) == []


async def test_the_preview_of_arabic_runs_from_right_to_left(desk: Desk, page: Page) -> None:
    body = "<html><body><p>{{payload.greeting}}</p></body></html>"
    await make_workflow(desk, {**MAIL, "controlValues": {"subject": "Hello", "body": body}})
    await open_editor(desk, page, "?step=mail&language=ar_EG")
    shown = page.get_by_role("region", name="Preview").frame_locator("iframe").locator("html")
    await expect(shown).to_have_attribute("dir", "rtl")
    await expect(shown).to_have_attribute("lang", "ar-EG")
