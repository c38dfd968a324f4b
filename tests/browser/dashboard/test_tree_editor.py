"""The editor of a workflow with branches."""

import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.test_editor import (
    INBOX,
    MAIL,
    make_workflow,
    open_editor,
    read_workflow,
    save,
    steps_of,
    write,
)

PAYING = {"in": [{"var": "subscriber.data.plan"}, ["pro", "team"]]}
CALL = {"name": "Call", "type": "sms", "controlValues": {"body": "We call you"}}
TIPS = {"name": "Tips", "type": "sms", "controlValues": {"body": "Three tips"}}
PLAN = {
    "name": "Plan",
    "type": "branch",
    "controlValues": {
        "paths": [{"name": "Paying", "condition": PAYING, "steps": [CALL]}],
        "otherwise": {"steps": [TIPS]},
    },
}


def entry(page: Page, step: str) -> Locator:
    return steps_of(page).get_by_role("link", name=re.compile(f"^{step} "))


async def act(page: Page, step: str, action: str) -> None:
    await steps_of(page).get_by_role("button", name=f"Actions for the step {step}", exact=True).click()
    await steps_of(page).get_by_role("button", name=action, exact=True).click()


async def insert(page: Page, place: str, kind: str) -> None:
    await steps_of(page).get_by_role("button", name=place, exact=True).click()
    await steps_of(page).get_by_role("button", name=re.compile(f"^{kind}")).click()


def outline(steps: list[dict[str, Any]]) -> list[Any]:
    """The names of the steps; a branch is followed by the steps of its paths."""
    listed: list[Any] = []
    for step in steps:
        listed.append(step["name"])
        if step["type"] == "branch":
            controls = step["controlValues"]
            paths = {path["name"]: outline(path["steps"]) for path in controls["paths"]}
            if controls.get("otherwise") is not None:
                paths["otherwise"] = outline(controls["otherwise"]["steps"])
            listed.append(paths)
    return listed


async def read_outline(desk: Desk) -> list[Any]:
    return outline((await read_workflow(desk))["steps"])


async def test_a_branch_is_added_filled_in_saved_and_there_again(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)

    await insert(page, "Add a step at the end", "Branch")
    problems = page.get_by_role("region", name="Problems")
    await expect(problems.get_by_role("link", name="Branch: Path 1: The condition is missing")).to_be_visible()
    await page.get_by_label("Name of the path").fill("Paying")
    await page.get_by_role("button", name="Add a condition").click()
    await page.get_by_label("Field").fill("payload.plan")
    await page.get_by_label("Value").fill("pro")
    await expect(steps_of(page)).to_contain_text("if payload.plan is pro")
    await insert(page, "Add a step at the end of Branch: Paying", "SMS")
    await write(page, "Text", "We call you, {{steps.branch.path}}")
    await insert(page, "Add a step at the end of Branch: Otherwise", "Exit")
    await write(page, "Reason", "Has not paid")
    await save(page)

    saved = (await read_workflow(desk))["steps"][1]
    assert saved["controlValues"]["paths"][0]["condition"] == {"and": [{"==": [{"var": "payload.plan"}, "pro"]}]}
    assert [step["type"] for step in saved["nested"]] == ["sms", "exit"]
    assert "issues" not in saved
    await expect(problems).to_have_count(0)
    await page.reload()
    await expect(entry(page, "SMS")).to_contain_text("We call you")
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()


async def test_steps_move_into_branches_through_their_paths_and_out_by_keyboard(desk: Desk, page: Page) -> None:
    await make_workflow(desk, INBOX, PLAN, MAIL)
    await open_editor(desk, page)
    inbox = entry(page, "Inbox")

    await inbox.focus()
    await page.keyboard.press("Alt+ArrowRight")
    await expect(page.get_by_text("Inbox is now at place 1 of 2 in Plan: Paying")).to_be_attached()
    await expect(inbox).to_be_focused()
    await page.keyboard.press("Alt+ArrowDown")
    await page.keyboard.press("Alt+ArrowDown")
    await expect(page.get_by_text("Inbox is now at place 1 of 2 in Plan: Otherwise")).to_be_attached()
    await page.keyboard.press("Alt+ArrowLeft")
    await expect(page.get_by_text("Inbox is now at place 2 of 3")).to_be_attached()
    await expect(inbox).to_be_focused()
    await act(page, "Inbox", "Move into the branch")
    await act(page, "Mail", "Move into the branch")
    await save(page)
    assert await read_outline(desk) == ["Plan", {"Paying": ["Call", "Inbox", "Mail"], "otherwise": ["Tips"]}]

    for _ in range(2):
        await page.get_by_role("button", name="Undo", exact=True).click()
    await save(page)
    assert await read_outline(desk) == ["Plan", {"Paying": ["Call"], "otherwise": ["Tips"]}, "Inbox", "Mail"]


async def test_a_step_is_dragged_into_a_path_and_a_branch_with_its_steps_out_of_one(desk: Desk, page: Page) -> None:
    inner = PLAN | {"name": "Inner", "stepId": "inner"}
    outer = {
        "name": "Outer",
        "type": "branch",
        "controlValues": {"paths": [{"name": "A", "condition": PAYING, "steps": [inner]}]},
    }
    # A mouse does not scroll while it drags.
    await page.set_viewport_size({"width": 1280, "height": 1600})
    await make_workflow(desk, INBOX, outer)
    await open_editor(desk, page)
    steps = steps_of(page)

    await entry(page, "Inbox").drag_to(entry(page, "Tips"))
    await expect(page.get_by_text("Inbox is now at place 1 of 2 in Inner: Otherwise")).to_be_attached()
    await entry(page, "Inner").drag_to(steps.get_by_role("button", name="Add a step at the end", exact=True))
    await expect(page.get_by_text("Inner is now at place 2 of 2")).to_be_attached()
    await save(page)

    assert await read_outline(desk) == [
        "Outer",
        {"A": []},
        "Inner",
        {"Paying": ["Call"], "otherwise": ["Inbox", "Tips"]},
    ]


async def test_a_branch_is_copied_with_its_steps_removed_and_put_back(desk: Desk, page: Page) -> None:
    await make_workflow(desk, PLAN, MAIL)
    await open_editor(desk, page)

    await entry(page, "Plan").focus()
    await page.keyboard.press("Control+c")
    await entry(page, "Mail").focus()
    await page.keyboard.press("Control+v")
    await expect(page.get_by_text("A copy of Plan is added")).to_be_attached()
    end = steps_of(page).get_by_role("button", name="Add a step at the end of Plan: Paying", exact=True)
    await end.first.click()
    await steps_of(page).get_by_role("button", name=re.compile("^(. )?Paste Plan")).click()
    await act(page, "Mail", "Remove")
    await steps_of(page).get_by_role("button", name="Undo").click()
    await expect(entry(page, "Mail")).to_be_visible()
    await save(page)
    copy = {"Paying": ["Call"], "otherwise": ["Tips"]}
    first = {"Paying": ["Call", "Plan", copy], "otherwise": ["Tips"]}
    assert await read_outline(desk) == ["Plan", first, "Mail", "Plan", copy]

    await steps_of(page).get_by_role("button", name="Actions for the step Plan", exact=True).first.click()
    await steps_of(page).get_by_role("button", name="Remove", exact=True).click()
    await expect(page.get_by_text("Plan is removed, with 5 steps within it").first).to_be_visible()
    await save(page)
    assert await read_outline(desk) == ["Mail", "Plan", copy]


async def test_paths_are_renamed_ordered_weighted_and_removed(desk: Desk, page: Page) -> None:
    await make_workflow(desk, PLAN)
    await open_editor(desk, page, "?step=plan")
    form = page.locator(".editor-form")

    await form.get_by_role("button", name="Add a path", exact=False).click()
    await form.get_by_role("button", name="Move Path 2 up").click()
    await form.get_by_label("Decides by").select_option("weights")
    weights = form.get_by_label("Weight", exact=True)
    await expect(weights).to_have_count(3)
    await weights.first.fill("2")
    await expect(steps_of(page)).to_contain_text("50 % (weight 2)")
    await form.get_by_role("button", name="Remove Paying").click()
    await form.get_by_label("Name of the path").first.fill("A")
    await save(page)

    saved = (await read_workflow(desk))["steps"][0]["controlValues"]
    assert [(path["name"], path["weight"]) for path in saved["paths"]] == [("A", 2), ("Others", 1)]
    assert await read_outline(desk) == ["Plan", {"A": [], "Others": ["Tips"]}]
    await page.get_by_role("button", name="Undo", exact=True).click()
    await expect(form.get_by_label("Name of the path").first).not_to_have_value("A")


async def test_problems_within_a_branch_stand_at_their_step_and_lead_there(desk: Desk, page: Page) -> None:
    await make_workflow(desk, PLAN)
    await open_editor(desk, page, "?step=tips")

    await write(page, "Text", "{% if %}")
    await page.get_by_role("button", name="Save", exact=True).click()
    problems = page.get_by_role("region", name="Problems")
    await expect(entry(page, "Tips")).to_contain_text("1 problem")
    # The browser reports the refusal itself.
    page.__dict__["problems"].clear()
    await entry(page, "Plan").click()
    await problems.get_by_role("link", name=re.compile("^Tips: body")).click()
    await expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_focused()


async def test_two_people_who_edit_one_branch_merge_what_they_did(desk: Desk, make_page: OpenPage) -> None:
    await make_workflow(desk, PLAN)
    mine, theirs = await make_page(), await make_page()
    await open_editor(desk, mine)
    await open_editor(desk, theirs, "?step=plan", role="author")
    await theirs.locator(".editor-form").get_by_role("button", name="Add a path", exact=False).click()
    await theirs.get_by_role("button", name="Add a condition").click()
    await theirs.get_by_label("Field").last.fill("payload.new")
    await save(theirs)

    await insert(mine, "Add a step at the end of Plan: Paying", "SMS")
    await write(mine, "Text", "Mine")
    await mine.get_by_role("button", name="Save", exact=True).click()
    dialog = mine.get_by_role("dialog", name="Somebody else has saved this workflow")
    await expect(dialog.get_by_role("radio", name="Theirs: Plan: Path 2: the whole path")).to_be_checked()
    mine.__dict__["problems"].clear()
    await dialog.get_by_role("button", name="Save the merged workflow").click()
    await expect(mine.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()

    assert await read_outline(desk) == ["Plan", {"Paying": ["Call", "SMS"], "Path 2": [], "otherwise": ["Tips"]}]


async def test_another_workflow_is_chosen_for_a_step_that_starts_one(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/workflows", {"name": "On call", "workflowId": "on-call", "steps": [INBOX]})
    await make_workflow(desk, INBOX)
    await open_editor(desk, page)

    await insert(page, "Add a step at the end", "Trigger")
    await page.get_by_role("combobox", name="Workflow").fill("on-c")
    await page.get_by_role("option", name="On call").click()
    await write(page, "For", "{{payload.lead}}")
    await save(page)

    saved = (await read_workflow(desk))["steps"][1]
    assert saved["controlValues"] == {"workflowId": "on-call", "to": "{{payload.lead}}"}


async def test_a_phone_shows_the_tree_and_edits_a_step_of_it(desk: Desk, page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await make_workflow(desk, INBOX, PLAN)
    await open_editor(desk, page, "?part=steps")

    await steps_of(page).get_by_role("button", name="Hide the steps of Paying").click()
    await expect(entry(page, "Call")).to_have_count(0)
    await act(page, "Tips", "Move up")
    await steps_of(page).get_by_role("button", name="Show the steps of Paying").click()
    await entry(page, "Tips").click()
    await write(page, "Text", "Four tips")
    await save(page)

    assert await read_outline(desk) == ["Inbox", "Plan", {"Paying": ["Call", "Tips"], "otherwise": []}]


async def test_a_deep_tree_is_accessible_and_fits(desk: Desk, page: Page) -> None:
    tree = PLAN
    for number in range(4):
        paths = [{"name": f"A path with a long name {number}", "condition": PAYING, "steps": [tree, CALL]}]
        tree = {
            "name": f"Branch {number}",
            "type": "branch",
            "controlValues": {"paths": paths, "otherwise": {"steps": []}},
        }
    await make_workflow(desk, tree)
    for query in ("?part=steps", "?step=branch-3&part=form"):
        await open_editor(desk, page, query)
        await expect(entry(page, "Tips")).to_be_attached()
        assert await list_problems(page) == []
        await page.set_viewport_size({"width": 1280, "height": 800})
