"""Browser tests: Chromium, a running Clarion on each database, and a product's site of another origin."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect

from clarion.web.files import FOLDER
from tests.browser.element import Inbox, put_inbox_page
from tests.browser.service import Service
from tests.browser.site import ProductSite, product_site
from tests.processes import Process
from tests.servers import empty_database

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
# The first has no window at all, and takes little more than half of the CPU time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
TIMEOUT = 60_000

# Listens from the start, because violations of a page's policy are reported only as events.
WATCH_POLICY = """
    addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""

OpenPage = Callable[..., Awaitable[Page]]
OpenInbox = Callable[..., Awaitable[Inbox]]

expect.set_options(timeout=TIMEOUT)

on_both_databases = pytest.mark.parametrize("served", ["sqlite", "postgresql"], indirect=True, scope="session")
"""For tests of what depends on the store; the others would only look at the same pages again."""


def find_chromium() -> str:
    """The Chromium of the system; the tests are skipped without one, unless CLARION_TEST_CHROMIUM names it."""
    given = os.environ.get("CLARION_TEST_CHROMIUM")
    if given:
        found = shutil.which(given)
        assert found, f"CLARION_TEST_CHROMIUM names {given}, which is no program"
        return found
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("There is no Chromium: install chromium-headless-shell, or set CLARION_TEST_CHROMIUM to its program")


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = find_chromium()
    if not (FOLDER / "inbox.js").exists() or not AXE.exists():
        pytest.skip("web/ is not built: run `make web-dev web`")
    async with async_playwright() as playwright:
        # In containers there is neither a sandbox nor a large shared memory.
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        launched = await playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        await launched.close()


@pytest.fixture(scope="session", params=["sqlite"])
async def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> AsyncIterator[Service]:
    """A process of Clarion that the tests share; each has its own people."""
    async with AsyncExitStack() as stack:
        options = ["--data-dir", str(tmp_path_factory.mktemp("served"))]
        if request.param == "postgresql":
            url = await stack.enter_async_context(
                empty_database(*map(request.getfixturevalue, ("postgres_url", "template")))
            )
            options += ["--database-url", url]
        process = Process(["serve", *options], {"CLARION_EGRESS_ALLOW": "127.0.0.0/8"})
        stack.callback(process.close)
        service = Service(process, options)
        await service.prepare()
        yield service


@pytest.fixture(scope="session")
def product() -> Iterator[ProductSite]:
    with product_site() as site:
        yield site


@pytest.fixture
async def make_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Open pages: `await make_page(width=390, color_scheme="dark")`; a test fails if one logs an error.

    A page `beside` another is a second tab of the same browser.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not _is_refusal(message):
            problems.append(message.text)

    async def make_context(width: int, height: int, **options: Any) -> BrowserContext:
        context = await browser.new_context(viewport={"width": width, "height": height}, locale="en-GB", **options)
        contexts.append(context)
        context.set_default_timeout(TIMEOUT)
        await context.add_init_script(WATCH_POLICY)
        return context

    async def make(*, beside: Page | None = None, width: int = 1280, height: int = 800, **options: Any) -> Page:
        context = await make_context(width, height, **options) if beside is None else beside.context
        page = await context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.__dict__["problems"] = problems
        return page

    yield make
    for context in contexts:
        await context.close()
    assert problems == []


@pytest.fixture
async def page(make_page: OpenPage) -> Page:
    return await make_page()


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


def _is_refusal(message: ConsoleMessage) -> bool:
    """Whether the API refused something, which pages show to the person."""
    path = urlsplit(message.location["url"]).path
    return "the server responded with a status of 4" in message.text and path.startswith(("/v1/", "/v2/"))


async def list_axe_problems(page: Page, *, rule: str | None = None) -> list[str]:
    """What axe finds against WCAG 2.2 AA, or against one rule of it."""
    # Evaluated from outside the page, which its policy does not concern.
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text())
    wanted = [rule] if rule else ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    result = await page.evaluate("(wanted) => axe.run(document, { runOnly: wanted })", wanted)
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in result["violations"]
        for node in one["nodes"]
    ]
