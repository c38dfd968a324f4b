"""A browser, and a running service on each database. Without Chromium these tests are skipped."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser, BrowserContext, async_playwright

from tests.browser.service import ENVIRON, Service, WatchedPage, watched_context
from tests.processes import Process
from tests.servers import empty_database

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = find_chromium()
    if path is None:
        message = "there is no Chromium; install the package `chromium`, or name one in the variable CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield launched
        await launched.close()


@pytest.fixture(scope="session")
async def service(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    """`clarion serve` on the database, shared by the tests; each uses people of its own."""
    options = ["--data-dir", str(tmp_path_factory.mktemp("browser"))]
    async with AsyncExitStack() as opened:
        if backend == "postgresql":
            url = await opened.enter_async_context(empty_database(request.getfixturevalue("postgres_url")))
            options += ["--database-url", url]
        process = Process(["serve", *options], ENVIRON)
        opened.callback(process.close)
        yield Service(process)


@pytest.fixture
async def watched(browser: Browser) -> AsyncIterator[tuple[BrowserContext, list[WatchedPage]]]:
    """A browser context whose pages are watched."""
    async with watched_context(browser, viewport={"width": 1280, "height": 900}) as opened:
        yield opened
