"""<clarion-inbox> in a browser, on a page of another origin under a strict policy."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.element import Inbox, put_inbox_page
from tests.browser.service import Service
from tests.browser.site import ProductSite

OpenInbox = Callable[..., Awaitable[Inbox]]


@pytest.fixture
def person(served: Service) -> str:
    return served.new_person()


@pytest.fixture
def open_inbox(served: Service, product: ProductSite, person: str, page: Page) -> OpenInbox:
    """Open the page of the person: `await open_inbox(tabs=[…])`."""

    async def open_page(on: Page | None = None, **attributes: Any) -> Inbox:
        used = on or page
        await used.goto(put_inbox_page(product, served, person, **attributes))
        return Inbox(used)

    return open_page


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():  # noqa: ASYNC110 - the state of another process
            await asyncio.sleep(0.05)


async def left_of(element: Locator) -> float:
    box = await element.bounding_box()
    assert box is not None
    return box["x"]


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
    await inbox.press_tool("First", "Mark as read")

    await inbox.button("Archive what is read").click()

    await expect(inbox.items).to_have_count(1)
    await expect(inbox.item("Second")).to_be_visible()
    await expect(inbox.message).to_contain_text("Archived")


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


async def test_tabs_show_and_count_their_tags(served: Service, person: str, page: Page, open_inbox: OpenInbox) -> None:
    await served.notify(person, "note", title="A note")
    await served.notify(person, "mention", title="A mention")
    inbox = await open_inbox(tabs=[{"label": "All"}, {"label": "Mentions", "tags": ["mention"]}])
    await inbox.open()
    mentions = inbox.panel.get_by_role("tab", name="Mentions")
    await expect(mentions).to_have_text("Mentions1")

    await mentions.click()
    await expect(inbox.items).to_have_count(1)
    await served.notify(person, "note", title="Another note")
    await served.notify(person, "mention", title="Another mention")
    await expect(inbox.items).to_have_count(2)
    await expect(mentions).to_have_text("Mentions2")
    await page.keyboard.press("ArrowLeft")
    await expect(inbox.panel.get_by_role("tab", name="All")).to_be_focused()
    await expect(inbox.items).to_have_count(4)


async def test_preferences_are_changed_and_required_ones_are_locked(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    inbox = await open_inbox()
    await inbox.open()
    await inbox.button("Preferences").click()
    mail = inbox.panel.get_by_role("group", name="Mention").get_by_role("switch", name="Email")
    everything = inbox.panel.get_by_role("group", name="All notifications").get_by_role("switch", name="Email")
    await expect(inbox.panel.get_by_role("group", name="Security alert").get_by_role("switch").first).to_be_disabled()

    await mail.uncheck()
    await expect(inbox.message).to_contain_text("Saved")
    await everything.uncheck()
    await everything.check()
    await expect(mail).to_be_checked()

    async def is_stored() -> bool:
        stored = await served.preferences_of(person)
        channels = {one["workflow"]["identifier"]: one["channels"] for one in stored["workflows"]}
        return bool(stored["global"]["channels"]["email"]) and bool(channels["mention"]["email"])

    await wait_until(is_stored)
    await inbox.button("Back").click()
    await expect(inbox.button("Preferences")).to_be_focused()


async def test_delivery_hours_are_stored(served: Service, person: str, open_inbox: OpenInbox) -> None:
    inbox = await open_inbox()
    await inbox.open()
    await inbox.button("Preferences").click()

    await inbox.panel.get_by_role("switch", name="Only at these times").check()
    await inbox.panel.get_by_label("Monday: From").fill("08:30")
    await inbox.panel.get_by_role("switch", name="Tuesday").uncheck()

    async def is_stored() -> bool:
        schedule = (await served.preferences_of(person))["global"].get("schedule") or {}
        week = schedule.get("weeklySchedule", {})
        return (
            bool(schedule.get("isEnabled"))
            and week["monday"]["hours"] == [{"start": "08:30 AM", "end": "05:00 PM"}]
            and not week["tuesday"]["isEnabled"]
        )

    await wait_until(is_stored)
    await inbox.page.reload()
    await inbox.open()
    await inbox.button("Preferences").click()
    await expect(inbox.panel.get_by_label("Monday: From")).to_have_value("08:30")


async def test_sixty_notifications_scroll_in_without_gap_or_double(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify_many(person, [{"text": f"Number {number}"} for number in range(60)])
    inbox = await open_inbox()
    await inbox.open()
    await expect(inbox.items).not_to_have_count(0)

    async def has_all() -> bool:
        await inbox.items.last.scroll_into_view_if_needed()
        return await inbox.items.count() >= 60

    await wait_until(has_all)
    ids = await inbox.items.evaluate_all("(items) => items.map((one) => one.dataset.id)")
    assert len(ids) == 60
    assert set(ids) == set(await served.list_ids(person))


async def test_everything_is_reached_with_the_keyboard(
    served: Service, person: str, page: Page, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    await served.notify(person, title="Second")
    inbox = await open_inbox()
    await expect(inbox.badge).to_have_text("2")
    await page.keyboard.press("Tab")
    await expect(inbox.bell).to_be_focused()

    await page.keyboard.press("Enter")
    await expect(inbox.panel).to_be_focused()
    await expect(inbox.items).to_have_count(2)
    await page.keyboard.press("ArrowDown")
    await expect(inbox.item("Second").locator(".main")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(inbox.item("First").locator(".main")).to_be_focused()
    await page.keyboard.press("ArrowRight")
    await expect(inbox.item("First").get_by_role("button", name="Mark as read")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(inbox.item("First").get_by_role("button", name="Mark as unread")).to_be_focused()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await expect(inbox.item("First").get_by_role("button", name="Archive")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(inbox.item("Second").locator(".main")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(inbox.panel).to_be_hidden()
    await expect(inbox.bell).to_be_focused()


async def test_the_choice_of_a_snooze_closes_by_itself_with_escape(
    served: Service, person: str, page: Page, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await inbox.open()
    await inbox.press_tool("First", "Snooze")
    await expect(inbox.root.get_by_role("button", name="In an hour")).to_be_focused()

    await page.keyboard.press("Escape")

    await expect(inbox.root.locator(".menu")).to_be_hidden()
    await expect(inbox.panel).to_be_visible()
    await expect(inbox.item("First").get_by_role("button", name="Snooze")).to_be_focused()


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
    page.__dict__["problems"].clear()


async def test_texts_are_translated_and_the_panel_follows_the_direction(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await served.notify(person, title="First")
    inbox = await open_inbox(dir="rtl", lang="ar", texts={"notifications": "الإشعارات", "unreadCount": "{n} غير مقروء"})
    await expect(inbox.bell).to_have_accessible_name("الإشعارات, 1 غير مقروء")
    await inbox.open()
    await expect(inbox.items).to_have_count(1)

    assert 0 <= await left_of(inbox.panel) < 100
    assert await left_of(inbox.panel.locator(".mark")) > await left_of(inbox.items.locator("time"))
    await expect(inbox.items.locator("time")).not_to_contain_text("ago")


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
