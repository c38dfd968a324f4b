"""Schedules: the list, and one with what it does next and did last."""

from typing import Any

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems

WORKFLOW = {
    "name": "Report",
    "workflowId": "report",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}],
}
WEEKLY = {"identifier": "weekly", "name": "Weekly", "workflowId": "report", "to": "ada", "cron": "0 9 * * 1"}


async def prepare(desk: Desk, **fields: Any) -> None:
    await desk.call("POST", "/v2/workflows", WORKFLOW)
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "timezone": "Asia/Tokyo"})
    await desk.call("POST", "/v1/schedules", {**WEEKLY, **fields})


async def test_a_schedule_is_made_and_previewed(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/schedules")
    await page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Identifier").fill("daily")
    await dialog.get_by_label("Name").fill("Every day")
    await dialog.get_by_label("Workflow").fill("report")
    await dialog.get_by_label("To", exact=True).select_option("everyone")
    await dialog.get_by_label("Cron expression").fill("0 25 * * *")
    await dialog.get_by_role("button", name="Create schedule").click()
    await expect(dialog.get_by_text("is not a valid cron expression")).to_be_visible()
    await dialog.get_by_label("Cron expression").fill("0 9 * * *")
    await dialog.get_by_label("In the time zone of each person").check()
    await dialog.get_by_role("button", name="Create schedule").click()

    await expect(page.get_by_role("heading", level=1, name="Every day")).to_be_visible()
    made = await desk.call("GET", "/v1/schedules/daily")
    assert (made["to"], made["timezone"]) == ([{"type": "Everyone"}], "subscriber")
    await page.get_by_role("button", name="Show").click()
    await expect(page.get_by_role("table", name="Who would get it, and when")).to_contain_text("Asia/Tokyo")


async def test_a_schedule_is_changed_paused_and_deleted(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.call("POST", "/v1/schedules", {**WEEKLY, "identifier": "daily", "name": "Every day"})
    await desk.open(page, "/schedules/daily")

    await page.get_by_role("button", name="Edit").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("Each morning")
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1, name="Each morning")).to_be_visible()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert (await desk.call("GET", "/v1/schedules/daily"))["paused"]

    await page.get_by_role("link", name="All schedules").click()
    await expect(page.get_by_role("row")).to_have_count(3)
    await page.get_by_role("link", name="Each morning").click()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("link", name="Weekly")).to_be_visible()
    await expect(page.get_by_role("link", name="Each morning")).to_have_count(0)


async def test_a_viewer_sees_a_schedule_and_changes_nothing(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/schedules/weekly", role="viewer")
    await expect(page.get_by_role("table", name="Next moments")).to_be_visible()
    for name in ("Edit", "Pause", "Delete"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_schedules_are_accessible_and_fit(desk: Desk, page: Page) -> None:
    await prepare(desk, name="<b>Weekly</b>" + "x" * 100)
    found: list[str] = []
    for path in ("/schedules", "/schedules/weekly"):
        await desk.open(page, path)
        await expect(page.get_by_text("<b>Weekly</b>").first).to_be_visible()
        found += [f"{path}: {text}" for text in await page.get_by_role("alert").all_inner_texts()]
        found += [f"{path}: {problem}" for problem in await list_problems(page)]
    assert found == []
