"""Those who open something from a list and come back find the list as they left it."""

from playwright.async_api import Locator, Page, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import IN_APP, make_people, make_workflow, trigger
from tests.browser.dashboard.test_activity import rows_of


async def open_link(page: Page, link: Locator) -> int:
    """Open what a link far down is about, and return how far the page was scrolled."""
    # In the middle, where nothing covers it.
    await link.evaluate("(link) => link.scrollIntoView({ block: 'center' })")
    place: int = await page.evaluate("Math.round(scrollY)")
    assert place > 0
    await link.click()
    return place


async def expect_scroll(page: Page, wanted: int) -> None:
    await page.wait_for_function("(wanted) => Math.abs(scrollY - wanted) < 2", arg=wanted)


async def test_activity_shows_the_same_runs_at_the_same_place_and_counts_new_ones(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "welcome", IN_APP)
    for part in range(2):
        await trigger(desk, "welcome", [f"person-{part}-{number}" for number in range(60)])
    await desk.open(page, "/activity")
    await page.get_by_role("button", name="Show more").click()
    await expect(page.get_by_text("120 runs shown")).to_be_visible()

    person = page.get_by_role("link", name="person-0-30", exact=True)
    place = await open_link(page, person)
    await expect(page.get_by_role("heading", level=1, name="person-0-30")).to_be_visible()
    await trigger(desk, "welcome", "newcomer")
    await page.go_back()
    await expect(person).to_be_in_viewport()
    await expect_scroll(page, place)
    await expect(page.get_by_text("120 runs shown")).to_be_visible()
    await expect(page.get_by_role("button", name="1 new run")).to_be_visible()

    place = await open_link(page, page.locator("tr", has=person).get_by_role("link").first)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")
    await page.get_by_role("link", name="All activity").click()
    await expect_scroll(page, place)
    await expect(page.get_by_text("120 runs shown")).to_be_visible()
    await page.get_by_role("button", name="1 new run").click()
    await expect(rows_of(page).first).to_contain_text("newcomer")
    await expect(page.get_by_text("121 runs shown")).to_be_visible()


async def test_with_the_keyboard_somebody_is_back_at_the_run_that_they_opened(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "welcome", IN_APP)
    await trigger(desk, "welcome", ["ada", "bob", "cleo"])
    await desk.open(page, "/activity?range=1h")
    await expect(rows_of(page)).to_have_count(3)
    for key in ("j", "j", "Enter"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")

    await page.go_back()

    await expect(rows_of(page).nth(1).get_by_role("link").first).to_be_focused()
    await page.keyboard.press("j")
    await expect(rows_of(page).nth(2).get_by_role("link").first).to_be_focused()


async def test_subscribers_are_on_the_same_page_at_the_same_place(desk: Desk, page: Page) -> None:
    await make_people(desk, *({"subscriberId": f"person-{number:03}"} for number in range(110)))
    await desk.open(page, "/subscribers")
    rows = page.get_by_role("table", name="Subscribers").get_by_role("row")
    await expect(rows.nth(1)).to_contain_text("person-109")
    await page.get_by_role("button", name="Next").click()
    await expect(rows.nth(1)).to_contain_text("person-059")
    person = page.get_by_role("link", name="person-015", exact=True)
    place = await open_link(page, person)
    await expect(page.get_by_role("heading", level=1, name="person-015")).to_be_visible()

    await page.get_by_role("link", name="All subscribers").click()

    await expect(person).to_be_in_viewport()
    await expect_scroll(page, place)
    await page.go_back()
    await expect(rows.nth(1)).to_contain_text("person-109")


async def test_pages_of_a_list_that_were_loaded_later_are_there_and_up_to_date(desk: Desk, page: Page) -> None:
    await make_workflow(desk, "welcome", IN_APP)
    events = [{"name": "welcome", "to": "ada", "payload": {}} for _ in range(44)]
    await desk.call("POST", "/v1/events/trigger/bulk", {"events": events})
    await trigger(desk, "welcome", "ada")
    await desk.open(page, "/subscribers/ada/runs")
    rows = page.get_by_role("main").get_by_role("table").locator("tbody tr")
    await expect(rows).to_have_count(20)
    await page.get_by_role("button", name="Show more").click()
    await expect(rows).to_have_count(40)
    link = rows.nth(38).get_by_role("link").first
    opened = await link.get_attribute("href")
    place = await open_link(page, link)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")
    await trigger(desk, "welcome", "ada")

    await page.go_back()

    await expect(rows).to_have_count(40)
    await expect_scroll(page, place)
    # The new run is the first, and all others are one further down.
    await expect(rows.nth(39).locator(f"a[href='{opened}']")).to_have_count(1)
