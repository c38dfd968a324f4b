"""Changes of an active workflow of Production are looked at before they are saved."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import list_axe_problems
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk, Team, make_desk
from tests.browser.dashboard.test_editor import save, write
from tests.browser.dashboard.test_editor_parts import forget_refusals

STEPS = [
    {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Order {{payload.order}}"}},
    {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "days"}},
]


@pytest.fixture
async def production(team: Team) -> AsyncIterator[Desk]:
    desk = await make_desk(team, type="prod")
    yield desk
    async with await team.client("owner", team.service.application) as owner:
        environment = desk.environment
        await owner.delete(f"/v1/environments/{environment['_id']}", params={"confirm": environment["name"]})


async def test_a_change_is_saved_after_its_impact_was_looked_at(production: Desk, page: Page) -> None:
    body = {"name": "Shipped", "workflowId": "shipped", "active": True, "steps": STEPS}
    await production.call("POST", "/v2/workflows", body)
    await production.call(
        "POST", "/v1/events/trigger", {"name": "shipped", "to": "ada", "payload": {"order": 7}, "transactionId": "t-7"}
    )
    await production.open(page, "/workflows/shipped?step=inbox", role="author")
    await write(page, "Text", "New order {{payload.order}} of {{payload.shop}}")

    await page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="What the change means")
    await expect(dialog).to_contain_text("1 run at Wait: they keep version 1")
    await expect(dialog).to_contain_text("payload.shop in inbox: missing in 1 of 1")
    await dialog.get_by_text("t-7 for ada").click()
    await expect(dialog).to_contain_text("New order 7 of")
    assert await list_axe_problems(page) == []
    assert await overflow_of(page) == 0
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("Nothing was saved; the draft is as it was.")).to_be_visible()
    assert (await production.call("GET", "/v2/workflows/shipped"))["version"] == 1

    await page.get_by_role("button", name="Save", exact=True).click()
    await dialog.get_by_role("button", name="Save the change").click()
    await expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()

    assert (await production.call("GET", "/v2/workflows/shipped"))["version"] == 2
    forget_refusals(page)


async def test_an_environment_for_development_saves_at_once(desk: Desk, page: Page) -> None:
    await desk.call(
        "POST", "/v2/workflows", {"name": "Shipped", "workflowId": "shipped", "active": True, "steps": STEPS}
    )
    await desk.open(page, "/workflows/shipped?step=inbox", role="author")
    await write(page, "Text", "New order")

    await save(page)

    assert (await desk.call("GET", "/v2/workflows/shipped"))["version"] == 2
