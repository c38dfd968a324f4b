"""The dashboard: a page for every path below /dashboard, and the files that it loads."""

from collections.abc import Callable
from pathlib import Path

from clarion.http.static import StaticPage
from clarion.web.files import FOLDER, Headers, read_page

PREFIX = "/dashboard"

_ASSETS = f"{PREFIX}/assets/"
_NOT_BUILT = (
    b"The dashboard was not built: run `make web` in a checkout of Clarion, or install a released package. "
    b"The API works without it; see /docs.\n"
)
_NOT_FOUND = b"There is no such file: reload the page, the dashboard may be a newer one by now.\n"

# Nothing from other origins, no inline code and styles, and no text that is taken for HTML.
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'"
)
_PAGE_HEADERS: Headers = (
    (b"content-security-policy", _POLICY),
    (b"cache-control", b"no-cache"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
# HTML of messages: a document without an origin, which loads nothing but its own script.
_FRAME_POLICY = (
    b"sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_FRAME_HEADERS: Headers = (
    (b"content-security-policy", _FRAME_POLICY),
    (b"x-frame-options", b"SAMEORIGIN"),
    *_PAGE_HEADERS[1:],
)
# Their names have a hash of their contents. The frame is of another origin than they are.
_ASSET_HEADERS: Headers = (
    (b"cache-control", b"public, max-age=31536000, immutable"),
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)
_TO_DASHBOARD = StaticPage(
    b"text/plain; charset=utf-8",
    b"The dashboard is at /dashboard, the description of the API at /docs.\n",
    302,
    ((b"location", f"{PREFIX}/".encode()),),
)
# All other paths are pages of the application.
_PAGES = {
    f"{PREFIX}/frame.html": ("frame.html", _FRAME_HEADERS),
    f"{PREFIX}/licenses.txt": ("licenses.txt", _PAGE_HEADERS),
}


def make_dashboard(folder: Path = FOLDER) -> Callable[[str], StaticPage | None]:
    """Return a function that finds the page of a path, or None if the path is not part of the dashboard."""
    read: dict[Path, StaticPage] = {}

    def find(path: str) -> StaticPage | None:
        if path == "/":
            return _TO_DASHBOARD
        if path != PREFIX and not path.startswith(f"{PREFIX}/"):
            return None
        if path.startswith(_ASSETS):
            name = path.removeprefix(_ASSETS)
            return read_page(folder / "dashboard" / "assets", name, _ASSET_HEADERS, read, missing=_NOT_FOUND)
        name, headers = _PAGES.get(path, ("index.html", _PAGE_HEADERS))
        return read_page(folder / "dashboard", name, headers, read, missing=_NOT_BUILT)

    return find
