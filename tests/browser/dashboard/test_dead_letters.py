"""Dead letters: grouped, looked at, redriven after the cause is mended, and discarded"""

from playwright.async_api import Page, expect

from tests.browser.conftest import on_both_databases
from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.vendor import (
    add_integration,
    add_mail_workflow,
    count_letters,
    mail_vendor,
    sent_bodies,
    trigger,
    wait_for_letters,
    wait_for_sent,
)
from tests.providers.loopback import WebServer, answering

REFUSAL = '{"error": "domain is not verified"}'
REASON = "Email Webhook answered 400: domain is not verified"


async def _fail(desk: Desk, vendor: WebServer, *people: str) -> None:
    await add_integration(desk, vendor)
    await add_mail_workflow(desk)
    await trigger(desk, *people)
    await wait_for_letters(desk, len(people))


async def test_without_dead_letters_the_page_says_that_this_is_good(desk: Desk, page: Page) -> None:
    await desk.open(page, "/dead-letters")

    await expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    await expect(page.get_by_text("That is good")).to_be_visible()
    await expect(page.get_by_role("button", name="Redrive")).to_have_count(0)


@on_both_databases
async def test_a_group_is_redriven_after_the_vendor_is_mended(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada", "bob", "cleo")
        vendor.respond = answering(200, '{"id":"vendor-42"}')
        await desk.open(page, "/dead-letters")
        await expect(page.get_by_role("row", name=REASON)).to_contain_text("3")

        await page.get_by_role("button", name=f"Redrive {REASON}").click()
        dialog = page.get_by_role("dialog", name="Redrive 3 dead letters?")
        await dialog.get_by_role("button", name="Redrive").click()
        await expect(dialog).to_contain_text("3 dead letters put back in the queue")
        await dialog.get_by_role("button", name="Close").last.click()
        await expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
        await wait_for_sent(desk, 3)
        assert await count_letters(desk) == 0
        assert {one["to"][0] for one in sent_bodies(vendor)[-3:]} == {
            f"{n}@example.com" for n in ("ada", "bob", "cleo")
        }


async def test_groups_are_switched_and_a_letter_is_opened_and_redriven(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada", "bob")
        await desk.open(page, "/dead-letters")
        await page.get_by_role("link", name="Provider").click()
        await page.get_by_role("link", name="Email Webhook").click()
        await expect(page).to_have_url(desk.address_of("/dead-letters?by=provider&group=email-webhook"))
        await page.get_by_role("link", name="Open the dead letter of ada").click()

        dialog = page.get_by_role("dialog", name="Dead letter")
        await expect(dialog).to_contain_text(REASON)
        await expect(dialog.get_by_role("list", name="What happened")).to_contain_text("Unexpected provider error")
        await expect(dialog.get_by_role("link", name="Open the run")).to_be_visible()
        await page.reload()
        vendor.respond = answering(200, '{"id":"vendor-42"}')
        await dialog.get_by_role("button", name="Redrive").click()
        await expect(page.get_by_text("1 dead letter put back in the queue")).to_be_visible()
        await expect(page.get_by_role("link", name="Open the dead letter of ada")).to_have_count(0)
        await expect(page.get_by_role("link", name="Open the dead letter of bob")).to_be_visible()
        await wait_for_letters(desk, 1)


async def test_all_are_redriven_and_those_that_fail_again_come_back(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada", "bob")
        await desk.open(page, "/dead-letters")
        await page.get_by_role("button", name="Redrive all").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Redrive").click()
        await expect(dialog).to_contain_text("2 dead letters put back in the queue")
        await dialog.get_by_role("button", name="Close").last.click()
        await wait_for_letters(desk, 2)
        await page.get_by_role("button", name="Refresh").click()
        await expect(page.get_by_role("row", name=REASON)).to_contain_text("2")
        assert len(vendor.requests) == 4


async def test_letters_are_discarded_after_a_confirmation(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada", "bob", "cleo")
        letters = (await desk.call("GET", "/v1/dead-letters"))["data"]
        await desk.open(page, f"/dead-letters?by=channel&group=email&letter={letters[0]['_id']}")
        await page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        await page.get_by_role("dialog", name="Discard 1 dead letter?").get_by_role("button", name="Discard").click()
        await expect(page.get_by_text("1 dead letter discarded")).to_be_visible()
        assert await count_letters(desk) == 2

        await page.get_by_role("link", name="All groups").click()
        await page.get_by_role("button", name="Discard all").click()
        dialog = page.get_by_role("dialog", name="Discard 2 dead letters?")
        await expect(dialog.get_by_role("button", name="Discard")).to_be_disabled()
        await dialog.get_by_label("Type discard to confirm").fill("discard")
        await dialog.get_by_role("button", name="Discard").click()
        await expect(dialog).to_contain_text("2 dead letters discarded")
        assert await count_letters(desk) == 0


async def test_a_viewer_sees_dead_letters_and_no_way_to_change_them(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada")
        letters = (await desk.call("GET", "/v1/dead-letters"))["data"]
        await desk.open(page, "/dead-letters", role="viewer")
        await expect(page.get_by_role("row", name=REASON)).to_be_visible()
        await expect(page.get_by_role("button", name="Redrive")).to_have_count(0)
        await desk.open(page, f"/dead-letters?by=channel&group=email&letter={letters[0]['_id']}", role="viewer")
        await expect(page.get_by_role("dialog")).to_contain_text(REASON)
        for name in ("Redrive", "Discard"):
            await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_dead_letters_are_accessible_in_both_themes_and_widths(desk: Desk, page: Page) -> None:
    async with mail_vendor(400, REFUSAL) as vendor:
        await _fail(desk, vendor, "ada", "a-person-with-a-very-long-id-that-does-not-end-before-the-screen-does")
        letters = (await desk.call("GET", "/v1/dead-letters"))["data"]
        opened = f"/dead-letters?by=channel&group=email&letter={letters[0]['_id']}"
        for path in (opened, "/dead-letters"):
            await desk.open(page, path)
            await expect(page.get_by_text(REASON).first).to_be_visible()
            assert await list_problems(page) == []
