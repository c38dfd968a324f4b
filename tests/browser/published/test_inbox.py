"""The published inbox components, unmodified, on a page of another origin."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.conftest import OpenPage, on_both_databases
from tests.browser.service import Service
from tests.browser.site import ProductSite
from tests.processes import Process

SCRIPTS = Path(__file__).parent / "dist"
SOCKET_IO, PLAIN = "self-hosted", "cloud"
"""How the components name the two kinds of sockets."""
VARIANTS = [("3.19", SOCKET_IO), ("3.19", PLAIN), ("3.16", SOCKET_IO), ("3.16", PLAIN)]
PAGE = """<!doctype html><html lang="en"><title>A product</title>
<body><div id="root"></div><script src="/published/{name}.js"></script></body></html>"""
BELL = ".nv-inbox__popoverTrigger"
DOT = ".nv-bellDot"
ROWS = ".nv-notification"
NEW = ".nv-notificationListNewNotificationsNotice__button"
TABS = ".nv-notificationsTabs__tabsTrigger"

pytestmark = pytest.mark.skipif(
    not SCRIPTS.exists(), reason="the published components are not built: run `make published`"
)


@pytest.fixture(scope="session")
def pages(product: ProductSite) -> dict[str, str]:
    """The addresses of the pages by their names."""
    found = {}
    for script in SCRIPTS.glob("*.js"):
        product.put(f"/published/{script.name}", script.read_bytes())
        found[script.stem] = product.put(f"/published/{script.stem}", PAGE.format(name=script.stem))
    return found


class Inbox:
    """The component of one person."""

    def __init__(self, service: Service, pages: dict[str, str], make_page: OpenPage, person: str) -> None:
        self.service = service
        self.person = person
        self._pages = pages
        self._make_page = make_page

    async def load(
        self, name: str = "inbox-3.19", socket_type: str = SOCKET_IO, *, beside: Page | None = None, **options: str
    ) -> Page:
        """Open a page with the component."""
        address = self.service.address
        given = {
            "application": self.service.application,
            "subscriber": self.person,
            "backend": address,
            "socket": address if socket_type == SOCKET_IO else address.replace("http", "ws") + "/ws",
            "socketType": socket_type,
            **options,
        }
        page = await self._make_page(beside=beside)
        await page.goto(f"{self._pages[name]}?{urlencode(given)}")
        return page

    async def open(self, *arguments: Any, **options: Any) -> Page:
        """Open a page and the list of notifications on it."""
        page = await self.load(*arguments, **options)
        await page.locator(BELL).click()
        return page

    async def notify(self, *numbers: int, workflow: str = "note") -> None:
        payloads = [{"text": f"Number {number}."} for number in numbers]
        await self.service.notify_many(self.person, payloads, workflow=workflow)

    async def find(self, number: int) -> dict[str, Any]:
        stored = await self.service.state_of(self.person, limit="100")
        (found,) = [one for one in stored if one["body"] == f"Number {number}."]
        return found

    async def expect_stored(self, number: int, **state: bool) -> None:
        async def is_stored() -> bool:
            found = await self.find(number)
            return all(found[name] is value for name, value in state.items())

        await wait_until(is_stored)


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - the state of another process
            await asyncio.sleep(0.05)


@pytest.fixture
def inbox(served: Service, pages: dict[str, str], make_page: OpenPage) -> Inbox:
    return Inbox(served, pages, make_page, served.new_person())


def row(page: Page, number: int) -> Locator:
    return page.locator(ROWS, has_text=f"Number {number}.")


async def use(one: Locator, action: str) -> None:
    """Click a button that shows when the pointer is over a notification."""
    await one.hover()
    await one.locator(f".nv-notification{action}__button").click()


async def choose_view(page: Page, name: str) -> None:
    await page.locator(".nv-inboxStatus__dropdownTrigger").click()
    await page.locator(".nv-inboxStatus__dropdownItem", has_text=name).click()


async def choose_for_all(page: Page, name: str) -> None:
    await page.locator(".nv-moreActions__dropdownTrigger").click()
    await page.locator(".nv-moreActions__dropdownItem", has_text=name).click()
    # Over a row, it would open tooltips that cover the menu.
    await page.mouse.move(0, 0)


@on_both_databases
@pytest.mark.parametrize(("version", "socket_type"), VARIANTS)
async def test_what_was_there_is_listed_and_what_arrives_is_announced(
    inbox: Inbox, version: str, socket_type: str
) -> None:
    await inbox.notify(1, 2)
    page = await inbox.load(f"inbox-{version}", socket_type)
    await expect(page.locator(DOT)).to_be_visible()
    await page.locator(BELL).click()
    await expect(page.locator(ROWS)).to_have_count(2)
    await expect(page.locator(ROWS).first).to_contain_text("Number 2.")

    await inbox.notify(3)
    await page.locator(NEW).click()

    await expect(page.locator(ROWS)).to_have_count(3)
    await expect(page.locator(ROWS).first).to_contain_text("Number 3.")


@pytest.mark.parametrize("version", ["3.19", "3.16"])
async def test_a_notification_is_read_unread_archived_and_unarchived(inbox: Inbox, version: str) -> None:
    await inbox.notify(1)
    page = await inbox.open(f"inbox-{version}")
    one = row(page, 1)

    await use(one, "Read")
    await inbox.expect_stored(1, isRead=True, isArchived=False)
    await expect(page.locator(DOT)).to_have_count(0)
    await use(one, "Unread")
    await inbox.expect_stored(1, isRead=False)
    await expect(page.locator(DOT)).to_have_count(1)
    await use(one, "Archive")
    await inbox.expect_stored(1, isRead=True, isArchived=True)
    await expect(one).to_have_count(0)
    await choose_view(page, "Archived")
    await use(one, "Unarchive")
    await inbox.expect_stored(1, isRead=True, isArchived=False)
    await choose_view(page, "Unread & read")
    await expect(one).to_have_count(1)


@on_both_databases
@pytest.mark.parametrize("version", ["3.19", "3.16"])
async def test_a_notification_is_snoozed_and_taken_back(inbox: Inbox, version: str) -> None:
    await inbox.notify(1)
    page = await inbox.open(f"inbox-{version}")
    one = row(page, 1)

    await use(one, "Snooze")
    await page.locator(".nv-notificationSnooze__dropdownItem").first.click()
    await inbox.expect_stored(1, isSnoozed=True)
    await expect(one).to_have_count(0)
    await expect(page.locator(DOT)).to_have_count(0)
    await choose_view(page, "Snoozed")
    await use(one, "Unsnooze")
    await inbox.expect_stored(1, isSnoozed=False, isRead=False)
    await choose_view(page, "Unread & read")
    await expect(one).to_have_count(1)


async def test_buttons_are_completed(inbox: Inbox) -> None:
    await inbox.notify(1, 2, workflow="invitation")
    page = await inbox.open()

    await row(page, 2).locator(".nv-notificationSecondaryAction__button").click()
    await inbox.expect_stored(2, isRead=True)
    await row(page, 1).locator(".nv-notificationPrimaryAction__button").click()
    await inbox.expect_stored(1, isRead=True)

    assert (await inbox.find(1))["primaryAction"]["isCompleted"] is True
    assert (await inbox.find(2))["secondaryAction"]["isCompleted"] is True


async def test_all_are_read_and_archived_at_once(inbox: Inbox) -> None:
    await inbox.notify(1, 2, 3)
    page = await inbox.open()
    await expect(page.locator(ROWS)).to_have_count(3)

    await choose_for_all(page, "Mark all as read")
    await inbox.expect_stored(1, isRead=True)
    await expect(page.locator(DOT)).to_have_count(0)
    await choose_for_all(page, "Archive all")

    await expect(page.locator(ROWS)).to_have_count(0)
    await inbox.expect_stored(3, isArchived=True)


@on_both_databases
async def test_tabs_show_and_count_what_has_their_tags(inbox: Inbox) -> None:
    await inbox.notify(1, 2)
    await inbox.notify(3, workflow="mention")
    tabs = (
        '[{"label": "All", "filter": {}}, {"label": "Notes", "filter": {"tags": ["note"]}},'
        ' {"label": "Mentions", "filter": {"tags": ["mention"]}}]'
    )
    page = await inbox.open(tabs=tabs)
    shown = page.locator(f"{ROWS}:visible")
    await expect(shown).to_have_count(3)

    await page.locator(TABS, has_text="Mentions").click()

    await expect(shown).to_have_count(1)
    await expect(shown).to_contain_text("Number 3.")
    await expect(page.locator(TABS, has_text="Notes")).to_contain_text("2")


@on_both_databases
async def test_a_long_list_scrolls_to_its_end_without_gap_or_repetition(inbox: Inbox) -> None:
    numbers = range(1, 64)
    await inbox.notify(*numbers)
    page = await inbox.open()
    rows = page.locator(ROWS)
    await expect(rows).to_have_count(10)

    async def is_at_end() -> bool:
        await rows.last.scroll_into_view_if_needed()
        await rows.last.hover()
        await page.mouse.wheel(0, 600)
        return await rows.count() == len(numbers)

    await wait_until(is_at_end)
    texts = await page.locator(f"{ROWS} .nv-notificationBody").all_inner_texts()
    assert texts == [f"Number {number}." for number in reversed(numbers)]
    await expect(page.locator(".nv-notificationList__skeleton")).to_have_count(0)


async def test_a_second_tab_takes_part(inbox: Inbox) -> None:
    first = await inbox.load()
    second = await inbox.load(beside=first)
    await expect(second.locator(BELL)).to_be_visible()
    await inbox.notify(1)
    await expect(first.locator(DOT)).to_have_count(1)
    await expect(second.locator(DOT)).to_have_count(1)

    reconnected = asyncio.Event()
    second.on("websocket", lambda socket: socket.on("framereceived", lambda _: reconnected.set()))
    await first.close()
    await second.locator(BELL).click()
    await expect(second.locator(ROWS)).to_have_count(1)
    await asyncio.wait_for(reconnected.wait(), timeout=60)
    await inbox.notify(2)
    await second.locator(NEW).click()
    await expect(second.locator(ROWS)).to_have_count(2)


@on_both_databases
async def test_preferences_and_the_schedule_are_changed_and_critical_ones_are_locked(inbox: Inbox) -> None:
    page = await inbox.open(preferences='{"criticality": "all"}')
    await page.locator(".nv-preferences__button").click()
    note = page.locator(".nv-workflowContainer", has_text="Note")
    await note.click()
    await note.locator(".nv-channelContainer", has_text="Email").locator(".nv-channelSwitch").click()

    async def is_switched_off() -> bool:
        found = (await inbox.service.preferences_of(inbox.person))["workflows"]
        channels = {one["workflow"]["identifier"]: one["channels"] for one in found}
        return bool(channels["note"] == {"in_app": True, "email": False})

    await wait_until(is_switched_off)
    await page.locator(".nv-scheduleContainer .nv-channelSwitch").first.click()

    async def has_schedule() -> bool:
        schedule = (await inbox.service.preferences_of(inbox.person))["global"].get("schedule", {})
        monday = schedule.get("weeklySchedule", {}).get("monday", {})
        return bool(monday.get("hours") == [{"start": "09:00 AM", "end": "05:00 PM"}] and schedule["isEnabled"])

    await wait_until(has_schedule)
    alert = page.locator(".nv-workflowContainer", has_text="Security alert")
    for switch in await alert.locator("input[type=checkbox]").all():
        await expect(switch).to_be_disabled()


@pytest.mark.parametrize("socket_type", [SOCKET_IO, PLAIN])
async def test_after_a_restart_of_the_service_pages_connect_again(
    pages: dict[str, str], browser: Browser, tmp_path: Path, socket_type: str
) -> None:
    async def make_page(**_: Any) -> Page:
        # Not watched: while the service is down, the page logs errors.
        return await browser.new_page()

    process = Process(["serve", "--data-dir", str(tmp_path)], {})
    try:
        service = Service(process)
        await service.prepare()
        inbox = Inbox(service, pages, make_page, "ada")
        page = await inbox.load("inbox-3.19", socket_type)
        await inbox.notify(1)
        await expect(page.locator(DOT)).to_have_count(1)
        reconnected = asyncio.Event()
        page.on("websocket", lambda socket: socket.on("framereceived", lambda _: reconnected.set()))
        process.stop()
        process.close()

        port = process.address.rpartition(":")[2]
        process = Process(["serve", "--data-dir", str(tmp_path), "--port", port], {})
        await asyncio.wait_for(reconnected.wait(), timeout=60)
        await page.locator(BELL).click()
        await expect(page.locator(ROWS)).to_have_count(1)
        await inbox.notify(2)
        await page.locator(NEW).click()
        await expect(page.locator(ROWS)).to_have_count(2)
        await page.close()
    finally:
        process.close()


@pytest.mark.parametrize("socket_type", [SOCKET_IO, PLAIN])
async def test_the_client_without_a_user_interface_works(inbox: Inbox, socket_type: str) -> None:
    page = await inbox.load("headless", socket_type)
    assert await page.evaluate("novu.notifications.list().then((found) => found.data.notifications.length)") == 0
    await page.wait_for_function("received.some((one) => one.name === 'unread_count_changed')")
    await inbox.notify(1)
    await page.wait_for_function("received.some((one) => one.name === 'notification_received')")
    await page.wait_for_function(
        "received.some((one) => one.name === 'unread_count_changed' && one.result.total === 1)"
    )

    listed = await page.evaluate(
        "novu.notifications.list({useCache: false}).then(({data}) => {"
        " window.first = data.notifications[0]; return [window.first.body, window.first.isRead] })"
    )
    assert listed == ["Number 1.", False]
    for action, state in (("read", {"isRead": True}), ("unread", {"isRead": False}), ("archive", {"isArchived": True})):
        assert await page.evaluate(f"novu.notifications.{action}({{notification: first}}).then((one) => !one.error)")
        await inbox.expect_stored(1, **state)
    counted = await page.evaluate("novu.notifications.count({archived: true}).then((found) => found.data.count)")
    assert counted == 1
    preferences = await page.evaluate("novu.preferences.list().then((found) => found.data.map((one) => one.level))")
    assert preferences[0] == "global"
    assert await page.evaluate("received.filter((one) => one.name === 'notification_received').length") == 1
