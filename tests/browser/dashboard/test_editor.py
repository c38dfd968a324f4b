"""The editor of a workflow."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}
WAIT = {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 10, "unit": "minutes"}}
MAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hello", "body": "<p>Hi</p>"}}


async def make_workflow(desk: Desk, *steps: dict[str, Any], **fields: Any) -> None:
    body = {"name": "Welcome", "workflowId": "welcome", "active": True, "steps": list(steps), **fields}
    await desk.call("POST", "/v2/workflows", body)


async def read_workflow(desk: Desk) -> Any:
    return await desk.call("GET", "/v2/workflows/welcome")


async def open_editor(desk: Desk, page: Page, query: str = "", role: str = "owner") -> None:
    await desk.open(page, f"/workflows/welcome{query}", role=role)
    await expect(page.get_by_role("heading", level=1, name="Welcome")).to_be_visible()


def steps_of(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Steps")


async def add_step(page: Page, kind: str) -> None:
    await steps_of(page).get_by_role("button", name="Add a step at the end").click()
    await steps_of(page).get_by_role("button", name=re.compile(f"^{kind}")).click()


async def write(page: Page, label: str, text: str) -> None:
    """Type into an editor of code, once it is there."""
    field = page.get_by_role("textbox", name=label, exact=True)
    await field.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(text)


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()


async def add_waits(page: Page) -> None:
    await add_step(page, "Digest")
    await page.get_by_label("Amount").fill("5")
    await expect(steps_of(page)).to_contain_text("Waits 5 minutes, then sends one message with everything that came")
    await add_step(page, "Delay")
    await page.get_by_label("Kind").select_option("By a cron expression")
    await page.get_by_label("Cron expression").fill("0 9 * * 1-5")
    await page.get_by_label("Amount").fill("")
    await add_step(page, "Throttle")
    await page.get_by_label("Limit").fill("3")


async def add_messages(page: Page) -> None:
    await add_step(page, "Email")
    await write(page, "Subject", "{{steps.digest.eventCount}} news")
    await write(page, "Body", "<h1>News</h1>")
    for kind in ("SMS", "Chat", "Push"):
        await add_step(page, kind)
        await write(page, "Text", f"Hello by {kind}")
    await write(page, "Title", "News")
    await add_step(page, "Custom")
    await write(page, "Values", '{"colour": "red"}')


async def test_each_kind_of_step_is_added_filled_in_saved_and_there_again(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)

    await add_waits(page)
    await add_messages(page)
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()

    saved = await read_workflow(desk)
    assert [step["type"] for step in saved["steps"]] == [
        "in_app", "digest", "delay", "throttle", "email", "sms", "chat", "push", "custom",
    ]  # fmt: skip
    values = {step["type"]: step["controlValues"] for step in saved["steps"]}
    assert values["digest"] == {"type": "regular", "amount": 5, "unit": "minutes"}
    assert values["email"] == {"subject": "{{steps.digest.eventCount}} news", "body": "<h1>News</h1>"}
    assert values["delay"] == {"type": "timed", "unit": "minutes", "cron": "0 9 * * 1-5"}
    assert values["throttle"]["threshold"] == 3
    assert values["push"] == {"subject": "News", "body": "Hello by Push"}
    assert values["custom"] == {"colour": "red"}
    assert saved["status"] == "ACTIVE"

    await page.reload()
    await steps_of(page).get_by_role("link", name="Email").click()
    await expect(page.get_by_role("textbox", name="Subject")).to_have_text("{{steps.digest.eventCount}} news")


async def test_steps_are_moved_by_keyboard_duplicated_removed_and_put_back(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX, WAIT, MAIL)
    await open_editor(desk, page)
    entries = steps_of(page).get_by_role("listitem").get_by_role("link")

    await steps_of(page).get_by_role("link", name="Mail").focus()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(page.get_by_text("Mail is now at place 2 of 3")).to_be_attached()
    await expect(steps_of(page).get_by_role("link", name="Mail")).to_be_focused()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(entries.first).to_contain_text("Mail")

    await steps_of(page).get_by_role("button", name="Actions for the step Inbox").click()
    await steps_of(page).get_by_role("button", name="Duplicate").click()
    await expect(entries).to_have_count(4)
    await steps_of(page).get_by_role("button", name="Actions for the step Wait").click()
    await steps_of(page).get_by_role("button", name="Remove").click()
    await expect(entries).to_have_count(3)
    await steps_of(page).get_by_role("button", name="Undo").click()
    await expect(entries).to_have_count(4)
    await steps_of(page).get_by_role("button", name="Insert a step at place 1").click()
    await steps_of(page).get_by_role("button", name=re.compile("^SMS")).click()
    await save(page)

    saved = await read_workflow(desk)
    assert [step["stepId"] for step in saved["steps"]] == ["sms", "mail", "inbox", "inbox-2", "wait"]


async def test_a_step_is_dragged_to_another_place(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX, WAIT, MAIL)
    await open_editor(desk, page)
    entries = steps_of(page).get_by_role("listitem")

    await entries.filter(has_text="Mail").drag_to(entries.filter(has_text="Inbox"))

    await expect(entries.first).to_contain_text("Mail")
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()


async def test_problems_stand_beside_their_fields_and_in_a_list_that_leads_there(desk: Desk, page: Page) -> None:
    mail = MAIL | {"controlValues": {"subject": "Hello", "from": "nobody"}}
    await make_workflow(desk, INBOX, mail)
    await open_editor(desk, page)
    problems = page.get_by_role("region", name="Problems")

    await expect(problems.get_by_role("link")).to_have_count(2)
    await problems.get_by_role("link", name=re.compile("must have an @")).click()
    await expect(page.get_by_role("textbox", name="Sender", exact=True)).to_be_focused()
    await write(page, "Body", "<p>Hi</p>")
    await expect(problems.get_by_role("link")).to_have_count(1)
    await write(page, "Sender", "shop@example.com")
    await expect(problems).to_have_count(0)

    await write(page, "Subject", "{% if %}")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(problems.get_by_role("link", name=re.compile("Mail: subject"))).to_be_visible()
    # The browser reports the refusal itself.
    page.__dict__["problems"].clear()


async def test_a_draft_survives_a_reload_and_leaving_is_warned_of(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)
    await page.get_by_label("Description").fill("Not saved yet")
    await expect(page.get_by_text("Not saved", exact=True)).to_be_visible()

    await page.get_by_role("link", name="Activity").click()
    await expect(page.get_by_role("dialog", name="Leave without saving?")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_label("Description")).to_have_value("Not saved yet")
    page.on("dialog", lambda dialog: dialog.accept())
    await page.reload()

    await expect(page.get_by_text("Changes that were not saved are back")).to_be_visible()
    await expect(page.get_by_label("Description")).to_have_value("Not saved yet")
    await page.get_by_role("button", name="Discard changes").last.click()
    await expect(page.get_by_label("Description")).to_have_value("")
    await page.get_by_role("link", name="Activity").click()
    await expect(page.get_by_role("heading", level=1, name="Activity")).to_be_visible()


async def test_changes_are_undone_and_done_again_also_after_a_save(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page, "?step=inbox")
    undo = page.get_by_role("button", name="Undo", exact=True)
    redo = page.get_by_role("button", name="Redo", exact=True)
    name = page.get_by_label("Name of the step")
    await expect(undo).to_be_disabled()

    await name.press("End")
    await name.press_sequentially("es")
    await add_step(page, "Delay")
    await expect(steps_of(page).get_by_role("listitem")).to_have_count(2)
    await save(page)
    await undo.click()
    await expect(steps_of(page).get_by_role("listitem")).to_have_count(1)
    await page.get_by_role("heading", level=1).click()
    await page.keyboard.press("Control+z")
    await expect(steps_of(page)).not_to_contain_text("Inboxes")
    await expect(undo).to_be_disabled()
    await page.keyboard.press("Control+Shift+z")
    await expect(steps_of(page)).to_contain_text("Inboxes")
    await redo.click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    assert [step["name"] for step in (await read_workflow(desk))["steps"]] == ["Inboxes", "Delay"]


async def test_what_the_page_changes_in_a_text_is_not_undone_in_its_field(desk: Desk, page: Page) -> None:
    await make_workflow(desk, MAIL)
    await open_editor(desk, page, "?step=mail")
    subject = page.get_by_role("textbox", name="Subject", exact=True)
    await write(page, "Subject", "Good news")
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(subject).to_have_text("Hello")
    await subject.click()
    await page.keyboard.press("Control+z")
    await page.keyboard.press("End")
    await page.keyboard.insert_text("!")
    await expect(subject).to_have_text("Hello!")


async def test_two_people_who_edit_one_workflow_merge_what_they_did(desk: Desk, make_page: OpenPage) -> None:
    await make_workflow(desk, INBOX, MAIL)
    mine = await make_page()
    theirs = await make_page()
    await open_editor(desk, mine)
    await open_editor(desk, theirs, role="author")
    await theirs.get_by_label("Name").fill("Welcome, dear")
    await theirs.get_by_label("Description").fill("By the author")
    await save(theirs)

    await mine.get_by_label("Name").fill("Welcome!")
    await steps_of(mine).get_by_role("link", name="Mail").click()
    await write(mine, "Subject", "Hello there")
    await mine.get_by_role("button", name="Save", exact=True).click()
    dialog = mine.get_by_role("dialog", name="Somebody else has saved this workflow")
    await expect(dialog.get_by_text("Both of you changed it")).to_have_count(1)
    # The browser reports the refusal itself.
    mine.__dict__["problems"].clear()
    await expect(dialog.get_by_role("button", name="Save the merged workflow")).to_be_disabled()
    await expect(dialog.get_by_role("radio", name="Theirs: Workflow: Description")).to_be_checked()
    await expect(dialog.get_by_role("radio", name="Yours: Mail: subject")).to_be_checked()
    await dialog.get_by_role("radio", name="Yours: Workflow: Name").check()
    await dialog.get_by_role("button", name="Save the merged workflow").click()
    await expect(mine.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()

    saved = await read_workflow(desk)
    assert (saved["name"], saved["description"]) == ("Welcome!", "By the author")
    assert saved["steps"][1]["controlValues"]["subject"] == "Hello there"


async def test_settings_preferences_and_the_payload_are_saved(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)
    await page.get_by_label("Tags").fill("people, news")
    await page.get_by_label("Severity").select_option("High")
    await page.get_by_role("switch", name="Critical").check()
    await page.get_by_role("switch", name="SMS is on").uncheck()
    await page.get_by_role("button", name="Start with an example").click()
    await page.get_by_role("switch", name="Refuse triggers whose payload does not fit").check()
    await expect(page.get_by_role("textbox", name="Payload", exact=True)).to_contain_text("A-1001")
    await save(page)

    saved = await read_workflow(desk)
    assert (saved["tags"], saved["severity"], saved["validatePayload"]) == (["people", "news"], "high", True)
    assert saved["preferences"]["default"]["all"] == {"enabled": True, "readOnly": True}
    assert saved["preferences"]["default"]["channels"]["sms"] == {"enabled": False}
    assert saved["payloadSchema"]["required"] == ["order"]


async def test_a_new_step_is_not_blamed_for_what_nobody_has_written_yet(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)
    await add_step(page, "SMS")

    problems = page.get_by_role("region", name="Problems")
    await expect(problems.get_by_role("link", name="SMS: Text is missing")).to_be_visible()
    form = page.locator(".editor-form")
    await expect(form.get_by_text("is missing")).to_have_count(0)
    await save(page)
    await expect(form.get_by_text("Text is missing", exact=True)).to_be_visible()


async def test_without_a_schema_the_payload_is_made_for_the_texts(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page, "?step=inbox")
    await write(page, "Text", "Order {{payload.order.number}} for {{payload.shop | upcase}}")

    await expect(page.get_by_role("region", name="Preview")).to_contain_text("Order number for SHOP")
    await page.get_by_role("link", name="Test", exact=True).click()
    await expect(page.get_by_role("textbox", name="Payload")).to_contain_text('"shop":"shop"')


async def test_the_payload_of_a_past_run_is_chosen_for_the_preview(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await desk.call("POST", "/v1/events/trigger", {"name": "welcome", "to": "ada", "payload": {"by": "Mallory"}})
    await open_editor(desk, page, "?step=inbox")
    sources = page.get_by_label("Payload from")

    await expect(sources.get_by_role("option")).to_have_count(3)
    await sources.select_option(index=2)

    await expect(page.get_by_role("textbox", name="Payload", exact=True)).to_contain_text("Mallory")


async def test_a_viewer_reads_everything_and_changes_nothing(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX, MAIL)
    await open_editor(desk, page, role="viewer")

    await expect(page.get_by_text("You can read this workflow")).to_be_visible()
    await expect(page.get_by_label("Name")).to_be_disabled()
    await expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
    await steps_of(page).get_by_role("link", name="Mail").click()
    await expect(page.get_by_label("Name of the step")).to_be_disabled()
    await expect(page.get_by_role("textbox", name="Subject")).to_have_text("Hello")
    await expect(page.get_by_role("textbox", name="Subject")).not_to_be_editable()
    await expect(steps_of(page).get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize("query", ["", "?step=mail"])
async def test_the_editor_is_accessible_and_fits(desk: Desk, page: Page, query: str) -> None:
    mail = MAIL | {"name": "Mail " * 12, "controlValues": {"subject": "Hello", "from": "nobody"}, "stepId": "mail"}
    await make_workflow(
        desk, INBOX, WAIT, mail, payloadSchema={"type": "object", "properties": {"by": {"type": "string"}}}
    )
    await open_editor(desk, page, query)
    await page.wait_for_load_state("networkidle")

    assert await list_problems(page) == []


async def test_a_workflow_decides_about_tracking(desk: Desk, page: Page) -> None:
    await make_workflow(desk)
    await open_editor(desk, page)
    await page.get_by_text("Tracking of e-mails").click()
    await page.get_by_label("Opens", exact=True).select_option("Tracked")
    await page.get_by_label("Clicks on links", exact=True).select_option("Not tracked")
    await save(page)
    assert (await read_workflow(desk))["tracking"] == {"opens": True, "clicks": False}

    await page.get_by_label("Opens", exact=True).select_option("As the environment does")
    await save(page)
    assert (await read_workflow(desk))["tracking"] == {"clicks": False}
    assert await list_problems(page) == []


async def test_a_workflow_decides_about_replies(desk: Desk, page: Page) -> None:
    await make_workflow(desk)
    await open_editor(desk, page)
    await page.get_by_text("Replies to e-mails").click()
    await page.get_by_label("Replies", exact=True).select_option("Not taken")
    await save(page)
    assert (await read_workflow(desk))["takesReplies"] is False

    await page.get_by_label("Replies", exact=True).select_option("As the environment does")
    await save(page)
    assert "takesReplies" not in await read_workflow(desk)
    assert await list_problems(page) == []
