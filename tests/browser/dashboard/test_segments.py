"""Segments: the list, and one with its condition, the people who meet it, and what uses it."""

from typing import Any

from playwright.async_api import Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.people import forget_refusals

GOLD = {"==": [{"var": "subscriber.data.plan"}, "gold"]}
SEGMENT = {"key": "gold", "name": "Gold", "description": "Who pays", "condition": GOLD}
SALE = {
    "name": "Sale",
    "workflowId": "sale",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi", "skip": {"segment": "gold"}}}],
}
WEEKLY = {"identifier": "weekly", "name": "Weekly", "workflowId": "sale", "cron": "0 9 * * 1"}


async def prepare(desk: Desk, **fields: Any) -> None:
    """Two people of the plan gold and one of another, and a segment for the former."""
    for key, plan in (("ana", "gold"), ("ben", "gold"), ("cleo", "free")):
        email = f"{key}@a-company-with-quite-a-long-name.example.com"
        await desk.call("POST", "/v2/subscribers", {"subscriberId": key, "email": email, "data": {"plan": plan}})
    await desk.call("POST", "/v1/segments", {**SEGMENT, **fields})


async def test_a_segment_is_made_while_its_people_are_counted(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/segments")
    await page.get_by_role("button", name="New segment").click()
    dialog = page.get_by_role("dialog")
    people = dialog.get_by_role("region", name="People")
    await expect(people.get_by_text("3 people", exact=True)).to_be_visible()

    await dialog.get_by_label("Key").fill("free")
    await dialog.get_by_label("Name").fill("Free")
    await dialog.get_by_role("button", name="Add a condition").click()
    await expect(people).to_contain_text("names the variable ''")
    forget_refusals(page)
    await dialog.get_by_label("Field").fill("subscriber.data.plan")
    await dialog.get_by_label("Value").fill("free")
    await expect(people.get_by_text("1 person", exact=True)).to_be_visible()
    await expect(people.get_by_role("link", name="cleo")).to_be_visible()
    assert await list_problems(page) == []
    forget_refusals(page)
    await dialog.get_by_role("button", name="Create segment").click()

    await expect(page.get_by_role("heading", level=1, name="Free")).to_be_visible()
    made = await desk.call("GET", "/v1/segments/free")
    assert made["condition"] == {"and": [{"==": [{"var": "subscriber.data.plan"}, "free"]}]}


async def test_the_count_follows_the_condition_until_it_is_saved(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/segments/gold", role="author")
    people = page.get_by_role("region", name="People")
    await expect(people.get_by_text("2 people", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()

    await page.get_by_label("Comparison").select_option("is not")
    await expect(people.get_by_text("1 person", exact=True)).to_be_visible()
    assert (await desk.call("GET", "/v1/segments/gold"))["condition"] == GOLD
    await page.get_by_label("Description").fill("")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Save")).to_be_disabled()

    saved = await desk.call("GET", "/v1/segments/gold")
    assert saved["condition"] == {"and": [{"!=": [{"var": "subscriber.data.plan"}, "gold"]}]}
    assert "description" not in saved
    await expect(people.get_by_text("1 person", exact=True)).to_be_visible()


async def test_a_count_goes_on_where_one_request_ended(desk: Desk, page: Page) -> None:
    """A request looks at ten thousand people; that the first one ended earlier is said in its place."""
    await prepare(desk)
    first = await desk.call("POST", "/v1/segments/preview", {"condition": GOLD})
    ana, ben = first["sample"]
    part = {"count": 1, "sample": [ana], "next": ana["_id"]}
    await page.route("**/v1/segments/gold/preview", lambda route: route.fulfill(json=part))
    await desk.open(page, "/segments/gold")
    people = page.get_by_role("region", name="People")
    await expect(people.get_by_text("1 person so far: not everybody was looked at.")).to_be_visible()

    await people.get_by_role("button", name="Go on counting").click()
    await expect(people.get_by_text("2 people", exact=True)).to_be_visible()
    await expect(people.get_by_role("link")).to_have_text([ana["subscriberId"], ben["subscriberId"]])
    await expect(people.get_by_role("button", name="Go on counting")).to_have_count(0)


async def test_a_segment_that_is_used_is_not_deleted(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.call("POST", "/v2/workflows", SALE)
    await desk.call("POST", "/v1/schedules", {**WEEKLY, "to": {"type": "Segment", "segmentKey": "gold"}})
    await desk.open(page, "/segments/gold")
    usage = page.get_by_role("region", name="Used by")
    await expect(usage.get_by_role("link")).to_have_text(["Sale", "Weekly"])

    await page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Delete").click()
    refusal = "is used by conditions of the workflows 'sale' and by the schedules 'weekly'"
    await expect(dialog.get_by_role("alert")).to_contain_text(refusal)
    forget_refusals(page)
    await desk.call("DELETE", "/v1/schedules/weekly")
    await desk.call("DELETE", "/v2/workflows/sale")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("No segments yet")).to_be_visible()


async def test_a_viewer_sees_a_segment_and_changes_nothing(desk: Desk, page: Page) -> None:
    await prepare(desk)
    await desk.open(page, "/segments/gold", role="viewer")
    await expect(page.get_by_role("region", name="People").get_by_text("2 people", exact=True)).to_be_visible()
    await expect(page.get_by_label("Name")).to_be_disabled()
    await expect(page.get_by_label("Value")).to_be_disabled()
    for name in ("Save", "Delete", "Add rule"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    await desk.open(page, "/segments?do=create", role="viewer")
    await page.get_by_label("Search").fill("old")
    await expect(page.get_by_role("link", name="Gold")).to_be_visible()
    await expect(page.get_by_role("button", name="New segment")).to_have_count(0)


async def test_segments_are_accessible_and_fit(desk: Desk, page: Page) -> None:
    await prepare(desk, name="<b>Gold</b>" + "x" * 100, description="y" * 1000)
    found: list[str] = []
    for path in ("/segments", "/segments/gold"):
        await desk.open(page, path)
        await expect(page.get_by_text("<b>Gold</b>").first).to_be_visible()
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        found += [f"{path}: {text}" for text in await page.get_by_role("alert").all_inner_texts()]
        found += [f"{path}: {problem}" for problem in await list_problems(page)]
    assert found == []
