"""The page on a phone where somebody gives an integration its bot: a form without scripts."""

import base64
import hashlib
from html import escape
from typing import Final

from msgspec import Struct

from clarion.http.static import Header
from clarion.subscribers.addresses.telegram.texts import TEXTS, BotTexts

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 1.0625rem/1.5 system-ui, sans-serif; margin: 0; padding: 2rem 1rem; background: Canvas;
  color: CanvasText; }
main { max-width: 34rem; margin: 0 auto; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
label { display: block; font-weight: 600; }
input { font: inherit; box-sizing: border-box; width: 100%; padding: .625rem; margin: .25rem 0 1rem; }
button { font: inherit; font-weight: 600; padding: .625rem 1.25rem; border-radius: .5rem; border: 1px solid;
  background: CanvasText; color: Canvas; cursor: pointer; }
[role=alert], [role=status] { border-inline-start: .25rem solid; padding-inline-start: .75rem; }
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS: Final[tuple[Header, ...]] = (
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'".encode(),
    ),
    (b"cache-control", b"no-store"),
    (b"x-robots-tag", b"noindex, nofollow"),
    (b"referrer-policy", b"no-referrer"),
)


class SetupReader(Struct, frozen=True):
    """Who reads the page: their language, and the code of their link."""

    language: str
    code: str = ""

    @property
    def texts(self) -> BotTexts:
        return TEXTS[self.language]


def render_form(reader: SetupReader, integration: str, problem: str = "") -> str:
    """Ask for the token; `problem` says what was wrong with the one before."""
    texts = reader.texts
    alert = f'<p role="alert">{escape(problem)}</p>\n' if problem else ""
    return _page(
        reader,
        texts.title,
        f"<p><bdi>{escape(integration)}</bdi></p>\n<p>{escape(texts.ask)}</p>\n{alert}"
        f'<form method="post" action="?token={escape(reader.code)}">\n'
        f'<label for="token">{escape(texts.token)}</label>\n'
        '<input id="token" name="botToken" type="password" dir="ltr" autocomplete="off" autocapitalize="none" '
        f'spellcheck="false" required maxlength="150">\n<button>{escape(texts.connect)}</button>\n</form>',
    )


def render_result(reader: SetupReader, username: str, link: str | None, *, has_webhook: bool) -> str:
    """Say that the bot is connected, and lead to its chat."""
    texts = reader.texts
    content = f'<p role="status">{escape(texts.connected)}</p>\n<p><bdi>@{escape(username)}</bdi></p>'
    if not has_webhook:
        content += f"\n<p>{escape(texts.no_webhook)}</p>"
    if link is not None:
        content += f'\n<p><a href="{escape(link)}">{escape(texts.open_chat)}</a></p>'
    return _page(reader, texts.title, content)


def render_notice(reader: SetupReader, title: str, text: str) -> str:
    return _page(reader, title, f"<p>{escape(text)}</p>")


def _page(reader: SetupReader, title: str, content: str) -> str:
    direction = "rtl" if reader.texts.is_right_to_left else "ltr"
    heading = escape(title)
    return (
        f'<!doctype html>\n<html lang="{reader.language}" dir="{direction}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex, nofollow">\n'
        f"<title>{heading}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        f"{content}\n</main>\n</body>\n</html>\n"
    )
