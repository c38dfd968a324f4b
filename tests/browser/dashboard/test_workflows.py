"""The list of workflows, and what is done to a whole workflow."""

from playwright.async_api import Page, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}
MAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hello"}}


async def make_workflow(desk: Desk, name: str, **fields: object) -> None:
    workflow_id = name.lower().replace(" ", "-")
    body = {"name": name, "workflowId": workflow_id, "active": True, "steps": [INBOX], **fields}
    await desk.call("POST", "/v2/workflows", body)


@on_both_databases
async def test_a_newcomer_makes_a_first_workflow_and_lands_in_its_editor(desk: Desk, page: Page) -> None:
    await desk.open(page, "/workflows")
    await expect(page.get_by_role("heading", name="No workflows yet")).to_be_visible()
    await expect(page.get_by_text("curl -X POST")).to_be_visible()

    await page.get_by_role("button", name="New workflow").first.click()
    await page.get_by_label("Name").fill("Order shipped")
    await expect(page.get_by_label("Identifier")).to_have_value("order-shipped")
    await page.get_by_label("First step").select_option("Email")
    await page.get_by_role("button", name="Create").click()

    await expect(page.get_by_role("heading", level=1, name="Order shipped")).to_be_visible()
    # The first step is open, with what it sends beside it.
    preview = page.get_by_role("region", name="Preview")
    await expect(preview.frame_locator("iframe").get_by_text("Hello there")).to_be_visible()
    made = await desk.call("GET", "/v2/workflows/order-shipped")
    assert [step["type"] for step in made["steps"]] == ["email"]
    assert made["status"] == "ACTIVE"


async def test_an_identifier_that_is_taken_is_refused_at_its_field(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "Welcome")
    await desk.open(page, "/workflows")
    await page.get_by_role("button", name="New workflow").click()
    await page.get_by_label("Name").fill("Welcome")
    await page.get_by_role("button", name="Create").click()

    await expect(page.get_by_label("Identifier")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_text("is the identifier of another workflow").first).to_be_visible()
    # The browser reports the refusal itself.
    page.__dict__["problems"].clear()


async def test_the_list_shows_states_problems_and_figures_and_is_searched_in_the_address(
    desk: Desk, page: Page
) -> None:
    await make_workflow(desk, "Welcome", tags=["people"])
    await make_workflow(desk, "Order shipped", tags=["orders"], steps=[MAIL])
    await make_workflow(desk, "Old news", active=False)
    await desk.call("POST", "/v1/events/trigger", {"name": "welcome", "to": "ada"})
    await desk.open(page, "/workflows")
    row = {name: page.get_by_role("row").filter(has_text=name) for name in ("Welcome", "Order shipped", "Old news")}

    await expect(row["Order shipped"]).to_contain_text("1 problem")
    await expect(row["Old news"]).to_contain_text("Archived")
    await expect(row["Welcome"]).to_contain_text("people")
    await expect(row["Old news"]).to_contain_text("Never")
    await expect(row["Welcome"].get_by_role("link")).to_have_count(2)

    await page.get_by_label("Search").fill("order")
    await expect(row["Welcome"]).to_have_count(0)
    await expect(page).to_have_url(desk.address_of("/workflows?q=order"))
    await page.get_by_label("Search").fill("")
    await page.get_by_label("State").select_option("Archived")
    await expect(row["Order shipped"]).to_have_count(0)
    await expect(row["Old news"]).to_be_visible()
    await desk.open(page, "/workflows?tag=people&sort=name")
    await expect(row["Welcome"]).to_be_visible()
    await expect(page.get_by_text("1 workflow", exact=True)).to_be_visible()


async def test_a_workflow_is_archived_activated_duplicated_and_deleted(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "Welcome")
    await desk.open(page, "/workflows")
    actions = page.get_by_role("button", name="Actions for Welcome", exact=True)

    await actions.click()
    await page.get_by_role("button", name="Archive").click()
    await page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    await expect(page.get_by_role("table").get_by_text("Archived")).to_be_visible()

    await actions.click()
    await page.get_by_role("button", name="Activate").click()
    await expect(page.get_by_role("table").get_by_text("✓ Active")).to_be_visible()

    await actions.click()
    await page.get_by_role("button", name="Duplicate").click()
    await page.get_by_role("dialog").get_by_role("button", name="Duplicate").click()
    await expect(page.get_by_role("heading", level=1, name="Welcome (copy)")).to_be_visible()

    await desk.open(page, "/workflows")
    await page.get_by_role("button", name="Actions for Welcome", exact=True).click()
    await page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    await dialog.get_by_label("Type welcome to confirm").fill("welcome")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("row")).to_have_count(2)
    await expect(page.get_by_role("link", name="Welcome (copy)")).to_be_visible()


async def test_a_viewer_sees_the_list_and_no_way_to_change_it(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "Welcome")
    await desk.open(page, "/workflows", role="viewer")

    await expect(page.get_by_role("link", name="Welcome")).to_be_visible()
    await expect(page.get_by_role("button", name="New workflow")).to_have_count(0)
    await expect(page.get_by_role("button", name="Actions for Welcome")).to_have_count(0)


async def test_the_list_is_accessible_and_fits(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "Welcome " * 12, workflowId="welcome", tags=["people", "النشرة"])
    await make_workflow(desk, "Order shipped", steps=[MAIL])
    await desk.open(page, "/workflows")
    await expect(page.get_by_role("link", name="Order shipped")).to_be_visible()
    await page.get_by_role("button", name="Actions for Order shipped").click()

    assert await list_problems(page) == []
