"""The published buttons that connect chats, unmodified, from the click to the state that they show, with a fake vendor.

Clarion runs in this process, so that its calls reach the vendor on loopback; the pages of the vendor are those that the
browser is given in their place, which send it on as somebody who agrees is sent on.
"""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import BrowserContext, Locator, Page, Route, expect

from clarion.app import Application
from clarion.clock import Clock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from tests.asgi_server import serve_asgi
from tests.browser.conftest import OpenPage
from tests.browser.site import ProductSite
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.subscribers.addresses.oauth import CALLBACK, PUBLIC, open_gateway
from tests.subscribers.addresses.support import CONNECTIONS, ENDPOINTS, SLACK, TEAMS, create
from tests.subscribers.addresses.vendors import TENANT, Microsoft, Slack, query_of
from tests.support import Api

SCRIPT = Path(__file__).parent / "dist" / "chats.js"
PAGE = """<!doctype html><html lang="en"><title>A product</title>
<body><script src="/published/chats.js"></script></body></html>"""
SENT_ON = "<!doctype html><title>Vendor</title><script>location.replace({})</script>"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the published buttons are not built: run `make published`")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
def microsoft() -> Microsoft:
    return Microsoft()


@pytest.fixture
async def vendor(slack: Slack, microsoft: Microsoft) -> AsyncIterator[Vendor]:
    def answer(request: Received) -> Reply:
        return (slack if request.url.startswith("https://slack.com/") else microsoft).answer(request)

    async with play(answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: Clock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with open_gateway(vendor, clock) as entered:
        yield entered


@pytest.fixture
async def address(application: Application) -> AsyncIterator[str]:
    async def forward(scope: Any, receive: Any, send: Any) -> None:
        await application.asgi(scope, receive, send)

    async with serve_asgi(forward) as port:
        yield f"http://127.0.0.1:{port}"


class Shop:
    """A page of a product with buttons, and the vendors whose pages they open."""

    def __init__(self, address: str, product: ProductSite, make_page: OpenPage, api: Api, microsoft: Microsoft) -> None:
        self._address = address
        self._make_page = make_page
        self._api = api
        self._microsoft = microsoft
        product.put("/published/chats.js", SCRIPT.read_bytes())
        self._page = product.put("/published/chats", PAGE)

    async def open(self, integration: str, *components: str, beside: Page | None = None) -> Page:
        environment = (await self._api.get("/v1/environments/me")).json()
        proof = hmac.new(self._api.key.encode(), b"ada", hashlib.sha256).hexdigest()
        given = {
            "application": environment["identifier"],
            "subscriber": "ada",
            "hash": proof,
            "backend": self._address,
            "integration": integration,
            "components": ",".join(components),
        }
        page = await self._make_page(beside=beside)
        await self._agree_everywhere(page.context)
        await page.goto(f"{self._page}?{urlencode(given)}")
        return page

    async def _agree_everywhere(self, context: BrowserContext) -> None:
        await context.route("https://slack.com/oauth/**", lambda route: self._answer(route, {"code": "c-1"}))
        consent = {"tenant": TENANT, "admin_consent": "True"}
        microsoft = "https://login.microsoftonline.com"
        await context.route(f"{microsoft}/*/v2.0/adminconsent?*", lambda route: self._answer(route, consent))
        await context.route(f"{microsoft}/*/oauth2/v2.0/authorize?*", self._sign_in)
        await context.route(f"{self._address}{CALLBACK}?*", _send_on)

    async def _sign_in(self, route: Route) -> None:
        self._microsoft.claims["nonce"] = query_of(route.request.url)["nonce"]
        await self._answer(route, {"code": "c-1"})

    async def _answer(self, route: Route, given: Mapping[str, str]) -> None:
        query = query_of(route.request.url)
        assert query["redirect_uri"] == PUBLIC + CALLBACK
        back = f"{self._address}{CALLBACK}?{urlencode({'state': query['state'], **given})}"
        await route.fulfill(content_type="text/html", body=SENT_ON.format(json.dumps(back)))


async def _send_on(route: Route) -> None:
    """The test browser gives no page in the place of one that a redirect leads to."""
    answer = await route.fetch(max_redirects=0)
    if answer.status == 302:
        body = SENT_ON.format(json.dumps(answer.headers["location"]))
        await route.fulfill(content_type="text/html", body=body)
    else:
        await route.fulfill(response=answer)


@pytest.fixture
async def shop(address: str, product: ProductSite, make_page: OpenPage, api: Api, microsoft: Microsoft) -> Shop:
    for integration in (SLACK, TEAMS):
        await create(api, "/v1/integrations", integration)
    listed = (await api.get("/v1/integrations")).json()
    (inbox,) = [one for one in listed if one["channel"] == "in_app"]
    # The hash of the subscriber proves the session, which may end what it connected.
    changed = await api.put(f"/v1/integrations/{inbox['_id']}", json={"credentials": {"hmac": True}})
    assert changed.status_code == 200, changed.text
    return Shop(address, product, make_page, api, microsoft)


async def stored(api: Api, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get(path, params={"subscriberId": "ada"})).json()["data"]
    return found


async def agree_after(page: Page, button: Locator) -> None:
    """Click a button, and agree in the window that it opens and that closes itself."""
    async with page.expect_popup() as opened:
        await button.click()
    popup = await opened.value
    await expect(popup.get_by_text("Messages for")).to_contain_text("ada")
    async with popup.expect_event("close"):
        await popup.get_by_role("button", name="Connect").click()


@pytest.mark.parametrize(
    ("integration", "kind", "button", "label", "link", "link_label"),
    [
        ("slack", "slack_user", "SlackConnectButton", "Connect Slack", "SlackLinkUser", "Link User"),
        ("teams", "ms_teams_user", "MsTeamsConnectButton", "Connect MS Teams", "MsTeamsLinkUser", "Link Teams User"),
    ],
)
async def test_clicks_connect_link_unlink_and_disconnect(  # noqa: PLR0917 - the words of one vendor
    shop: Shop, api: Api, integration: str, kind: str, button: str, label: str, link: str, link_label: str
) -> None:
    page = await shop.open(integration, button)
    connect = page.locator(f"#{button} button")
    await expect(connect).to_have_text(label)
    await agree_after(page, connect)
    await expect(connect).to_have_text("Connected")

    (connection,) = await stored(api, CONNECTIONS)
    (endpoint,) = await stored(api, ENDPOINTS)
    assert (connection["integrationIdentifier"], endpoint["type"]) == (integration, kind)
    assert endpoint["connectionIdentifier"] == connection["identifier"]

    page = await shop.open(integration, button, link)
    linked = page.locator(f"#{link} button")
    await expect(linked).to_have_text("Unlink")
    await linked.click()
    await expect(linked).to_have_text(link_label)
    assert await stored(api, ENDPOINTS) == []
    await agree_after(page, linked)
    await expect(linked).to_have_text("Unlink")
    assert [one["type"] for one in await stored(api, ENDPOINTS)] == [kind]

    connect = page.locator(f"#{button} button")
    await connect.click()
    await expect(connect).to_have_text(label)
    assert await stored(api, CONNECTIONS) == []
