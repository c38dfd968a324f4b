"""The files that `make web` builds, read when they are first asked for."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from clarion.http.static import StaticPage, make_etag

FOLDER = Path(__file__).parent / "files"

Pages = dict[str, Callable[[], StaticPage]]
Headers = tuple[tuple[bytes, bytes], ...]

_SCRIPT = b"text/javascript; charset=utf-8"
_TYPES = {
    ".js": _SCRIPT,
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
    ".txt": b"text/plain; charset=utf-8",
}
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
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
    NO_SNIFFING,
)

# The page forbids all that the element must not need: inline code and styles, and texts that are taken for HTML.
_DEMO_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: https:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_DEMO_HEADERS: Headers = (
    (b"content-security-policy", _DEMO_POLICY),
    (b"cache-control", b"no-cache"),
    (b"referrer-policy", b"no-referrer"),
    NO_SNIFFING,
)


def inbox_pages(folder: Path = FOLDER) -> Pages:
    return {f"/{name}": _reader(folder / name, _INBOX_HEADERS) for name in ("inbox.js", "inbox-more.js")}


def demo_pages(folder: Path = FOLDER) -> Pages:
    files = {"/demo": "demo.html", "/demo.js": "demo.js", "/demo.css": "demo.css"}
    return {path: _reader(folder / name, _DEMO_HEADERS) for path, name in files.items()}


def _reader(path: Path, headers: Headers) -> Callable[[], StaticPage]:
    return partial(read_page, path, headers, {}, missing=_NOT_BUILT)


def read_page(path: Path, headers: Headers, read: dict[Path, StaticPage], *, missing: bytes) -> StaticPage:
    """The page of a file, which is read once; one that is missing is looked for again the next time."""
    if path not in read:
        try:
            body, compressed = path.read_bytes(), path.with_name(f"{path.name}.gz").read_bytes()
        except FileNotFoundError:
            return StaticPage(b"text/plain; charset=utf-8", missing, 404, (NO_SNIFFING,))
        read[path] = StaticPage(_TYPES[path.suffix], body, headers=headers, compressed=compressed, etag=make_etag(body))
    return read[path]
