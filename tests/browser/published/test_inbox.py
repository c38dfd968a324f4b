"""The published inbox components, unmodified, on a page of another origin."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.service import APPLICATION, ENVIRON, Service, WatchedPage, serving
from tests.processes import Process

FOLDER = Path(__file__).parent
SOCKET_IO, PLAIN = "self-hosted", "cloud"
VARIANTS = [("3.19", SOCKET_IO), ("3.19", PLAIN), ("3.16", SOCKET_IO), ("3.16", PLAIN)]
PAGE = """<!doctype html><html lang="en"><title>An application</title>
<body><div id="root"></div><script src="/{script}"></script></body></html>"""
BELL = ".nv-inbox__popoverTrigger"
ROWS = ".nv-notification"

expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of a web server with the pages of an application."""
    scripts = {"/3.19": "inbox-3.19.js", "/3.16": "inbox-3.16.js", "/headless": "headless.js"}
    pages = {path: PAGE.format(script=script) for path, script in scripts.items()}
    with serving(str(FOLDER / "dist"), pages) as address:
        yield address


class Inbox:
    """The component of one person on a page."""

    def __init__(self, site: str, service: Service, person: str) -> None:
        self._site = site
        self.service = service
        self.person = person

    async def open(
        self, context: BrowserContext, version: str = "3.19", socket_type: str = SOCKET_IO, **options: str
    ) -> Page:
        page = await context.new_page()
        await page.goto(self.url(version, socket_type, **options))
        return page

    def url(self, page: str, socket_type: str, **options: str) -> str:
        address = self.service.address
        socket = address if socket_type == SOCKET_IO else address.replace("http", "ws") + "/ws"
        given = {
            "application": APPLICATION,
            "subscriber": self.person,
            "backend": address,
            "socket": socket,
            "socketType": socket_type,
            **options,
        }
        return f"{self._site}/{page}?{urlencode(given)}"

    async def trigger(self, *numbers: int, workflow: str = "greeting") -> None:
        for number in numbers:
            await self.service.trigger(workflow, self.person, n=number)

    async def wait_for(self, count: int) -> None:
        """Wait until the person has so many notifications."""
        for _ in range(400):
            if len(await self.service.notifications(self.person)) == count:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the notifications did not come")

    async def check(self, body: str, **state: bool) -> None:
        """Wait until the notification is stored in this state."""
        for _ in range(400):
            found = await self.service.find(self.person, body)
            if {name: found[name] for name in state} == state:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{body} is {found}")


@pytest.fixture
async def inbox(site: str, service: Service) -> Inbox:
    await service.make_workflow("greeting", tags=["news"])
    return Inbox(site, service, service.person())


@pytest.fixture
async def context(watched: tuple[BrowserContext, list[WatchedPage]]) -> AsyncIterator[BrowserContext]:
    """A browser context; at the end, nothing went wrong in any of its pages."""
    opened, pages = watched
    yield opened
    assert [problem for page in pages for problem in page.problems] == []


def row(page: Page, text: str) -> Any:
    return page.locator(ROWS, has_text=text)


async def choose_view(page: Page, name: str) -> None:
    await page.locator(".nv-inboxStatus__dropdownTrigger").click()
    await page.locator(".nv-inboxStatus__dropdownItem", has_text=name).click()


@pytest.mark.parametrize(("version", "socket_type"), VARIANTS)
async def test_what_was_there_is_listed_and_what_arrives_is_announced(
    inbox: Inbox, context: BrowserContext, version: str, socket_type: str
) -> None:
    await inbox.trigger(1, 2)
    await inbox.wait_for(2)
    page = await inbox.open(context, version, socket_type)
    await expect(page.locator(".nv-bellDot")).to_be_visible()
    await page.locator(BELL).click()
    await expect(page.locator(ROWS)).to_have_count(2)
    await expect(page.locator(ROWS).first).to_contain_text("Number 2")

    await inbox.trigger(3)
    await page.locator(".nv-notificationListNewNotificationsNotice__button").click()

    await expect(page.locator(ROWS)).to_have_count(3)
    await expect(page.locator(ROWS).first).to_contain_text("Number 3")


@pytest.mark.parametrize("version", ["3.19", "3.16"])
async def test_a_notification_is_read_unread_archived_and_unarchived(
    inbox: Inbox, context: BrowserContext, version: str
) -> None:
    await inbox.trigger(1)
    await inbox.wait_for(1)
    page = await inbox.open(context, version)
    await page.locator(BELL).click()
    one = row(page, "Number 1")

    await one.hover()
    await page.locator(".nv-notificationRead__button").click()
    await inbox.check("Number 1", isRead=True, isArchived=False)
    await expect(page.locator(".nv-bellDot")).to_have_count(0)
    await one.hover()
    await page.locator(".nv-notificationUnread__button").click()
    await inbox.check("Number 1", isRead=False)
    await expect(page.locator(".nv-bellDot")).to_have_count(1)
    await one.hover()
    await page.locator(".nv-notificationArchive__button").click()
    await inbox.check("Number 1", isRead=True, isArchived=True)
    await expect(one).to_have_count(0)
    await choose_view(page, "Archived")
    await one.hover()
    await page.locator(".nv-notificationUnarchive__button").click()
    await inbox.check("Number 1", isRead=True, isArchived=False)
    await choose_view(page, "Unread & read")
    await expect(one).to_have_count(1)


@pytest.mark.parametrize("version", ["3.19", "3.16"])
async def test_a_notification_is_snoozed_and_taken_back(inbox: Inbox, context: BrowserContext, version: str) -> None:
    await inbox.trigger(1)
    await inbox.wait_for(1)
    page = await inbox.open(context, version)
    await page.locator(BELL).click()
    one = row(page, "Number 1")

    await one.hover()
    await page.locator(".nv-notificationSnooze__button").click()
    await page.locator(".nv-notificationSnooze__dropdownItem").first.click()
    await inbox.check("Number 1", isSnoozed=True)
    await expect(one).to_have_count(0)
    await expect(page.locator(".nv-bellDot")).to_have_count(0)
    await choose_view(page, "Snoozed")
    await one.hover()
    await page.locator(".nv-notificationUnsnooze__button").click()
    await inbox.check("Number 1", isSnoozed=False, isRead=False)
    await choose_view(page, "Unread & read")
    await expect(one).to_have_count(1)


async def test_buttons_are_completed(inbox: Inbox, context: BrowserContext) -> None:
    await inbox.trigger(1, 2)
    await inbox.wait_for(2)
    page = await inbox.open(context)
    await page.locator(BELL).click()

    await row(page, "Number 1").locator(".nv-notificationPrimaryAction__button").click()
    await row(page, "Number 2").locator(".nv-notificationSecondaryAction__button").click()

    await inbox.check("Number 1", isRead=True)
    await inbox.check("Number 2", isRead=True)
    assert (await inbox.service.find(inbox.person, "Number 1"))["primaryAction"]["isCompleted"] is True
    assert (await inbox.service.find(inbox.person, "Number 2"))["secondaryAction"]["isCompleted"] is True


async def test_all_are_read_and_archived_at_once(inbox: Inbox, context: BrowserContext) -> None:
    await inbox.trigger(1, 2, 3)
    await inbox.wait_for(3)
    page = await inbox.open(context)
    await page.locator(BELL).click()
    await expect(page.locator(ROWS)).to_have_count(3)

    await page.locator(".nv-moreActions__dropdownTrigger").click()
    await page.locator(".nv-moreActions__dropdownItem", has_text="Mark all as read").click()
    await inbox.check("Number 1", isRead=True)
    await expect(page.locator(".nv-bellDot")).to_have_count(0)
    await page.locator(".nv-moreActions__dropdownTrigger").click()
    await page.locator(".nv-moreActions__dropdownItem", has_text="Archive all").click()

    await expect(page.locator(ROWS)).to_have_count(0)
    await inbox.check("Number 3", isArchived=True)


async def test_tabs_show_what_has_their_tags(inbox: Inbox, context: BrowserContext) -> None:
    await inbox.service.make_workflow("billing", tags=["billing"])
    await inbox.trigger(1, 2)
    await inbox.trigger(3, workflow="billing")
    await inbox.wait_for(3)
    tabs = (
        '[{"label": "All", "filter": {}}, {"label": "News", "filter": {"tags": ["news"]}},'
        ' {"label": "Bills", "filter": {"tags": ["billing"]}}]'
    )
    page = await inbox.open(context, tabs=tabs)
    await page.locator(BELL).click()
    await expect(page.locator(f"{ROWS}:visible")).to_have_count(3)

    await page.locator(".nv-notificationsTabs__tabsTrigger", has_text="Bills").click()
    await expect(page.locator(f"{ROWS}:visible")).to_have_count(1)
    await expect(page.locator(f"{ROWS}:visible")).to_contain_text("Number 3")
    await expect(page.locator(".nv-notificationsTabs__tabsTrigger", has_text="News")).to_contain_text("2")


async def test_a_long_list_scrolls_to_its_end_without_gap_or_repetition(inbox: Inbox, context: BrowserContext) -> None:
    numbers = range(1, 64)
    events = [{"name": "greeting", "to": inbox.person, "payload": {"n": number}} for number in numbers]
    await inbox.service.request("POST", "/v1/events/trigger/bulk", {"events": events})
    await inbox.wait_for(len(numbers))
    page = await inbox.open(context)
    await page.locator(BELL).click()
    await expect(page.locator(ROWS)).to_have_count(10)

    for _ in range(60):
        if await page.locator(ROWS).count() == len(numbers):
            break
        await page.locator(ROWS).last.scroll_into_view_if_needed()
        await page.mouse.move(200, 400)
        await page.mouse.wheel(0, 600)
        await page.wait_for_timeout(100)

    await expect(page.locator(ROWS)).to_have_count(len(numbers))
    texts = await page.locator(f"{ROWS} .nv-notificationBody").all_inner_texts()
    assert texts == [f"Number {number}" for number in reversed(numbers)]
    await expect(page.locator(".nv-notificationList__skeleton")).to_have_count(0)


async def test_a_second_tab_takes_part(inbox: Inbox, context: BrowserContext) -> None:
    first, second = await inbox.open(context), await inbox.open(context)
    await expect(second.locator(BELL)).to_be_visible()
    await inbox.trigger(1)
    await expect(first.locator(".nv-bellDot")).to_have_count(1)
    await expect(second.locator(".nv-bellDot")).to_have_count(1)

    await first.close()
    await second.locator(BELL).click()
    await expect(second.locator(ROWS)).to_have_count(1)
    await inbox.trigger(2)
    await second.locator(".nv-notificationListNewNotificationsNotice__button").click()
    await expect(second.locator(ROWS)).to_have_count(2)


async def test_preferences_and_the_schedule_are_changed_and_critical_ones_are_locked(
    inbox: Inbox, context: BrowserContext
) -> None:
    await inbox.service.make_workflow(
        "alarm", preferences={"workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}
    )
    page = await inbox.open(context, preferences='{"criticality": "all"}')
    await page.locator(BELL).click()
    await page.locator(".nv-preferences__button").click()
    greeting = page.locator(".nv-workflowContainer", has_text="Greeting")
    await greeting.click()
    await greeting.locator(".nv-channelSwitch").first.click()
    path = f"/v2/subscribers/{inbox.person}/preferences?criticality=all"
    for _ in range(400):
        found = await inbox.service.request("GET", path)
        switches = {one["workflow"]["identifier"]: one["channels"] for one in found["workflows"]}
        if switches["greeting"] == {"in_app": False}:
            break
        await asyncio.sleep(0.05)
    assert switches["greeting"] == {"in_app": False}
    assert switches["alarm"] == {"in_app": True}

    await page.locator(".nv-scheduleContainer .nv-channelSwitch, .nv-scheduleHeader .nv-channelSwitch").first.click()
    for _ in range(400):
        found = await inbox.service.request("GET", path)
        if found["global"].get("schedule", {}).get("isEnabled"):
            break
        await asyncio.sleep(0.05)
    assert found["global"]["schedule"]["weeklySchedule"]["monday"]["hours"] == [
        {"start": "09:00 AM", "end": "05:00 PM"}
    ]
    alarm = page.locator(".nv-workflowContainer", has_text="Alarm")
    await expect(alarm.locator("input[type=checkbox]")).to_be_disabled()


@pytest.mark.parametrize("socket_type", [SOCKET_IO, PLAIN])
async def test_after_a_restart_of_the_service_pages_connect_again(
    site: str, watched: tuple[BrowserContext, list[WatchedPage]], tmp_path: Path, socket_type: str
) -> None:
    context, _ = watched
    process = Process(["serve", "--data-dir", str(tmp_path)], ENVIRON)
    try:
        service = Service(process)
        await service.make_workflow("greeting")
        inbox = Inbox(site, service, "ada")
        page = await inbox.open(context, socket_type=socket_type)
        await inbox.trigger(1)
        await expect(page.locator(".nv-bellDot")).to_have_count(1)
        connected = asyncio.Event()
        page.on("websocket", lambda socket: socket.on("framereceived", lambda _: connected.set()))
        process.stop()
        process.close()

        port = process.address.rpartition(":")[2]
        process = Process(["serve", "--data-dir", str(tmp_path), "--port", port], ENVIRON)
        service.process = process
        await asyncio.wait_for(connected.wait(), timeout=60)
        await page.locator(BELL).click()
        await expect(page.locator(ROWS)).to_have_count(1)
        await inbox.trigger(2)
        await page.locator(".nv-notificationListNewNotificationsNotice__button").click()
        await expect(page.locator(ROWS)).to_have_count(2)
    finally:
        process.close()


@pytest.mark.parametrize("socket_type", [SOCKET_IO, PLAIN])
async def test_the_client_without_a_user_interface_works(
    inbox: Inbox, context: BrowserContext, socket_type: str
) -> None:
    page = await context.new_page()
    await page.goto(inbox.url("headless", socket_type))
    assert await page.evaluate("novu.notifications.list().then((found) => found.data.notifications.length)") == 0
    await inbox.trigger(1)
    await page.wait_for_function("received.some((one) => one.name === 'notification_received')", timeout=20_000)
    await page.wait_for_function(
        "received.some((one) => one.name === 'unread_count_changed' && one.result.total === 1)"
    )

    listed = await page.evaluate(
        "novu.notifications.list({useCache: false}).then(({data}) => {"
        " window.first = data.notifications[0]; return [window.first.body, window.first.isRead] })"
    )
    assert listed == ["Number 1", False]
    for action, state in (("read", {"isRead": True}), ("unread", {"isRead": False}), ("archive", {"isArchived": True})):
        assert await page.evaluate(f"novu.notifications.{action}({{notification: first}}).then((one) => !one.error)")
        await inbox.check("Number 1", **state)
    counted = await page.evaluate("novu.notifications.count({archived: true}).then((found) => found.data.count)")
    assert counted == 1
    preferences = await page.evaluate("novu.preferences.list().then((found) => found.data.map((one) => one.level))")
    assert preferences[0] == "global"
    arrived = await page.evaluate("received.filter((one) => one.name === 'notification_received').length")
    assert arrived == 1
