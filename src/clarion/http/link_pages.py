"""Pages that links in messages lead to: HTML without scripts, which looks as the browser's owner likes, dark or light.

Only what a page itself needs is allowed to it, and it is neither stored nor indexed.
"""

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from typing import Final

from clarion.http.responses import PageResponse
from clarion.http.static import Header

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 1.0625rem/1.5 system-ui, sans-serif; margin: 0; padding: 2rem 1rem; background: Canvas;
  color: CanvasText; }
main { max-width: 34rem; margin: 0 auto; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
button { font: inherit; font-weight: 600; padding: .625rem 1.25rem; border-radius: .5rem; border: 1px solid;
  background: CanvasText; color: Canvas; cursor: pointer; }
[role=alert], [role=status] { border-inline-start: .25rem solid; padding-inline-start: .75rem; }
"""


class LinkPages:
    """The frame of a kind of pages, with what their style has besides."""

    def __init__(self, style: str = "") -> None:
        self._style = _STYLE + style.lstrip("\n")
        digest = base64.b64encode(hashlib.sha256(self._style.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        self.headers: tuple[Header, ...] = (
            (b"content-security-policy", policy.encode()),
            (b"cache-control", b"no-store"),
            (b"x-robots-tag", b"noindex, nofollow"),
            (b"referrer-policy", b"no-referrer"),
        )

    def render(self, language: str, title: str, content: Iterable[str], *, is_right_to_left: bool) -> str:
        """Return a page with a heading; the content is HTML."""
        direction = "rtl" if is_right_to_left else "ltr"
        heading = escape(title)
        return (
            f'<!doctype html>\n<html lang="{language}" dir="{direction}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="robots" content="noindex, nofollow">\n'
            f"<title>{heading}</title>\n<style>{self._style}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
            + "\n".join(content)
            + "\n</main>\n</body>\n</html>\n"
        )


def respond_with_page(status: int, html: str) -> PageResponse:
    return PageResponse(status, b"text/html; charset=utf-8", html.encode())
