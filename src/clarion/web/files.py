"""The files that `make web` builds, read when they are first asked for."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from clarion.http.static import Header, StaticPage, make_etag

FOLDER = Path(__file__).parent / "files"

Pages = dict[str, Callable[[], StaticPage]]
Headers = tuple[Header, ...]

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}", re.ASCII)
_TEXT = b"text/plain; charset=utf-8"
_SCRIPT = b"text/javascript; charset=utf-8"
_TYPES = {
    ".js": _SCRIPT,
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
    ".txt": _TEXT,
}
_NOT_BUILT = (
    b"The inbox element was not built: run `make web` in a checkout of Clarion and start it again, "
    b"or install a released package.\n"
)

# Any page may load the element, also one that isolates itself from other origins. Browsers ask for a newer version
# every five minutes at most, so that an update of the service reaches pages soon.
_INBOX_HEADERS: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"cache-control", b"public, max-age=300, stale-while-revalidate=86400"),
)

# The page forbids all that the element must not need: inline code and styles, and texts that are taken for HTML.
_DEMO_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: https:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_DEMO_HEADERS: Headers = (
    (b"content-security-policy", _DEMO_POLICY),
    (b"cache-control", b"no-cache"),
)


def inbox_pages(folder: Path = FOLDER) -> Pages:
    names = ("inbox.js", "inbox-more.js", "inbox-languages.js")
    return {f"/{name}": _reader(folder, name, _INBOX_HEADERS) for name in names}


def demo_pages(folder: Path = FOLDER) -> Pages:
    files = {"/demo": "demo.html", "/demo.js": "demo.js", "/demo.css": "demo.css"}
    return {path: _reader(folder, name, _DEMO_HEADERS) for path, name in files.items()}


def _reader(folder: Path, name: str, headers: Headers) -> Callable[[], StaticPage]:
    return partial(read_page, folder, name, headers, {}, missing=_NOT_BUILT)


def read_page(folder: Path, name: str, headers: Headers, read: dict[Path, StaticPage], *, missing: bytes) -> StaticPage:
    """The page of a file in a folder, which is read once; one that is missing is looked for again the next time.

    The name may come from a client, so only names that a build can give to a file are looked up.
    """
    path, content_type = folder / name, _TYPES.get(Path(name).suffix)
    if path in read:
        return read[path]
    if content_type is None or not _NAME.fullmatch(name):
        return StaticPage(_TEXT, missing, 404)
    try:
        body, compressed = path.read_bytes(), path.with_name(f"{name}.gz").read_bytes()
    except OSError:
        return StaticPage(_TEXT, missing, 404)
    read[path] = StaticPage(content_type, body, headers=headers, compressed=compressed, etag=make_etag(body))
    return read[path]
