"""Pages of other origins: what a browser may send to the inbox, and what it may read."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.errors import SettingsError
from clarion.limits.headers import HEADER_NAMES
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.inbox.conftest import Person
from tests.support import Api

ORIGIN = "https://app.example.com"
OTHER = "https://evil.example.com"
NAMED = {
    *("authorization", "content-type", "idempotency-key"),
    *("novu-api-version", "novu-client-version", "novu-application-identifier"),
}
PREFLIGHT = {
    "Origin": ORIGIN,
    "Access-Control-Request-Method": "PATCH",
    "Access-Control-Request-Headers": "authorization,content-type,novu-api-version,novu-client-version",
}
PATHS = ("/v1/inbox/session", "/v1/inbox/notifications/x/read", "/v1/inbox/nothing", "/socket.io/", "/ws")


def words(response: httpx.Response, header: str) -> set[str]:
    return {word.strip().lower() for text in response.headers.get_list(header) for word in text.split(",")}


@pytest.fixture
def open_page(database: Database, tmp_path: Path, vault: Vault, gateway: ProviderGateway, clock: ManualClock) -> Any:
    """A browser that calls an application with these settings."""

    def open_(**settings: Any) -> httpx.AsyncClient:
        made = build_application(Settings(data_dir=tmp_path, **settings), database, vault, gateway, clock=clock)
        transport = httpx.ASGITransport(app=made.asgi, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://clarion.test")

    return open_


@pytest.fixture
async def page(open_page: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with open_page() as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
async def test_a_preflight_is_answered_for_every_path_without_a_key(page: httpx.AsyncClient, path: str) -> None:
    response = await page.options(path, headers=PREFLIGHT)

    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["access-control-allow-origin"] == "*"
    assert words(response, "access-control-allow-methods") == {"get", "post", "patch", "delete"}
    assert words(response, "access-control-allow-headers") == NAMED
    assert response.headers["access-control-max-age"] == "86400"
    assert "vary" not in response.headers


async def test_other_headers_that_a_page_asks_for_are_allowed_too(page: httpx.AsyncClient) -> None:
    asked = PREFLIGHT | {"Access-Control-Request-Headers": "Authorization, X-Trace,bad header,,"}
    response = await page.options("/v1/inbox/session", headers=asked)

    assert words(response, "access-control-allow-headers") == NAMED | {"x-trace"}


async def test_errors_can_be_read_by_the_page(page: httpx.AsyncClient, ada: Person) -> None:
    answers = {
        401: await page.get("/v1/inbox/preferences", headers={"Origin": ORIGIN}),
        404: await page.get("/v1/inbox/nothing", headers={"Origin": ORIGIN}),
        405: await page.put("/v1/inbox/session", headers={"Origin": ORIGIN}),
        413: await page.post("/v1/inbox/session", content=b" " * 2_000_000, headers={"Origin": ORIGIN}),
        415: await page.post("/v1/inbox/session", content=b"x", headers={"Content-Type": "text/plain"}),
        400: await page.post("/v1/inbox/session", content=b"{", headers={"Content-Type": "application/json"}),
        422: await page.post("/v1/inbox/session", json={}, headers={"Origin": ORIGIN}),
        200: await ada.get("/v1/inbox/preferences", headers={"Origin": ORIGIN}),
    }
    for status, response in answers.items():
        assert response.status_code == status
        assert response.headers.get_list("access-control-allow-origin") == ["*"]
        assert words(response, "access-control-expose-headers") == {
            "x-request-id",
            "retry-after",
            "clarion-warnings",
            *map(str.lower, HEADER_NAMES),
        }
        assert response.headers["cache-control"] == "no-store"
        assert status == 200 or response.json()["message"]


class Broken:
    """A database that fails in an unexpected way as soon as it is used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        if name in ("read", "scan", "transaction"):
            raise RuntimeError
        return getattr(self._database, name)


async def test_defects_of_the_inbox_can_be_read_by_the_page(
    database: Database, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> None:
    broken: Any = Broken(database)
    application = build_application(settings, broken, vault, gateway, clock=clock)
    body = {"applicationIdentifier": "x", "subscriber": {"subscriberId": "ada"}}

    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers={"Origin": ORIGIN}) as page:
        response = await page.post("/v1/inbox/session", json=body)

    assert (response.status_code, response.headers["access-control-allow-origin"]) == (500, "*")


async def test_the_challenge_of_the_inbox_is_bearer(page: httpx.AsyncClient, ada: Person, api: Api) -> None:
    missing = await page.get("/v1/inbox/preferences")
    await api.delete("/v2/subscribers/ada")
    over = await ada.get("/v1/inbox/preferences")

    assert [one.headers["www-authenticate"] for one in (missing, over)] == ["Bearer", "Bearer"]


@pytest.mark.parametrize("everything", [(), (OTHER,), ("*",)])
async def test_a_list_of_origins_admits_only_these(open_page: Any, everything: tuple[str, ...]) -> None:
    async with open_page(inbox_origins=("https://b.example.com", ORIGIN), cors_origins=everything) as page:
        for origin, allowed in ((ORIGIN, [ORIGIN]), (OTHER, []), (f"{ORIGIN}.evil.com", [])):
            preflight = await page.options("/v1/inbox/session", headers=PREFLIGHT | {"Origin": origin})
            response = await page.get("/v1/inbox/preferences", headers={"Origin": origin})
            for one, status in ((preflight, 204), (response, 401)):
                assert one.status_code == status
                assert one.headers.get_list("access-control-allow-origin") == allowed
                assert words(one, "vary") == {"origin"}
        assert "access-control-allow-origin" not in (await page.get("/v1/inbox/preferences")).headers


async def test_the_setting_for_other_paths_does_not_double_the_headers(open_page: Any) -> None:
    async with open_page(cors_origins=(ORIGIN,)) as page:
        inbox = await page.get("/v1/inbox/preferences", headers={"Origin": ORIGIN})
        other = await page.get("/v1/health-check", headers={"Origin": ORIGIN})
        preflight = await page.options("/v2/subscribers", headers=PREFLIGHT)

    assert inbox.headers.get_list("access-control-allow-origin") == ["*"]
    assert other.headers.get_list("access-control-allow-origin") == [ORIGIN]
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, ORIGIN)


async def test_paths_beside_the_inbox_stay_closed(page: httpx.AsyncClient, application: Application) -> None:
    response = await page.get("/v1/health-check", headers={"Origin": ORIGIN})
    preflight = await page.options("/v2/subscribers", headers=PREFLIGHT)

    assert application.settings.cors_origins == ()
    assert "access-control-allow-origin" not in response.headers
    assert preflight.status_code == 405


@pytest.mark.parametrize("text", ["app.example.com", "https://app.example.com/path", "ftp://x"])
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="CLARION_INBOX_ORIGINS"):
        Settings.load({"CLARION_INBOX_ORIGINS": text})


def test_the_settings_of_the_inbox_are_read() -> None:
    given = Settings.load({"CLARION_INBOX_ORIGINS": f"{ORIGIN}, https://b.example.com", "CLARION_SESSION_DAYS": "365"})
    assert (given.inbox_origins, given.session_days) == ((ORIGIN, "https://b.example.com"), 365)
    assert (Settings.load({}).inbox_origins, Settings.load({}).session_days) == (("*",), 15)
    for days in ("0", "366", "x"):
        with pytest.raises(SettingsError, match="CLARION_SESSION_DAYS"):
            Settings.load({"CLARION_SESSION_DAYS": days})
