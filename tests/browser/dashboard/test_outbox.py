"""The outbox: what the built-in providers would have sent."""

from playwright.async_api import Page, expect

from tests.browser.conftest import OpenPage, on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.runs import ADA, keep_mails, mail, make_workflow, step, trigger, wait_for_end

PHONE = "+4915112345678"
BOB = {"subscriberId": "bob", "firstName": "Bob", "email": "bob@example.com", "phone": PHONE}


async def send(desk: Desk, *people: dict[str, str]) -> None:
    for person in people:
        await wait_for_end(desk, await trigger(desk, person))


async def make_outbox(desk: Desk) -> None:
    """Mails to Ada and Bob, and a text message to Bob, from the oldest to the newest."""
    await keep_mails(desk, "email", "sms")
    await make_workflow(desk, mail("<h1>Dear {{subscriber.firstName}}</h1>"), step("sms", "Text", body="Call us"))
    await send(desk, ADA, BOB)


async def test_an_empty_outbox_says_how_to_send_the_first_message(desk: Desk, page: Page) -> None:
    await desk.open(page, "/outbox")

    await expect(page.get_by_role("heading", name="Nothing was sent yet")).to_be_visible()
    await expect(page.get_by_text("/v1/events/trigger")).to_be_visible()
    await page.get_by_role("link", name="Go to integrations").click()
    await expect(page).to_have_url(desk.address_of("/integrations"))


@on_both_databases
async def test_messages_are_read_searched_and_filtered(desk: Desk, page: Page) -> None:
    await make_outbox(desk)
    await desk.open(page, "/outbox")
    lines = page.get_by_role("navigation", name="Messages").get_by_role("link")

    await expect(lines).to_have_count(3)
    await expect(lines.nth(0)).to_contain_text("Call us")
    await expect(page.get_by_role("article")).to_contain_text("7 characters")
    await page.get_by_label("Recipient").fill("ADA@")
    await expect(lines).to_have_count(1)
    await lines.first.click()
    letter = page.get_by_role("article")
    await expect(letter.get_by_role("heading", name="Hello Ada")).to_be_visible()
    await expect(letter.frame_locator("iframe").get_by_role("heading", name="Dear Ada")).to_be_visible()
    await page.get_by_label("Recipient").fill("nobody")
    await page.get_by_role("button", name="Show all messages").click()
    await page.get_by_label("Channel").select_option("SMS")
    await expect(lines).to_have_count(1)
    await expect(page).to_have_url(desk.address_of("/outbox?channel=sms"))


async def test_an_address_leads_to_a_message_and_the_keys_to_the_others(desk: Desk, page: Page) -> None:
    await make_outbox(desk)
    newest, *_, oldest = [one["_id"] for one in (await desk.call("GET", "/v1/outbox"))["data"]]
    await desk.open(page, f"/outbox?message={oldest}")
    letter = page.get_by_role("article")

    await expect(letter.get_by_role("heading", name="Hello Ada")).to_be_visible()
    await expect(page.get_by_role("link", name="Call us")).to_be_visible()
    await page.keyboard.press("k")
    await expect(letter.get_by_role("heading", name="Hello Bob")).to_be_visible()
    await page.keyboard.press("k")
    await expect(page).to_have_url(desk.address_of(f"/outbox?message={newest}"))
    await letter.get_by_role("link", name="Open the run").click()
    await expect(page.get_by_role("tabpanel").or_(page.get_by_text("7 characters"))).to_be_visible()


async def test_a_new_message_appears_and_what_is_read_stays(desk: Desk, page: Page) -> None:
    await make_outbox(desk)
    await desk.open(page, "/outbox")
    lines = page.get_by_role("navigation", name="Messages").get_by_role("link")
    await expect(page.get_by_role("article")).to_contain_text("7 characters")

    await send(desk, ADA)

    await expect(lines).to_have_count(4)
    await expect(lines.nth(0)).to_contain_text("ada@example.com")
    await expect(page.get_by_role("article")).to_contain_text("7 characters")


async def test_on_a_narrow_screen_the_list_and_the_message_take_turns(desk: Desk, make_page: OpenPage) -> None:
    await make_outbox(desk)
    page = await make_page(width=390)
    await desk.open(page, "/outbox", role="viewer")
    listed = page.get_by_role("navigation", name="Messages")

    await listed.get_by_role("link").filter(has_text="Hello Bob").click()
    await expect(page.get_by_role("heading", name="Hello Bob")).to_be_visible()
    await expect(listed).to_be_hidden()
    await page.get_by_role("button", name="All messages").click()
    await expect(listed).to_be_visible()
    await expect(page.get_by_role("article")).to_be_hidden()


async def test_the_outbox_is_accessible(desk: Desk, page: Page) -> None:
    await make_outbox(desk)
    await send(desk, BOB | {"firstName": "ليلى", "email": f"{'long.' * 12}address@subdomain.example.com"})
    await desk.open(page, "/outbox")
    lines = page.get_by_role("navigation", name="Messages").get_by_role("link")
    await lines.filter(has_text="Hello ليلى").click()
    await expect(page.get_by_role("heading", name="Hello ليلى")).to_be_visible()

    assert await list_problems(page) == []
