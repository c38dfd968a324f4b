"""The page that ends an attempt: it says what happened, and closes its window."""

import base64
import hashlib
from html import escape
from typing import Final

from clarion.http.static import Header

_STYLE: Final = (
    ":root{color-scheme:light dark}body{font:1.0625rem/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem;"
    "background:Canvas;color:CanvasText}main{max-width:34rem;margin:0 auto;overflow-wrap:anywhere}h1{font-size:1.5rem}"
)
_SCRIPT: Final = "window.close();"


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


HEADERS: Final[tuple[Header, ...]] = (
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_hash(_STYLE)}'; script-src 'sha256-{_hash(_SCRIPT)}'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'".encode(),
    ),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def render_success(note: str = "") -> str:
    """Without a way to close the window, the text is left; a note stays until it was read."""
    return _render("Connected", note or "You can close this window.", "" if note else f"<script>{_SCRIPT}</script>")


def render_problem(message: str) -> str:
    return _render("Not connected", message, "")


def _render(title: str, message: str, script: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n<p>{escape(message)}</p>\n"
        f"</main>\n{script}</body>\n</html>\n"
    )
