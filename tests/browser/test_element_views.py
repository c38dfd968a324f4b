"""<clarion-inbox> in a browser: tabs, preferences, scrolling, the keyboard and translations."""

import re

from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import OpenInbox, on_both_databases
from tests.browser.element import wait_until
from tests.browser.service import Service


async def left_of(element: Locator) -> float:
    box = await element.bounding_box()
    assert box is not None
    return box["x"]


async def set_locale(served: Service, person: str, locale: str) -> None:
    async with served.api() as api:
        made = await api.post("/v2/subscribers", json={"subscriberId": person, "locale": locale})
        assert made.is_success, made.text


@on_both_databases
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


@on_both_databases
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


async def test_the_element_speaks_the_language_of_the_person(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await set_locale(served, person, "ar_EG")
    await served.notify(person, title="First")
    inbox = await open_inbox()
    await expect(inbox.bell).to_have_accessible_name("الإشعارات, غير المقروءة: 1")
    await inbox.open()
    await expect(inbox.items).to_have_count(1)

    await expect(inbox.panel).to_have_css("direction", "rtl")
    await expect(inbox.panel).to_have_attribute("lang", "ar-EG")
    await inbox.button("التفضيلات").click()
    await expect(inbox.panel.get_by_role("heading", name="التفضيلات")).to_be_visible()
    await inbox.button("رجوع").click()
    await expect(inbox.button("التفضيلات")).to_be_focused()


async def test_the_page_decides_the_language_and_its_own_texts_replace_those_of_it(
    served: Service, person: str, open_inbox: OpenInbox
) -> None:
    await set_locale(served, person, "ar_EG")
    await served.notify(person, title="First")
    inbox = await open_inbox(locale="de_AT", texts={"notifications": "Meldungen"})

    await expect(inbox.bell).to_have_accessible_name("Meldungen, 1 ungelesen")
    await inbox.open()
    await expect(inbox.items.locator("time")).to_have_text(re.compile("jetzt|vor "))
    await inbox.root.evaluate("element => { element.locale = 'en' }")
    await expect(inbox.bell).to_have_accessible_name("Meldungen, 1 unread")
    await expect(inbox.panel).not_to_have_attribute("lang", re.compile(""))


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
