"""The parts of the workflow editor: the code editor, conditions, the preview and the test panel."""

import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import list_axe_problems, on_both_databases
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk

PAYLOAD_SCHEMA = {
    "type": "object",
    "properties": {
        "plan": {"type": "string", "examples": ["gold"], "description": "What they pay for"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}},
    },
}
ONLY_GOLD = {"and": [{"==": [{"var": "payload.plan"}, "gold"]}, {"some": [{"var": "payload.items"}, True]}]}
STEPS: dict[str, dict[str, Any]] = {
    "in_app": {
        "subject": "Your **order**",
        "body": "Hi {{subscriber.firstName}}",
        "primaryAction": {"label": "Track", "redirect": {"url": "https://example.com/track"}},
    },
    "email": {"subject": "For {{subscriber.firstName}}", "body": "<h1>Hi</h1>", "from": "shop@example.com"},
    "sms": {"body": "Hi {{subscriber.firstName}} – on its way"},
    "push": {"subject": "On its way", "body": "Hi {{subscriber.firstName}}"},
    "chat": {"body": "Sent to {{subscriber.firstName}}"},
}


async def make_workflow(desk: Desk, *types: str, **controls: Any) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"})
    steps = [{"name": one, "stepId": one, "type": one, "controlValues": STEPS[one] | controls} for one in types]
    body = {"name": "Shipped", "workflowId": "shipped", "active": True, "payloadSchema": PAYLOAD_SCHEMA, "steps": steps}
    await desk.call("POST", "/v2/workflows", body)


async def open_step(desk: Desk, page: Page, step: str, *, part: str = "preview", role: str = "owner") -> Locator:
    """Open a step in the editor; returns the preview."""
    await desk.open(page, f"/workflows/shipped?step={step}&person=ada&part={part}", role=role)
    return page.get_by_role("region", name="Preview")


def editor_of(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


async def accept(page: Page, suggestion: str) -> None:
    """Take a suggestion by the keyboard; the editor ignores keys just after it has shown it."""
    await expect(page.get_by_role("option", name=re.compile(suggestion))).to_be_visible()
    await page.wait_for_timeout(150)
    await page.keyboard.press("Enter")


def forget_refusals(page: Page) -> None:
    """The browser logs it as an error when the server refuses to preview a text that is half typed."""
    problems = page.__dict__["problems"]
    problems[:] = [one for one in problems if "responded with a status of 422" not in one]


async def test_variables_filters_and_items_of_loops_are_completed(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "sms")
    await open_step(desk, page, "sms")
    body = editor_of(page, "Text")
    await body.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("{% for one in payload.items %}{{ one.")
    await accept(page, "price")
    await page.keyboard.type(" | at_l")
    await accept(page, "at_least")

    await expect(body).to_have_text("{% for one in payload.items %}{{ one.price | at_least: 1}}")
    await expect(page.get_by_text("{% endfor %} is missing.")).to_be_visible()
    forget_refusals(page)


async def test_faults_are_named_while_they_are_typed_and_undone(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "sms")
    await open_step(desk, page, "sms")
    body = editor_of(page, "Text")
    await body.fill("{{ subscriber.firstNam | upcsae }}")

    await expect(page.get_by_text("There is no filter upcsae; do you mean upcase?")).to_be_visible()
    await expect(page.get_by_text("There is no variable subscriber.firstNam here")).to_be_visible()
    await page.keyboard.press("Control+z")
    await expect(body).to_have_text(STEPS["sms"]["body"])
    await expect(page.get_by_text("There is no filter upcsae")).to_have_count(0)
    await page.keyboard.press("Tab")
    await expect(body).not_to_be_focused()
    forget_refusals(page)


async def test_every_channel_is_previewed_for_the_chosen_person(desk: Desk, page: Page) -> None:
    await make_workflow(desk, *STEPS)
    shown = {
        "in_app": ["Your order", "Hi Ada", "Track", "Track opens https://example.com/track"],
        "email": ["For Ada", "shop@example.com", "ada@example.com"],
        "sms": ["Hi Ada – on its way", "19 characters", "UCS-2", "1 part, 19 of 70 in the last part"],
        "push": ["On its way", "Hi Ada"],
        "chat": ["Sent to Ada"],
    }
    preview = await open_step(desk, page, "in_app")
    for step, texts in shown.items():
        await page.get_by_role("navigation", name="Steps").get_by_role("link", name=re.compile(f"^{step} ")).click()
        for text in texts:
            await expect(preview).to_contain_text(text)


@on_both_databases
async def test_new_steps_of_every_channel_are_previewed_before_the_first_save(desk: Desk, page: Page) -> None:
    body = {"name": "Empty", "workflowId": "empty", "payloadSchema": PAYLOAD_SCHEMA, "steps": []}
    await desk.call("POST", "/v2/workflows", body)
    await desk.open(page, "/workflows/empty")
    fields = {"In-app": "Text", "Email": "Body", "SMS": "Text", "Chat": "Text", "Push": "Text"}
    for kind, field in fields.items():
        await page.get_by_role("button", name="Add a step at the end").click()
        await page.get_by_role("listitem").get_by_role("button", name=re.compile(f"^{kind}")).click()
        await editor_of(page, field).fill(f"{kind} of {{{{payload.plan}}}} in {{{{workflow.name}}}}")
        preview = page.get_by_role("region", name="Preview")
        shown = preview.frame_locator("iframe").locator("body") if kind == "Email" else preview
        await expect(shown).to_contain_text(f"{kind} of gold in Empty")

    assert (await desk.call("GET", "/v2/workflows/empty"))["steps"] == []


async def test_a_message_after_a_new_digest_is_previewed_with_events(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "sms")
    preview = await open_step(desk, page, "sms")
    await page.get_by_role("button", name="Insert a step at place 1").click()
    await page.get_by_role("listitem").get_by_role("button", name=re.compile("^Digest")).click()
    await page.get_by_role("navigation", name="Steps").get_by_role("link", name=re.compile("^sms ")).click()
    await editor_of(page, "Text").fill("{{steps.digest.eventCount}} orders, the first {{step.events[0].plan}}")

    await expect(preview).to_contain_text("2 orders, the first gold")
    await expect(page.get_by_text("as after a digest of 2 events")).to_be_visible()


async def test_the_head_of_an_email_is_previewed_as_it_is_sent(desk: Desk, page: Page) -> None:
    sender = {"email": "{{payload.plan}}@example.com", "name": "Shop for {{subscriber.firstName}}"}
    await make_workflow(desk, "email", **{"from": sender, "cc": "{{subscriber.email}}", "headers": {"X-Plan": "a b"}})
    preview = await open_step(desk, page, "email")

    await expect(preview).to_contain_text("From Shop for Ada <gold@example.com>")
    await expect(preview).to_contain_text("Cc ada@example.com")
    await expect(preview).to_contain_text("X-Plan a b")
    await editor_of(page, "Body").fill("Hi Ada\n2 < 3")
    await expect(preview.frame_locator("iframe").get_by_text("2 < 3")).to_have_css("white-space-collapse", "preserve")
    await editor_of(page, "Copies").fill("{{payload.plan}}")
    await expect(preview.get_by_role("status")).to_contain_text("cc 'gold' ")
    forget_refusals(page)


async def test_the_preview_follows_what_is_typed_and_shows_the_servers_sentence(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "email")
    preview = await open_step(desk, page, "email")
    await expect(preview.frame_locator("iframe").get_by_role("heading", name="Hi")).to_be_visible()

    await editor_of(page, "Body").fill("<h1>Dear {{ subscriber.firstName }}</h1>")
    await expect(preview.frame_locator("iframe").get_by_role("heading", name="Dear Ada")).to_be_visible()
    await editor_of(page, "Body").fill("<h1>Dear {% if %}</h1>")
    await expect(preview.get_by_role("status")).to_contain_text("body is not a valid template")
    forget_refusals(page)
    # The last picture stays beside it.
    await expect(preview.frame_locator("iframe").get_by_role("heading", name="Dear Ada")).to_be_visible()
    await preview.get_by_role("radio", name="Phone").check()
    await expect(preview.locator("iframe")).to_have_attribute("width", "390")


async def test_conditions_show_their_result_and_keep_what_they_cannot_show(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "sms", skip=ONLY_GOLD)
    await open_step(desk, page, "sms")
    conditions = page.get_by_role("group", name="Runs only if")
    first = conditions.get_by_role("listitem", name="Rule 1")
    await expect(first).to_contain_text("holds")
    await expect(first).to_contain_text('it is "gold"')
    await expect(conditions.get_by_role("textbox", name="Rule as JSON")).to_contain_text('"some"')

    await first.get_by_role("combobox", name="Comparison").select_option("is not")
    await expect(first).to_contain_text("does not hold")
    await conditions.get_by_role("button", name="Add rule").click()
    added = conditions.get_by_role("listitem", name="Rule 3")
    await expect(added.get_by_role("combobox", name="Field")).to_be_focused()
    await page.keyboard.type("payload.pl")
    await page.get_by_role("option", name="payload.plan").click()
    await added.get_by_role("combobox", name="Comparison").select_option("is one of")
    await added.get_by_role("textbox", name="Values, with commas between them").fill("gold, silver")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("Not saved")).to_have_count(0)

    saved = await desk.call("GET", "/v2/workflows/shipped")
    assert saved["steps"][0]["controlValues"]["skip"] == {
        "and": [
            {"!=": [{"var": "payload.plan"}, "gold"]},
            ONLY_GOLD["and"][1],
            {"in": [{"var": "payload.plan"}, ["gold", "silver"]]},
        ]
    }


@on_both_databases
async def test_a_workflow_is_simulated_then_triggered_and_followed(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "in_app")
    await open_step(desk, page, "in_app", part="test")
    await editor_of(page, "Plan").fill("silver")
    await page.get_by_text("When, and what they want").click()
    await page.get_by_label("In-app").select_option("Off")
    await page.get_by_role("button", name="Simulate").click()
    simulation = page.get_by_role("region", name="Simulation")
    await expect(simulation).to_contain_text("No message")

    await page.get_by_label("In-app").select_option("On")
    await expect(simulation).to_contain_text("Something was changed since")
    await page.get_by_role("button", name="Trigger for real").click()
    await expect(page.get_by_role("list", name="Steps of the run")).to_contain_text("Done")
    await expect(page.get_by_text("Completed")).to_be_visible()

    page_of_run = await page.get_by_role("link", name="Open the run").get_attribute("href")
    runs = (await desk.call("GET", "/v1/runs"))["data"]
    assert [page_of_run] == [f"/dashboard/e/{desk.identifier}/activity/{one['_id']}" for one in runs]
    assert runs[0]["transactionId"].startswith("test-")


async def test_unsaved_steps_are_simulated_and_commands_can_be_copied(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "in_app")
    await open_step(desk, page, "in_app", part="test")
    await editor_of(page, "Text").fill("Not saved yet")
    await expect(page.get_by_text("A trigger uses the saved ones.")).to_be_visible()
    await page.get_by_role("button", name="Simulate").click()
    simulation = page.get_by_role("region", name="Simulation")
    await simulation.get_by_text("In-app to ada").click()

    await expect(simulation.get_by_text("Not saved yet")).to_be_visible()
    await page.get_by_text("As curl commands").click()
    await expect(page.get_by_text("/v1/events/trigger")).to_be_visible()


async def test_a_viewer_can_simulate_but_neither_edit_nor_trigger(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "sms", skip=ONLY_GOLD)
    await open_step(desk, page, "sms", part="test", role="viewer")

    await expect(page.get_by_role("button", name="Simulate")).to_be_visible()
    await expect(page.get_by_role("button", name="Trigger for real")).to_have_count(0)
    await expect(editor_of(page, "Text")).to_have_attribute("aria-readonly", "true")
    await expect(page.get_by_role("combobox", name="Comparison")).to_be_disabled()
    await expect(page.get_by_role("button", name="Add rule")).to_have_count(0)


async def test_the_parts_are_accessible(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "in_app", skip=ONLY_GOLD)
    await open_step(desk, page, "in_app", part="test")
    await expect(page.get_by_role("textbox", name="Rule as JSON")).to_be_visible()
    await page.get_by_role("button", name="Simulate").click()
    await expect(page.get_by_role("region", name="Simulation")).to_contain_text("What would happen")
    found = []
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            found += [*await list_axe_problems(page), await overflow_of(page)]

    assert found == [0, 0, 0, 0]
