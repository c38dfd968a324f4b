"""The element as browsers load it."""

import gzip
from pathlib import Path

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.http.static import StaticPage
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from clarion.web.files import FOLDER, demo_pages, inbox_pages

SCRIPT = b"export const text = 'An inbox';" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("inbox.js", "inbox-more.js", "inbox-languages.js", "demo.js", "demo.css", "demo.html"):
        (tmp_path / name).write_bytes(SCRIPT)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(SCRIPT))
    return tmp_path


def headers_of(page: StaticPage, **given: str) -> tuple[int, dict[str, str], bytes]:
    request = {name.replace("_", "-").encode(): value.encode() for name, value in given.items()}
    status, headers, body = page.respond(request)
    return status, {name.decode(): value.decode() for name, value in headers}, body


def test_any_page_may_load_the_element(folder: Path) -> None:
    status, headers, body = headers_of(inbox_pages(folder)["/inbox.js"]())

    assert (status, body) == (200, SCRIPT)
    assert headers["content-type"] == "text/javascript; charset=utf-8"
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"].startswith("public, max-age=")


def test_the_compressed_file_is_sent_to_clients_that_take_it(folder: Path) -> None:
    status, headers, body = headers_of(inbox_pages(folder)["/inbox.js"](), accept_encoding="br, gzip")

    assert (status, headers["content-encoding"], headers["vary"]) == (200, "gzip", "Accept-Encoding")
    assert gzip.decompress(body) == SCRIPT
    assert "content-encoding" not in headers_of(inbox_pages(folder)["/inbox.js"](), accept_encoding="gzip;q=0")[1]


def test_a_client_that_has_the_version_gets_no_body(folder: Path) -> None:
    page = inbox_pages(folder)["/inbox.js"]()
    tag = headers_of(page)[1]["etag"]

    assert headers_of(page, if_none_match=f'"other", {tag}')[0] == 304
    assert headers_of(page, if_none_match=tag)[2] == b""
    assert headers_of(page, if_none_match='W/"other"')[0] == 200


def test_files_that_were_not_built_are_looked_for_again(tmp_path: Path) -> None:
    read = inbox_pages(tmp_path)["/inbox.js"]

    status, headers, body = headers_of(read())
    assert (status, headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert b"make web" in body

    (tmp_path / "inbox.js").write_bytes(SCRIPT)
    (tmp_path / "inbox.js.gz").write_bytes(gzip.compress(SCRIPT))
    assert headers_of(read())[0] == 200


def test_the_demo_forbids_inline_code_and_other_origins(folder: Path) -> None:
    policy = headers_of(demo_pages(folder)["/demo"]())[1]["content-security-policy"]

    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy


async def test_the_service_sends_the_element_once_compressed(application: Application) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await client.get("/inbox.js")
        again = await client.get("/inbox.js", headers={"If-None-Match": response.headers.get("etag", "-")})

    if not (FOLDER / "inbox.js").exists():
        assert (response.status_code, again.status_code) == (404, 404)
        return
    assert response.content == (FOLDER / "inbox.js").read_bytes()
    assert response.headers.get_list("vary") == ["Accept-Encoding"]
    assert (again.status_code, again.content, "content-length" in again.headers) == (304, b"", False)


async def test_without_the_demo_its_paths_do_not_exist(
    database: Database, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> None:
    public = Settings(data_dir=settings.data_dir, demo=False)
    application = build_application(public, database, vault, gateway, clock=clock)
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        statuses = [(await client.get(path)).status_code for path in ("/demo", "/demo.js", "/demo/state")]
        triggered = await client.post("/demo/trigger")

    assert [*statuses, triggered.status_code] == [404] * 4
