"""The page on a phone where somebody gives an integration its bot: a form without scripts."""

from html import escape
from typing import Final

from msgspec import Struct

from clarion.http.link_pages import LinkPages
from clarion.subscribers.addresses.telegram.texts import TEXTS, BotTexts

_PAGES: Final = LinkPages("""
label { display: block; font-weight: 600; }
input { font: inherit; box-sizing: border-box; width: 100%; padding: .625rem; margin: .25rem 0 1rem; }
""")
HEADERS: Final = _PAGES.headers


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
    return _PAGES.render(reader.language, title, [content], is_right_to_left=reader.texts.is_right_to_left)
