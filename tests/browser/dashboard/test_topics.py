"""Topics, and who is in them."""

from playwright.async_api import Page, Request, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.people import IN_APP, LONG, check_looks, check_width, make_people, make_workflow, trigger


async def make_topic(desk: Desk, key: str, name: str, *members: str) -> None:
    await desk.call("POST", "/v2/topics", {"key": key, "name": name})
    if members:
        await desk.call("POST", f"/v2/topics/{key}/subscriptions", {"subscriberIds": members})


async def test_a_topic_is_created_found_edited_and_deleted(desk: Desk, page: Page) -> None:
    await desk.open(page, "/topics")
    await page.get_by_role("button", name="New topic").first.click()
    await page.get_by_role("textbox", name="Key").fill("release-news")
    await page.get_by_role("textbox", name="Name").fill("Release news")
    await page.get_by_role("button", name="Create topic").click()
    await expect(page.get_by_role("heading", level=1, name="Release news")).to_be_visible()

    await page.get_by_role("button", name="Edit").click()
    await page.get_by_role("textbox", name="Name").fill("Product news")
    await page.get_by_label("People may subscribe themselves").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", level=1, name="Product news")).to_be_visible()
    await page.get_by_role("button", name="Edit").click()
    await expect(page.get_by_label("People may subscribe themselves")).to_be_checked()
    await page.get_by_role("button", name="Cancel").click()

    await page.get_by_role("link", name="All topics").click()
    await page.get_by_role("searchbox", name="Search").fill("PRODUCT")
    await page.get_by_role("link", name="Product news").click()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_label("Type release-news to confirm").fill("release-news")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("heading", name="No topics yet")).to_be_visible()


async def test_people_are_added_by_search_found_and_removed(desk: Desk, page: Page) -> None:
    people = [{"subscriberId": one, "firstName": one.title()} for one in ("ada", "grace", "edsger")]
    await make_people(desk, *people)
    await make_topic(desk, "news", "News", "edsger")
    await desk.open(page, "/topics/news")

    await page.get_by_role("button", name="Add people").click()
    dialog = page.get_by_role("dialog", name="Add people")
    for part, name in (("ad", "Ada"), ("grac", "Grace")):
        await dialog.get_by_role("combobox", name="Person").fill(part)
        await dialog.get_by_role("option", name=name).click()
    await expect(dialog.get_by_role("list", name="Chosen people").get_by_role("listitem")).to_have_count(2)
    await dialog.get_by_role("button", name="Add 2 people").click()
    members = page.get_by_role("table", name="Members").get_by_role("row")
    await expect(members).to_have_count(4)

    finder = page.get_by_role("combobox", name="Find a member")
    await finder.fill("Gra")
    await page.get_by_role("option", name="Grace").click()
    await expect(members).to_have_count(2)
    await page.get_by_role("button", name="Remove Grace").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("heading", name="grace is not a member")).to_be_visible()
    await page.get_by_role("button", name="Show all members").click()
    await expect(members).to_have_count(3)


async def test_people_are_added_from_a_file_a_hundred_at_a_time_and_unknown_ones_are_listed_by_line(
    desk: Desk, page: Page
) -> None:
    await make_people(desk, *({"subscriberId": f"p{number}"} for number in range(250)))
    await make_topic(desk, "news", "News")
    batches: list[str] = []
    await desk.open(page, "/topics/news")

    def note(request: Request) -> None:
        if request.method == "POST":
            batches.append(request.url)

    page.on("request", note)
    await page.get_by_role("button", name="Add from a file").click()
    lines = "name,subscriberId\n" + "".join(f"x,p{number}\n" for number in range(250)) + "x,nobody\nx,p1\n"
    chooser = page.get_by_label("Choose a file")
    await chooser.set_input_files({"name": "ids.csv", "mimeType": "text/csv", "buffer": lines.encode()})
    await page.get_by_role("button", name="Add 251 people").click()

    await expect(page.get_by_text("250 people were added, 1 not.")).to_be_visible()
    refused = page.get_by_role("table", name="Problem").get_by_role("row").nth(1)
    await expect(refused).to_contain_text("252")
    await expect(refused).to_contain_text("Subscriber 'nobody' does not exist")
    assert len(batches) == 3
    assert (await desk.call("GET", "/v2/topics/news?includeCounts=true"))["memberCount"] == 250


async def test_the_runs_of_a_topic_and_the_topics_of_a_person_are_shown(desk: Desk, page: Page) -> None:
    await make_people(desk, {"subscriberId": "ada", "firstName": "Ada"})
    await make_topic(desk, "news", "Product news", "ada")
    await make_workflow(desk, "hello", IN_APP)
    await trigger(desk, "hello", [{"type": "Topic", "topicKey": "news"}])

    await desk.open(page, "/topics/news?part=runs")
    await expect(page.get_by_role("table", name="Recent runs").get_by_role("row").nth(1)).to_contain_text("HelloAda")
    await expect(page.get_by_role("link", name="Show in Activity")).to_have_attribute(
        "href", desk.address_of("/activity?topicKey=news").removeprefix(desk.service.address)
    )

    await desk.open(page, "/subscribers/ada/topics")
    await page.get_by_role("button", name="Remove from Product news").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("heading", name="In no topic")).to_be_visible()


async def test_a_viewer_cannot_change_topics(desk: Desk, page: Page) -> None:
    await make_people(desk, {"subscriberId": "ada"})
    await make_topic(desk, "news", "News", "ada")
    await desk.open(page, "/topics", role="viewer")
    await expect(page.get_by_role("link", name="News")).to_be_visible()
    await expect(page.get_by_role("button", name="New topic")).to_have_count(0)
    await page.get_by_role("link", name="News").click()
    await expect(page.get_by_role("link", name="ada")).to_be_visible()
    for name in ("Edit", "Delete", "Add people", "Add from a file", "Remove ada"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_the_pages_are_accessible_at_both_widths_and_in_both_themes(desk: Desk, page: Page) -> None:
    await make_people(
        desk, {"subscriberId": "maryam", "firstName": "مريم"}, {"subscriberId": "long", "firstName": LONG}
    )
    await make_topic(desk, "k" * 200, LONG, "maryam", "long")
    await desk.open(page, "/topics")
    await expect(page.get_by_role("table")).to_be_visible()
    await check_width(page)
    await page.get_by_role("link", name=LONG).click()
    await expect(page.get_by_role("table", name="Members")).to_be_visible()
    await check_looks(page)
