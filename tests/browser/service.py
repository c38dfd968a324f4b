"""A running service with content for browsers, and pages that report everything that goes wrong in them."""

import functools
import http.server
import itertools
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from tests.processes import Process

KEY = "key-of-development"
ENVIRON = {
    "CLARION_DEVELOPMENT_API_KEY": KEY,
    "CLARION_PRODUCTION_API_KEY": "key-of-production",
    "CLARION_DEVELOPMENT_APP_ID": "browser-tests",
    "CLARION_BUILTIN_NAME": "novu",
}
APPLICATION = ENVIRON["CLARION_DEVELOPMENT_APP_ID"]
_numbers = itertools.count(1)


class Service:
    """A `clarion serve` process, as the application and its people see it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.address = process.address

    def person(self) -> str:
        """The key of a person whom no other test knows."""
        return f"person-{next(_numbers)}"

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        async with self.process.client(KEY) as client:
            response = await client.request(method, path, json=body)
            assert response.status_code < 400, response.text
            return response.json() if response.content else None

    async def make_workflow(self, key: str, **fields: Any) -> None:
        """Create a workflow with one in-app step, unless it exists."""
        controls = {
            "subject": "Hello {{payload.n}}",
            "body": "Number {{payload.n}}",
            "primaryAction": {"label": "Open"},
            "secondaryAction": {"label": "Dismiss"},
        }
        steps = [{"name": "Inbox", "type": "in_app", "controlValues": controls}]
        body = {"name": key.capitalize(), "workflowId": key, "active": True, "steps": steps, **fields}
        async with self.process.client(KEY) as client:
            if (await client.get(f"/v2/workflows/{key}")).status_code == 200:
                return
            response = await client.post("/v2/workflows", json=body)
        assert response.status_code == 201, response.text

    async def trigger(self, workflow: str, person: str, **payload: Any) -> None:
        await self.request("POST", "/v1/events/trigger", {"name": workflow, "to": person, "payload": payload})

    async def notifications(self, person: str, **query: Any) -> list[dict[str, Any]]:
        path = f"/v2/subscribers/{person}/notifications?{urlencode({'limit': 100, **query})}"
        found: list[dict[str, Any]] = (await self.request("GET", path))["data"]
        return found

    async def find(self, person: str, body: str) -> dict[str, Any]:
        """The notification with this text; there is exactly one."""
        (found,) = [one for one in await self.notifications(person) if one["body"] == body]
        return found


class WatchedPage:
    """A page whose errors, refused requests and failed requests are collected."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("requestfailed", self._on_failure)
        page.on("response", self._on_response)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _on_failure(self, request: Request) -> None:
        self.problems.append(f"failed: {request.method} {request.url}: {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status}: {response.request.method} {response.url}")


OpenPage = Callable[[str], Any]


@asynccontextmanager
async def watched_context(browser: Browser, **options: Any) -> AsyncIterator[tuple[BrowserContext, list[WatchedPage]]]:
    """A new browser context; its pages are watched from their first request on."""
    context = await browser.new_context(**options)
    pages: list[WatchedPage] = []
    context.on("page", lambda page: pages.append(WatchedPage(page)))
    try:
        yield context, pages
    finally:
        await context.close()


@contextmanager
def serving(folder: str, pages: Mapping[str, str]) -> Iterator[str]:
    """Serve the files of a folder and the given pages on an origin of their own; yields its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            if self.path == "/favicon.ico":
                self.send_response(204)
                self.end_headers()
            elif page is None:
                super().do_GET()
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def is_reachable(address: str) -> bool:
    try:
        httpx.get(address)
    except httpx.HTTPError:
        return False
    return True
