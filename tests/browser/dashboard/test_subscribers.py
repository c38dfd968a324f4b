"""Subscribers: the list, and the page of one person."""

import json
from pathlib import Path

from playwright.async_api import Page, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import (
    EMAIL,
    LONG,
    NARROW,
    WIDE,
    check_looks,
    check_width,
    forget_refusals,
    make_people,
    make_workflow,
    trigger,
)

ADA = {"subscriberId": "ada", "firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com"}


@on_both_databases
async def test_a_person_is_created_changed_and_found_by_any_part_of_their_address(desk: Desk, page: Page) -> None:
    await desk.open(page, "/subscribers")
    await expect(page.get_by_role("heading", name="Nobody here yet")).to_be_visible()

    await page.get_by_role("button", name="New subscriber").first.click()
    form = page.get_by_role("dialog", name="New subscriber")
    await form.get_by_label("Subscriber id").fill("ada")
    await form.get_by_label("First name").fill("Ada")
    await form.get_by_label("Time zone").fill("Mars/One")
    await form.get_by_label("Custom data").fill('{"plan": "gold"}')
    await form.get_by_role("button", name="Create subscriber").click()
    await expect(form.get_by_text("must be an IANA time zone")).to_be_visible()
    forget_refusals(page)
    await form.get_by_label("Time zone").fill("Europe/London")
    await form.get_by_role("button", name="Create subscriber").click()

    await expect(page.get_by_role("heading", level=1, name="Ada")).to_be_visible()
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Email").fill("ada.byron@example.com")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("main")).to_contain_text("ada.byron@example.com")
    stored = await desk.call("GET", "/v2/subscribers/ada")
    assert (stored["email"], stored["timezone"], stored["data"]) == (
        "ada.byron@example.com",
        "Europe/London",
        {"plan": "gold"},
    )

    await page.get_by_role("link", name="All subscribers").click()
    await page.get_by_role("searchbox", name="Search").fill("BYRON@")
    await expect(page.get_by_role("row").filter(has_text="Ada")).to_contain_text("email")
    assert "q=BYRON" in page.url


async def test_a_long_list_is_paged_and_each_page_has_its_address(desk: Desk, page: Page) -> None:
    await make_people(desk, *({"subscriberId": f"p{number:05}"} for number in range(1_100)))
    await desk.open(page, "/subscribers?order=oldest")
    pager = page.get_by_role("navigation", name="Pages of the list")

    await expect(pager).to_contain_text("1,100 subscribers")
    await expect(page.get_by_role("link", name="p00049")).to_be_visible()
    await pager.get_by_role("button", name="Next").click()
    await expect(page.get_by_role("link", name="p00050")).to_be_visible()
    await expect(page.get_by_role("row")).to_have_count(51)
    await page.reload()
    await expect(page.get_by_role("link", name="p00099")).to_be_visible()
    await pager.get_by_role("button", name="Previous").click()
    await expect(page.get_by_role("link", name="p00000")).to_be_visible()


async def test_preferences_say_which_layer_decides_each_switch(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    await make_workflow(desk, "news")
    await make_workflow(desk, "reset", EMAIL, critical=True)
    await desk.open(page, "/subscribers/ada/preferences")
    news = page.get_by_role("switch", name="Email, News")

    await expect(news).to_have_accessible_description("By default")
    await page.get_by_role("switch", name="For everything: Email").click()
    await expect(news).to_have_accessible_description("Their choice for everything")
    await expect(news).not_to_be_checked()
    await news.click()
    await expect(news).to_be_checked()
    await expect(news).to_have_accessible_description("Their choice for this workflow")
    reset = page.get_by_role("switch", name="Email, Reset")
    await expect(reset).to_be_disabled()
    await expect(reset).to_have_accessible_description("Critical: the person cannot switch it")


async def test_a_week_is_planned_and_kept(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    await desk.open(page, "/subscribers/ada/schedule")

    await page.get_by_role("switch", name="Follow the schedule").click()
    await page.get_by_role("checkbox", name="Sunday").click()
    await page.get_by_role("button", name="Add hours on Monday").click()
    await page.get_by_label("Monday from").fill("22:00")
    await page.get_by_label("Monday until").fill("06:30")
    await expect(page.get_by_text("until the next day")).to_be_visible()
    await page.get_by_role("button", name="Save schedule").click()
    await expect(page.get_by_text("Schedule saved")).to_be_visible()

    week = (await desk.call("GET", "/v2/subscribers/ada/preferences"))["global"]["schedule"]["weeklySchedule"]
    assert week["monday"] == {"isEnabled": True, "hours": [{"start": "10:00 PM", "end": "06:30 AM"}]}
    assert (week["tuesday"], week["sunday"]) == ({"isEnabled": True}, {"isEnabled": False})


async def test_a_dead_device_is_removed_and_the_others_stay(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    credentials = {"webhookUrl": "https://example.com/push", "secretKey": "secret"}
    body = {"providerId": "push-webhook", "channel": "push", "active": True, "credentials": credentials}
    await desk.call("POST", "/v1/integrations", body)
    await desk.open(page, "/subscribers/ada/channels")

    await page.get_by_role("button", name="Add account or device").click()
    await page.get_by_label("Device tokens").fill("old-phone\nnew-phone")
    await page.get_by_role("dialog").get_by_role("button", name="Add").click()
    await page.get_by_role("button", name="Remove device old-phone").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()

    await expect(page.get_by_role("list", name="Device tokens")).to_have_text("new-phoneRemove")
    stored = await desk.call("GET", "/v2/subscribers/ada")
    assert [one["credentials"] for one in stored["channels"]] == [{"deviceTokens": ["new-phone"]}]


async def test_the_inbox_is_shown_and_an_author_can_act_in_it(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    await make_workflow(desk, "news")
    await trigger(desk, "news", "ada", "Ada")
    await desk.open(page, "/subscribers/ada/inbox", role="author")
    card = page.get_by_role("list", name="Notifications").get_by_role("listitem")

    await expect(card).to_contain_text("Hello Ada")
    await expect(card).to_contain_text("Unread")
    await card.get_by_role("button", name="Archive: Hello").click()
    await expect(page.get_by_role("heading", name="Their inbox is empty")).to_be_visible()
    await page.get_by_label("Show").select_option("Archived")
    await expect(card).to_contain_text("Archived")


async def test_why_not_explains_a_workflow_and_one_transaction(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    await make_workflow(desk, "news")
    await desk.call("PATCH", "/v2/subscribers/ada/preferences", {"channels": {"email": False}})
    transaction = await trigger(desk, "news", "ada")
    await desk.open(page, "/subscribers/ada/why")

    await page.get_by_role("combobox", name="Workflow").fill("news")
    await page.get_by_role("option", name="News").click()
    await page.get_by_role("button", name="Explain").click()
    email = page.get_by_role("table", name="What came of it").get_by_role("row").filter(has_text="Email")
    await expect(email).to_contain_text("Skipped")
    await expect(email).to_contain_text("Ada switched email off for all workflows")
    await expect(page.get_by_role("list", name="Decisions")).to_contain_text(
        "The message was put into the inbox of Ada."
    )
    await expect(page.get_by_role("link", name="Open the run")).to_be_visible()

    await page.get_by_label("Ask about").select_option("One transaction")
    await page.get_by_label("Transaction id").fill(transaction)
    await page.get_by_role("button", name="Explain").click()
    await expect(email).to_contain_text("Skipped")
    assert f"transaction={transaction}" in page.url


async def test_everything_of_a_person_is_exported_and_then_erased(desk: Desk, page: Page, tmp_path: Path) -> None:
    await make_people(desk, ADA)
    await make_workflow(desk, "news")
    await trigger(desk, "news", "ada")
    await desk.open(page, "/subscribers/ada/data")

    async with page.expect_download() as saving:
        await page.get_by_role("button", name="Download export").click()
    saved = tmp_path / "export.json"
    await (await saving.value).save_as(saved)
    exported = json.loads(saved.read_text())
    assert exported["subscriberId"] == "ada"
    assert {"subscriber", "run", "message"} <= {item["kind"] for item in exported["data"]}

    await page.get_by_role("button", name="Erase this person").click()
    dialog = page.get_by_role("dialog", name="Erase Ada Lovelace")
    await expect(dialog.get_by_role("button", name="Erase this person")).to_be_disabled()
    await dialog.get_by_label("Type ada to confirm").fill("ada")
    await dialog.get_by_role("button", name="Erase this person").click()
    await expect(page.get_by_role("heading", name="Nobody here yet")).to_be_visible()
    assert (await desk.call("GET", "/v2/subscribers"))["data"] == []


async def test_a_viewer_sees_everything_and_no_way_to_change_it(desk: Desk, page: Page) -> None:
    await make_people(desk, ADA)
    await make_workflow(desk, "news")
    await desk.open(page, "/subscribers", role="viewer")
    await page.get_by_role("link", name="Ada Lovelace").click()
    changing = page.get_by_role("button", name="New subscriber").or_(
        page.get_by_role("button", name="Edit")
        .or_(page.get_by_role("button", name="Add"))
        .or_(page.get_by_role("button", name="Save schedule"))
        .or_(page.get_by_role("button", name="Erase this person"))
    )
    parts = page.get_by_role("navigation", name="Parts of this person's page")
    for part in ("Overview", "Channels", "Preferences", "Schedule", "Inbox", "Topics", "Personal data"):
        await parts.get_by_role("link", name=part).click()
        await expect(parts.get_by_role("link", name=part)).to_have_attribute("aria-current", "page")
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        await expect(changing).to_have_count(0)
        await expect(page.get_by_role("switch").and_(page.locator(":enabled"))).to_have_count(0)


async def test_the_pages_are_accessible_with_long_and_right_to_left_names(desk: Desk, page: Page) -> None:
    await make_people(
        desk,
        ADA,
        {"subscriberId": "i" * 200, "firstName": LONG, "email": f"{'e' * 60}@example.com"},
        {"subscriberId": "maryam", "firstName": "مريم", "lastName": "الأسطرلابي", "data": {"plan": "gold"}},
        {"subscriberId": "no-name"},
    )
    await make_workflow(desk, "news")
    for path, shown in (("", "no-name"), (f"/{'i' * 200}", LONG), ("/maryam", "مريم الأسطرلابي")):
        await desk.open(page, f"/subscribers{path}")
        await expect(page.get_by_role("main")).to_contain_text(shown)
        await check_width(page)
    await desk.open(page, "/subscribers/ada/preferences")
    await expect(page.get_by_role("main")).to_contain_text("By default")
    await check_looks(page, (WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark"))
    await desk.open(page, "/subscribers")
    await expect(page.get_by_role("table")).to_be_visible()
    await check_looks(page)


async def test_a_row_is_one_line_however_long_its_texts_and_a_card_has_only_what_there_is(
    desk: Desk, page: Page
) -> None:
    long = {"subscriberId": f"{'long-' * 15}id", "firstName": LONG, "email": f"{'long-' * 12}@example.com"}
    await make_people(desk, {"subscriberId": "short"}, long)
    await desk.open(page, "/subscribers")
    rows = page.get_by_role("table", name="Subscribers").locator("tbody tr")
    await expect(rows).to_have_count(2)

    heights = await rows.evaluate_all("(rows) => rows.map((row) => Math.round(row.getBoundingClientRect().height))")
    assert abs(heights[0] - heights[1]) <= 1
    await expect(page.get_by_role("link", name=LONG)).to_have_attribute("title", LONG)

    await page.set_viewport_size({"width": 390, "height": 800})
    short = rows.filter(has_text="short")
    await expect(short.locator("td[data-title='Id']")).to_be_visible()
    await expect(short.locator("td[data-title='Email']")).to_be_hidden()
