"""Activity: all runs as they happen."""

import asyncio
from typing import Any, Literal

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import list_axe_problems, on_both_databases
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk

IN_APP = {"name": "Inbox", "type": "in_app", "controlValues": {"subject": "Hi", "body": "Hello"}}
EMAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hi", "body": "<p>Hello</p>"}}
SMS = {"name": "Text", "type": "sms", "controlValues": {"body": "Hello"}}
DELAY = {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "hours"}}
SKIPPED = {**IN_APP, "controlValues": {**IN_APP["controlValues"], "skip": {"==": [1, 2]}}}  # type: ignore[dict-item]

WORKFLOWS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "welcome": ("Welcome", [IN_APP]),
    "broken": ("Broken pager", [SMS]),
    "slow": ("Slow reminder", [DELAY, IN_APP]),
    "skipped": ("Quiet news", [SKIPPED]),
    "long": ("A workflow with a name that is rather long because somebody wanted to be precise", [IN_APP, EMAIL, SMS]),
}

# A filtered list is read again every ten seconds, or more seldom on a slow machine.
REFRESH_TIMEOUT = 240_000
COLOR_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def prepare(desk: Desk, *names: str) -> None:
    """Make workflows, by default all; their text messages fail, because nothing can send them."""
    for name in names or WORKFLOWS:
        title, steps = WORKFLOWS[name]
        body = {"workflowId": name, "name": title, "active": True, "steps": steps}
        await desk.call("POST", "/v2/workflows", body)
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada", "lastName": "Lovelace"})


async def trigger(desk: Desk, workflow: str = "welcome", **fields: Any) -> None:
    """Trigger a workflow, and wait until its runs have been decided."""
    body = {"name": workflow, "to": "ada", **fields}
    transaction = (await desk.call("POST", "/v1/events/trigger", body))["transactionId"]
    async with asyncio.timeout(30):
        while not await _is_settled(desk, transaction):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)


def rows_of(page: Page) -> Locator:
    return page.get_by_role("table", name="Runs", exact=True).get_by_role("row").filter(has=page.get_by_role("cell"))


async def _is_settled(desk: Desk, transaction: str) -> bool:
    runs = (await desk.call("GET", f"/v1/runs?transactionId={transaction}"))["data"]
    return bool(runs) and all(run["status"] != "running" for run in runs)


async def test_a_run_appears_by_itself_and_opens_with_the_keyboard(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome", "long")
    await trigger(desk)
    await desk.open(page, "/activity")
    await expect(rows_of(page)).to_have_count(1)
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()

    await trigger(desk, "long")

    await expect(rows_of(page)).to_have_count(2)
    newest = rows_of(page).first
    await expect(newest.get_by_role("link", name="Ada Lovelace")).to_be_visible()
    await expect(newest.get_by_text("In-app: completed")).to_be_visible()
    await expect(newest.get_by_text("SMS: failed")).to_be_visible()
    await expect(newest.get_by_text("Partly failed")).to_be_visible()

    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    run = (await desk.call("GET", "/v1/runs"))["data"][0]["_id"]
    await expect(page).to_have_url(desk.address_of(f"/activity/{run}"))


@on_both_databases
async def test_new_runs_wait_while_the_list_is_paused(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome")
    await trigger(desk)
    await desk.open(page, "/activity")
    await expect(rows_of(page)).to_have_count(1)

    await page.get_by_role("button", name="Pause").click()
    await trigger(desk)
    await trigger(desk)
    await expect(page.get_by_role("button", name="2 new runs")).to_be_visible()
    await expect(rows_of(page)).to_have_count(1)

    await page.get_by_role("button", name="Resume").click()
    await expect(rows_of(page)).to_have_count(3)
    await expect(page.get_by_role("button", name="new run")).to_have_count(0)


async def test_new_runs_wait_while_somebody_reads_further_down(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome")
    for _ in range(2):
        await trigger(desk, to=[f"person-{number}" for number in range(60)])
    await desk.open(page, "/activity")
    await expect(rows_of(page)).to_have_count(100)

    await rows_of(page).last.scroll_into_view_if_needed()
    await trigger(desk, to=["newcomer"])
    button = page.get_by_role("button", name="1 new run")
    await expect(button).to_be_in_viewport()

    await button.click()
    await expect(rows_of(page).first).to_contain_text("newcomer")
    await expect(rows_of(page)).to_have_count(100)
    await page.get_by_role("button", name="Show more").click()
    await expect(rows_of(page)).to_have_count(121)


async def test_filters_are_in_the_address_and_survive_a_reload(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome", "broken")
    await trigger(desk, transactionId="order-1")
    await trigger(desk, "broken")
    await desk.open(page, "/activity")
    await expect(rows_of(page)).to_have_count(2)

    await page.get_by_role("button", name="Status").click()
    await page.get_by_label("Failed", exact=True).check()
    await expect(rows_of(page)).to_have_count(1)
    await page.keyboard.press("Escape")
    await page.get_by_label("Workflow").fill("Brok")
    await page.get_by_role("option", name="Broken pager").click()
    await page.get_by_label("Time").select_option("Last hour")
    await expect(page).to_have_url(desk.address_of("/activity?status=failed&workflowId=broken&range=1h"))

    await page.reload()
    await expect(rows_of(page)).to_have_count(1)
    await expect(page.get_by_label("Workflow")).to_have_value("broken")
    await expect(page.get_by_role("button", name="Status")).to_contain_text("Failed")

    await page.get_by_role("button", name="Clear filters").click()
    await page.get_by_label("Transaction").fill("order-1")
    await page.keyboard.press("Enter")
    await expect(rows_of(page)).to_have_count(1)
    await expect(rows_of(page)).to_contain_text("Welcome")


async def test_a_run_that_no_longer_matches_leaves_a_filtered_list(desk: Desk, page: Page) -> None:
    await prepare(desk, "slow")
    await trigger(desk, "slow", transactionId="to-cancel")
    await desk.open(page, "/activity?status=waiting")
    await expect(rows_of(page)).to_have_count(1)

    await trigger(desk, "slow")
    await expect(rows_of(page)).to_have_count(2)
    # Everything that was sent so far is counted: nothing new matches the filter from here on.
    async with page.expect_response("**/v1/runs/counts?*", timeout=REFRESH_TIMEOUT):
        pass
    await desk.call("DELETE", "/v1/events/trigger/to-cancel")

    await expect(rows_of(page)).to_have_count(1, timeout=REFRESH_TIMEOUT)


async def test_a_view_is_saved_renamed_opened_by_default_and_deleted(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome", "broken")
    await trigger(desk, "broken")
    await desk.open(page, "/activity?workflowId=broken&range=1h")
    await page.get_by_role("button", name="Save view").click()
    await page.get_by_label("Name of the view").fill("Pager")
    await page.get_by_role("button", name="Save", exact=True).click()
    views = page.get_by_role("navigation", name="Views")
    await expect(views.get_by_role("link", name="Pager")).to_have_attribute("aria-current", "page")

    await page.get_by_role("button", name="Manage views").click()
    await page.get_by_label("Name of the view").fill("On call")
    await page.get_by_role("button", name="Rename Pager").click()
    await page.get_by_label("Activity opens with it").check()
    await page.get_by_role("button", name="Close").click()

    await desk.open(page, "/activity")
    await expect(views.get_by_role("link", name="On call")).to_have_attribute("aria-current", "page")
    await expect(page.get_by_label("Workflow")).to_have_value("broken")
    await views.get_by_role("link", name="All runs").click()
    await expect(page.get_by_label("Workflow")).to_have_value("")

    await page.get_by_role("button", name="Manage views").click()
    await page.get_by_role("button", name="Delete On call").click()
    await page.get_by_role("button", name="Close").click()
    await expect(views.get_by_role("link", name="On call")).to_have_count(0)


async def test_choosing_bars_zooms_and_going_back_returns(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome", "broken")
    await trigger(desk, to=["ada", "bob"])
    await trigger(desk, "broken")
    await desk.open(page, "/activity?range=1h")
    chart = page.get_by_role("slider", name="Runs by outcome")
    await expect(page.get_by_role("button", name="Completed 2")).to_be_visible()

    await chart.focus()
    await page.keyboard.press("Home")
    await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
    await expect(page.get_by_text("A fixed time")).to_be_visible()

    await page.go_back()
    await expect(rows_of(page)).to_have_count(3)
    box = await chart.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 20, steps=3)
    await page.mouse.up()
    await expect(page.get_by_label("From")).to_be_visible()
    await expect(rows_of(page)).to_have_count(3)

    await page.get_by_role("button", name="Failed 1", exact=True).click()
    await expect(rows_of(page)).to_have_count(1)
    await page.get_by_role("button", name="Back to: last hour").click()
    await expect(page).to_have_url(desk.address_of("/activity?status=failed&range=1h"))


async def test_an_unused_environment_says_how_to_trigger_and_shows_the_first_run(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome")
    await desk.open(page, "/activity")

    await expect(page.get_by_role("heading", name="Nothing has been triggered yet")).to_be_visible()
    await expect(page.get_by_text(f"curl -X POST '{desk.service.address}/v1/events/trigger'")).to_be_visible()
    await expect(page.get_by_text(f'server_url="{desk.service.address}"')).to_be_visible()
    await expect(page.get_by_text(f'serverURL: "{desk.service.address}"')).to_be_visible()

    await trigger(desk)
    await expect(rows_of(page)).to_have_count(1)


async def test_a_list_without_matches_says_what_to_widen(desk: Desk, page: Page) -> None:
    await prepare(desk, "welcome")
    await trigger(desk)
    await desk.open(page, "/activity?subscriberId=nobody&subscriberId=no-one&topicKey=news&range=1h")
    await expect(page.get_by_role("heading", name="No run matches")).to_be_visible()

    await page.get_by_role("button", name="Remove the filter Topic news").click()
    await page.get_by_role("button", name="Remove the filter Person no-one").click()
    await page.get_by_role("button", name="Show: last 6 hours").click()
    await expect(page).to_have_url(desk.address_of("/activity?subscriberId=nobody&range=6h"))
    await page.get_by_role("button", name="Clear filters").last.click()
    await expect(rows_of(page)).to_have_count(1)

    await desk.open(page, "/activity?status=lost")
    await expect(page.get_by_role("alert").first).to_contain_text("status")
    page.__dict__["problems"].clear()


async def test_a_viewer_sees_runs_and_nothing_that_changes_them(desk: Desk, page: Page) -> None:
    await prepare(desk, "slow")
    await trigger(desk, "slow")
    await desk.open(page, "/activity", role="viewer")

    await expect(rows_of(page)).to_contain_text("Waiting")
    names = await page.get_by_role("main").get_by_role("button").all_inner_texts()
    assert not [name for name in names if name in ("Cancel", "Redrive", "Trigger")]


async def test_activity_is_accessible_and_fits_every_screen(desk: Desk, page: Page) -> None:
    await prepare(desk, "slow", "long")
    people = ["رانيا-الطويلة", "somebody-with-a-very-long-identifier-that-does-not-end@example.com"]
    await trigger(desk, "long", to=people)
    await trigger(desk, "slow")
    await desk.open(page, "/activity?range=7d")
    await expect(rows_of(page)).to_have_count(3)
    await page.get_by_label("Time").select_option("Exact time")
    await page.get_by_role("button", name="Status").click()
    await expect(page.get_by_label("From")).to_be_visible()
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        if width == 390:
            await page.get_by_role("button", name="Filters").click()
            await page.get_by_role("button", name="Status").click()
        for scheme in COLOR_SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            assert await list_axe_problems(page) == []
        assert await overflow_of(page) == 0
