"""Steps that ask, in the editor: filled in with their choices, and saved."""

from playwright.async_api import Page

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import INBOX, add_step, make_workflow, open_editor, read_workflow, save, write


async def test_a_question_is_filled_in_and_saved(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)
    await add_step(page, "Question")

    await write(page, "Question", "Approve it?")
    for value, label in (("approve", "Approve"), ("reject", "Reject")):
        await page.get_by_role("button", name="Add to choices").click()
        await page.get_by_label("Value", exact=True).last.fill(value)
        await page.get_by_label("Label", exact=True).last.fill(label)
    assert await list_problems(page) == []
    await save(page)

    step = (await read_workflow(desk))["steps"][1]
    assert step["type"] == "ask"
    assert step["controlValues"] == {
        "question": "Approve it?",
        "choices": [{"value": "approve", "label": "Approve"}, {"value": "reject", "label": "Reject"}],
    }
