"""A member's browser on a running system: Chromium, signed in, with the times that the page itself measures."""

import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import psutil
from msgspec import Struct
from playwright.async_api import CDPSession, Page, async_playwright

from bench.systems import System

_COOKIE = "clarion-session"
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

# Long tasks keep the page from answering for more than 50 ms. An interaction lasts until the next paint; the browser
# reports those of 16 ms or more, in steps of 8 ms.
_WATCH = """
    window.measured = { tasks: [], interactions: [] };
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) window.measured.tasks.push(one.duration);
    }).observe({ type: "longtask" });
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) if (one.interactionId) {
            window.measured.interactions.push({ name: one.name, id: one.interactionId, duration: one.duration });
        }
    }).observe({ type: "event", durationThreshold: 16 });
"""


class Measured(Struct, frozen=True):
    """What a page measured since it was last asked."""

    tasks: list[float]
    """Milliseconds of each task of more than 50."""
    interactions: list[float]
    """Milliseconds until the next paint of each interaction of 16 or more."""


class Window:
    """One page of the dashboard."""

    def __init__(self, page: Page, address: str, devtools: CDPSession) -> None:
        self.page = page
        self._address = address
        self._devtools = devtools

    async def open(self, path: str) -> float:
        """Show Activity, and return the milliseconds until its first row is there."""
        return await self.show(path, ".activity-runs tbody tr")

    async def show(self, path: str, selector: str) -> float:
        """Show a page, and return the milliseconds until something is there."""
        await self.page.goto(self._address + path)
        found = await self.page.wait_for_function(
            "(selector) => document.querySelector(selector) && performance.now()", arg=selector, timeout=60_000
        )
        milliseconds: float = await found.json_value()
        return milliseconds

    async def main_thread_seconds(self) -> float:
        """CPU seconds that tasks of the page's main thread have taken."""
        found = await self._devtools.send("Performance.getMetrics")
        seconds: float = next(one["value"] for one in found["metrics"] if one["name"] == "TaskDuration")
        return seconds

    async def take_measured(self) -> Measured:
        found: dict[str, Any] = await self.page.evaluate("""() => {
            const taken = window.measured;
            window.measured = { tasks: [], interactions: [] };
            return taken;
        }""")
        longest: dict[int, float] = {}
        for one in found["interactions"]:
            longest[one["id"]] = max(longest.get(one["id"], 0.0), one["duration"])
        return Measured(found["tasks"], list(longest.values()))


@asynccontextmanager
async def open_window(system: System) -> AsyncIterator[Window]:
    """Sign in as the owner, who is made with the link that the system printed, and open a browser."""
    cookie = await _sign_in(system)
    async with httpx.AsyncClient(base_url=system.address, headers={"Cookie": f"{_COOKIE}={cookie}"}) as api:
        environments = (await api.get("/v1/auth/me")).raise_for_status().json()["environments"]
    identifier = next(one["identifier"] for one in environments if one["name"] == "Development")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=_find_program(), args=_ARGUMENTS)
        try:
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            await context.add_cookies([{"name": _COOKIE, "value": cookie, "url": system.address}])
            await context.add_init_script(_WATCH)
            page = await context.new_page()
            devtools = await context.new_cdp_session(page)
            await devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
            yield Window(page, f"{system.address}/dashboard/e/{identifier}", devtools)
        finally:
            await browser.close()


def renderer_seconds() -> float:
    """CPU seconds of the processes that draw pages, of browsers that this process started."""
    used = 0.0
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "--type=renderer" in one.cmdline():
                times = one.cpu_times()
                used += times.user + times.system
    return used


async def _sign_in(system: System) -> str:
    text = "".join(path.read_text() for path in system.folder.glob("*.log"))
    found = re.findall(r"/dashboard/setup#(\S+)", text)
    if not found:
        raise RuntimeError(f"the system did not print a link to set it up: {text[-2000:]}")
    # Every start prints another link.
    body = {"token": found[-1], "email": "owner@example.com", "name": "Owner", "password": "correct horse battery"}
    headers = {"Origin": system.address, "X-Clarion": "1"}
    async with httpx.AsyncClient(base_url=system.address, headers=headers) as api:
        answer = (await api.post("/v1/auth/setup", json=body)).raise_for_status()
    return answer.cookies[_COOKIE]


def _find_program() -> str:
    given = os.environ.get("CLARION_TEST_CHROMIUM")
    found = next((path for name in ([given] if given else _PROGRAMS) if (path := shutil.which(name))), None)
    if found is None:
        raise RuntimeError("There is no Chromium: install the package chromium, or name it in CLARION_TEST_CHROMIUM")
    return found
