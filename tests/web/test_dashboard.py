"""The dashboard as browsers load it."""

import gzip
from pathlib import Path

import pytest

from clarion.http.static import StaticPage
from clarion.web.dashboard import make_dashboard

FILES = {
    "index.html": b"<!doctype html><title>Clarion</title>",
    "frame.html": b"<!doctype html><title>Message</title>",
    "licenses.txt": b"preact 10 (MIT)",
    "assets/main-ABC.js": b"export {};",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dashboard" / "assets").mkdir(parents=True)
    for name, content in FILES.items():
        (tmp_path / "dashboard" / name).write_bytes(content)
        (tmp_path / "dashboard" / f"{name}.gz").write_bytes(gzip.compress(content))
    return tmp_path


def get(folder: Path, path: str) -> tuple[int, dict[str, str], bytes]:
    page = make_dashboard(folder)(path)
    assert isinstance(page, StaticPage)
    status, headers, body = page.respond({})
    return status, {name.decode(): value.decode() for name, value in headers}, body


@pytest.mark.parametrize(
    "path", ["/dashboard", "/dashboard/", "/dashboard/setup", "/dashboard/e/abc/workflows/welcome"]
)
def test_every_path_is_the_same_page_under_a_strict_policy(folder: Path, path: str) -> None:
    status, headers, body = get(folder, path)

    assert (status, body) == (200, FILES["index.html"])
    assert headers["cache-control"] == "no-cache"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


def test_assets_never_change_and_unknown_ones_are_no_page(folder: Path) -> None:
    status, headers, body = get(folder, "/dashboard/assets/main-ABC.js")

    assert (status, body) == (200, FILES["assets/main-ABC.js"])
    assert "immutable" in headers["cache-control"]
    for name in ("main-OLD.js", "main-ABC.js.gz", "..", ".hidden", "more/main-ABC.js"):
        assert get(folder, f"/dashboard/assets/{name}")[0] == 404


def test_messages_are_shown_in_a_document_without_an_origin_that_loads_nothing(folder: Path) -> None:
    _, headers, body = get(folder, "/dashboard/frame.html")

    assert body == FILES["frame.html"]
    policy = headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "img-src data:" in policy
    assert "https" not in policy


def test_the_licences_of_what_is_bundled_can_be_read(folder: Path) -> None:
    _, headers, body = get(folder, "/dashboard/licenses.txt")

    assert (headers["content-type"], body) == ("text/plain; charset=utf-8", FILES["licenses.txt"])


def test_the_root_leads_to_the_dashboard(folder: Path) -> None:
    status, headers, _ = get(folder, "/")

    assert (status, headers["location"]) == (302, "/dashboard/")


def test_other_paths_are_none_of_the_dashboard(folder: Path) -> None:
    find = make_dashboard(folder)

    assert [find(path) for path in ("/v1/runs", "/dashboards", "/docs")] == [None, None, None]


def test_without_a_build_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    status, _, body = get(tmp_path, "/dashboard/e/abc/activity")

    assert status == 404
    assert b"make web" in body
