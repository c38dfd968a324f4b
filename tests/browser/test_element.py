"""<clarion-inbox> on a page of another origin under a strict policy: what people do with notifications."""

import asyncio

from playwright.async_api import Page, Route, expect

from tests.browser.conftest import OpenInbox, OpenPage, on_both_databases
from tests.browser.element import Inbox, put_inbox_page, wait_until
from tests.browser.service import Service
from tests.browser.site import ProductSite


@on_both_databases
async def test_the_bell_counts_and_a_new_notification_arrives_live(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await expect(inbox.badge).to_have_text("1")

    await served.notify(person, title="Second")
    await expect(inbox.badge).to_have_text("2")
    await expect(inbox.bell).to_have_accessible_name("Notifications, 2 unread")

    await inbox.open()
    await expect(inbox.items).to_have_count(2)
    await expect(inbox.items.first.locator("strong strong")).to_have_text("Second")
    await served.notify(person, title="Third", text="*Now*")
    await expect(inbox.items).to_have_count(3)
    await expect(inbox.items.first.locator("em")).to_have_text("Now")
    await expect(inbox.root.locator("[role=status]")).to_have_text("New notification: Third")


async def test_counts_above_99_are_cut(served: Service, person: str, open_inbox: OpenInbox) -> None:
    await served.notify_many(person, [{"text": "x"}] * 100)

    inbox = await open_inbox()

    await expect(inbox.badge).to_have_text("99+")


async def test_a_click_reads_and_the_tools_read_and_unread(served: Service, person: str, open_inbox: OpenInbox) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await inbox.open()

    await inbox.item("First").locator(".main").click()
    await expect(inbox.badge).to_be_hidden()
    await inbox.press_tool("First", "Mark as unread")
    await expect(inbox.badge).to_have_text("1")
    await inbox.press_tool("First", "Mark as read")
    await expect(inbox.badge).to_be_hidden()
    assert [one["isRead"] for one in await served.state_of(person)] == [True]


async def test_all_are_marked_read(served: Service, person: str, open_inbox: OpenInbox) -> None:
    await served.notify_many(person, [{"text": "x"}] * 3)
    inbox = await open_inbox()
    await inbox.open()

    await inbox.button("Mark all as read").click()

    await expect(inbox.badge).to_be_hidden()
    await expect(inbox.panel.locator(".unread")).to_have_count(0)
    await inbox.show("Unread")
    await expect(inbox.panel.get_by_text("Nothing unread")).to_be_visible()


@on_both_databases
async def test_archiving_can_be_undone_and_the_archive_be_looked_at(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    await served.notify(person, title="Second")
    inbox = await open_inbox()
    await inbox.open()

    await inbox.press_tool("First", "Archive")
    await expect(inbox.items).to_have_count(1)
    await inbox.message.get_by_role("button", name="Undo").click()
    await expect(inbox.items).to_have_count(2)
    await expect(inbox.item("First")).to_have_class("item unread")
    await expect(inbox.badge).to_have_text("2")

    await inbox.press_tool("First", "Archive")
    await expect(inbox.message).to_contain_text("Archived")
    await inbox.show("Archived")
    await expect(inbox.items).to_have_count(1)
    await inbox.press_tool("First", "Move to inbox")
    await expect(inbox.panel.get_by_text("Nothing archived")).to_be_visible()
    await inbox.show("Inbox")
    await expect(inbox.items).to_have_count(2)


async def test_what_is_read_is_archived_at_once(served: Service, person: str, open_inbox: OpenInbox) -> None:
    await served.notify(person, title="First")
    await served.notify(person, title="Second")
    inbox = await open_inbox()
    await inbox.open()
    clicked = asyncio.Event()

    async def answer_late(route: Route) -> None:
        answer = await route.fetch()
        await clicked.wait()
        await route.fulfill(response=answer)

    await inbox.page.route("**/notifications/*/read", answer_late)
    await inbox.press_tool("First", "Mark as read")

    async with inbox.page.expect_response("**/notifications/*/read"):
        await inbox.button("Archive what is read").click()
        clicked.set()

    await expect(inbox.message).to_contain_text("Archived")
    await expect(inbox.items).to_have_count(1)
    await expect(inbox.item("Second")).to_be_visible()


@on_both_databases
async def test_a_notification_is_snoozed_and_the_snooze_ended(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await inbox.open()

    await inbox.press_tool("First", "Snooze")
    await inbox.root.get_by_role("button", name="Tomorrow morning").click()
    await expect(inbox.panel.get_by_text("You are all caught up")).to_be_visible()
    await expect(inbox.badge).to_be_hidden()
    await inbox.show("Snoozed")
    await expect(inbox.item("First")).to_contain_text("Snoozed until")
    await inbox.press_tool("First", "End the snooze")
    await expect(inbox.items).to_have_count(0)
    await inbox.show("Inbox")
    await expect(inbox.item("First")).to_be_visible()
    await expect(inbox.badge).to_have_text("1")


async def test_a_snooze_may_end_at_a_chosen_time(served: Service, person: str, open_inbox: OpenInbox) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await inbox.open()
    await inbox.press_tool("First", "Snooze")
    field = inbox.root.get_by_label("Another time")
    await field.fill(await field.get_attribute("max") or "")

    await inbox.root.locator(".menu form button").click()

    await expect(inbox.message).to_contain_text("Snoozed until")
    assert [one["isSnoozed"] for one in await served.state_of(person, snoozed="true")] == [True]


async def test_deleting_can_be_undone_until_the_inbox_is_closed(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    await served.notify(person, title="Second")
    inbox = await open_inbox()
    await inbox.open()

    await inbox.press_tool("First", "Delete")
    await expect(inbox.items).to_have_count(1)
    await inbox.message.get_by_role("button", name="Undo").click()
    await expect(inbox.items).to_have_count(2)
    await inbox.press_tool("Second", "Delete")
    await inbox.button("Close").click()

    async def is_deleted() -> bool:
        return len(await served.list_ids(person)) == 1

    await wait_until(is_deleted)
    await expect(inbox.badge).to_have_text("1")


async def test_a_button_completes_its_action_and_opens_its_address(
    served: Service, product: ProductSite, person: str, page: Page, open_inbox: OpenInbox
) -> None:
    await served.notify(person, "invitation", title="Party")
    product.put("/accepted", "<!doctype html><title>Accepted</title>")
    inbox = await open_inbox()
    await inbox.open()

    await inbox.button("Accept").click()

    await page.wait_for_url(f"{product.address}/accepted")
    (notification,) = await served.state_of(person)
    assert notification["primaryAction"]["isCompleted"] is True
    assert notification["secondaryAction"]["isCompleted"] is False


async def test_a_page_may_open_addresses_itself(
    served: Service, person: str, page: Page, open_inbox: OpenInbox
) -> None:
    await served.notify(person, "link", title="Link", url="/orders/7")
    inbox = await open_inbox()
    await page.evaluate(
        """() => document.querySelector("clarion-inbox").addEventListener("clarion-open", (event) => {
            event.preventDefault();
            window.opened = event.detail.url;
        })"""
    )
    await inbox.open()

    await inbox.item("Link").locator(".main").click()

    await expect(inbox.badge).to_be_hidden()
    assert await page.evaluate("window.opened") == "/orders/7"


async def test_two_tabs_agree(served: Service, person: str, open_inbox: OpenInbox, make_page: OpenPage) -> None:
    await served.notify(person, title="First")
    first, second = await open_inbox(), await open_inbox(on=await make_page())
    await expect(second.badge).to_have_text("1")
    await first.open()

    await first.press_tool("First", "Mark as read")

    await expect(second.badge).to_be_hidden()


async def test_reads_made_offline_are_sent_later(
    served: Service, person: str, page: Page, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await inbox.open()
    await expect(inbox.items).to_have_count(1)

    await page.context.set_offline(True)
    await inbox.item("First").locator(".main").click()
    await expect(inbox.item("First")).to_have_class("item")
    assert [one["isRead"] for one in await served.state_of(person)] == [False]
    await page.context.set_offline(False)

    async def is_read() -> bool:
        return [one["isRead"] for one in await served.state_of(person)] == [True]

    await wait_until(is_read)
    # The browser logs every request that fails while it is offline.
    page.__dict__["problems"].clear()


async def test_a_refusal_shows_the_servers_sentence(
    served: Service, product: ProductSite, person: str, page: Page
) -> None:
    await page.goto(put_inbox_page(product, served, person, application_identifier="unknown"))
    inbox = Inbox(page)
    await inbox.open()

    await expect(inbox.message).to_contain_text("No environment has the applicationIdentifier 'unknown'")
    # It goes on trying, and the browser logs each refusal.
    await page.close()
    page.__dict__["problems"].clear()


async def test_an_element_can_be_made_and_changed_by_script(
    served: Service, product: ProductSite, person: str, page: Page
) -> None:
    other = served.new_person()
    await served.notify(other, title="For the other")
    await page.goto(put_inbox_page(product, served, person))
    inbox = Inbox(page)
    await expect(inbox.badge).to_be_hidden()

    await page.evaluate(
        "(person) => document.querySelector('clarion-inbox').setAttribute('subscriber-id', person)", other
    )

    await expect(inbox.badge).to_have_text("1")


async def test_an_attribute_that_is_not_json_is_named(
    served: Service, product: ProductSite, person: str, page: Page
) -> None:
    await page.goto(put_inbox_page(product, served, person, tabs="All, Mentions"))
    inbox = Inbox(page)
    await inbox.open()

    await expect(inbox.message).to_have_text("The attribute tabs must be JSON")
