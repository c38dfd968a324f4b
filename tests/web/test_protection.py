"""Everything that browsers are sent: how they may use it, and that no name of a file is an error."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.app import Application
from clarion.http.static import PROTECTION, StaticPage
from clarion.web.dashboard import make_dashboard
from clarion.web.files import FOLDER, demo_pages, inbox_pages
from tests.support import Api

ASSETS = "/dashboard/assets/"
ODD_NAMES = [
    "",
    "\x00",
    "main.js\x00",
    "a" * 300 + ".js",
    "a" * 5_000,
    "..",
    "../index.html",
    "%2e%2e/index.html",
    "folder.js",
    "folder",
    "sub/file.js",
    "file.svg",
    "file",
    ".js",
    "file.js.gz",
    "\xff.js",
    "\udcff.js",
    "\ud800.js",
    "con.js\n",
    "%00.js",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("web")
    assets = made / "dashboard" / "assets"
    (assets / "folder.js").mkdir(parents=True)
    (assets / "sub").mkdir()
    for path in (made / "dashboard" / "index.html", assets / "file.svg", assets / "sub" / "file.js"):
        path.write_bytes(b"x")
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(b"x"))
    return made


def check_protection(headers: httpx.Headers) -> None:
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "frame-ancestors 'none'" in policy or "frame-ancestors 'self'" in policy
    assert headers["x-frame-options"] == ("SAMEORIGIN" if "frame-ancestors 'self'" in policy else "DENY")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert len(headers.get_list("content-security-policy")) == 1


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_name_of_a_file_is_not_found(folder: Path, name: str) -> None:
    page = make_dashboard(folder)(ASSETS + name)

    assert isinstance(page, StaticPage)
    assert page.status == 404


@given(name=st.text(st.characters(exclude_categories=()), max_size=400))
def test_every_name_of_a_file_that_is_not_there_is_not_found(folder: Path, name: str) -> None:
    page = make_dashboard(folder)(ASSETS + name)

    assert isinstance(page, StaticPage)
    assert page.status == 404


def list_paths() -> Iterator[str]:
    """Every page and file that is served, and some that are not there."""
    yield from ("/", "/dashboard", "/dashboard/e/abc/runs", "/dashboard/frame.html", "/dashboard/licenses.txt")
    yield from ("/docs", "/openapi.json", "/live", "/ready", *inbox_pages(), *demo_pages())
    yield from (f"{ASSETS}{one.name}" for one in sorted((FOLDER / "dashboard" / "assets").glob("*")))
    yield from (f"{ASSETS}missing.js", f"{ASSETS}%00", "/dashboardx", "/nothing", "/v2/subscribers", "/%ff")
    yield from ("/v1/auth/oidc/start", "/v2/inbound-webhooks/delivery-providers/x/y")


async def test_every_page_file_and_error_says_how_browsers_may_use_it(application: Application) -> None:
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        for path in list_paths():
            response = await client.get(path)

            assert response.status_code != 500, path
            check_protection(response.headers)


async def test_a_wrong_method_and_a_bad_body_are_protected_too(api: Api) -> None:
    for response in (await api.put("/v2/subscribers"), await api.post("/v2/subscribers", content=b"<script>")):
        assert response.status_code >= 400
        check_protection(response.headers)


async def test_the_reference_shows_its_style_under_its_policy(api: Api) -> None:
    page = await api.get("/docs")

    assert "style-src 'sha256-" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.text.count("<style>") == 1
    assert " style=" not in page.text
    assert "<script" not in page.text


def test_a_page_that_says_more_replaces_only_what_it_says() -> None:
    page = StaticPage(b"text/html", b"", headers=((b"x-frame-options", b"SAMEORIGIN"),))

    _, headers, _ = page.respond({})

    assert dict(headers) == dict(PROTECTION) | {b"x-frame-options": b"SAMEORIGIN", b"content-type": b"text/html"}
    assert len(headers) == len(PROTECTION) + 1
