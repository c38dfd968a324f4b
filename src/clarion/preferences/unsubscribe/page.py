"""The pages as HTML: forms without scripts, which look as the browser's owner likes, dark or light."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from clarion.http.static import Header
from clarion.preferences.unsubscribe.texts import TEXTS, PageTexts
from clarion.vocabulary import Channel

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 1.0625rem/1.5 system-ui, sans-serif; margin: 0; padding: 2rem 1rem; background: Canvas;
  color: CanvasText; }
main { max-width: 34rem; margin: 0 auto; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.0625rem; margin: 2rem 0 0; }
ul { padding-inline-start: 1.25rem; }
fieldset { border: 1px solid GrayText; border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem 1rem; }
legend { font-weight: 600; padding: 0 .25rem; overflow-wrap: anywhere; }
label { display: flex; gap: .625rem; align-items: center; min-height: 2.25rem; }
input { width: 1.25rem; height: 1.25rem; margin: 0; }
button { font: inherit; font-weight: 600; padding: .625rem 1.25rem; border-radius: .5rem; border: 1px solid;
  background: CanvasText; color: Canvas; cursor: pointer; }
li, p { overflow-wrap: anywhere; }
[role=status] { border-inline-start: .25rem solid; padding-inline-start: .75rem; }
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


class Reader(Struct, frozen=True):
    """Who reads a page, as far as it depends on them."""

    language: str
    token: str
    """Of the link, for the addresses of forms."""

    @property
    def texts(self) -> PageTexts:
        return TEXTS[self.language]


class Choice(Struct, frozen=True):
    """The channels of a workflow, and whether they are on."""

    id: str
    name: str
    channels: dict[Channel, bool]


def render_question(reader: Reader, workflow: str, channel: Channel) -> str:
    """Ask whether to unsubscribe from a workflow in a channel."""
    texts = reader.texts
    content = [
        f"<p>{escape(texts.ask)}</p>",
        _list([_name(texts, workflow, channel)]),
        _button("unsubscribe", texts.unsubscribe, reader),
        _other_page(reader),
    ]
    return _page(reader, texts.unsubscribe, content)


def render_result(reader: Reader, workflow: str, channel: Channel, *, is_on: bool) -> str:
    """Say what holds for a workflow in a channel, and offer the opposite."""
    texts = reader.texts
    title, explanation = (texts.subscribed, texts.will_get) if is_on else (texts.unsubscribed, texts.no_longer)
    button = ("unsubscribe", texts.unsubscribe) if is_on else ("subscribe", texts.subscribe_again)
    content = [
        f'<p role="status">{escape(explanation)}</p>',
        _list([_name(texts, workflow, channel)]),
        _button(*button, reader),
        _other_page(reader),
    ]
    return _page(reader, title, content)


def render_critical(reader: Reader, workflow: str) -> str:
    """Say that a workflow cannot be switched off."""
    texts = reader.texts
    content = [f'<p role="status">{escape(texts.always)}</p>', _list([workflow]), _other_page(reader)]
    return _page(reader, texts.unsubscribe, content)


def render_choices(reader: Reader, choices: Sequence[Choice], critical: Sequence[str], *, is_saved: bool) -> str:
    """Show everything that a person can choose from."""
    texts = reader.texts
    content = [f'<p role="status">{escape(texts.saved)}</p>'] if is_saved else []
    if choices:
        content += [
            f"<p>{escape(texts.introduction)}</p>",
            f'<form method="post" action="preferences?token={escape(reader.token)}">',
            *(_fieldset(texts, choice) for choice in choices),
            f"<button>{escape(texts.save)}</button></form>",
        ]
    else:
        content.append(f"<p>{escape(texts.nothing)}</p>")
    if critical:
        content += [f"<h2>{escape(texts.always)}</h2>", _list(critical)]
    return _page(reader, texts.messages, content)


def render_notice(reader: Reader, title: str, text: str) -> str:
    """Say one thing, in words of the texts."""
    return _page(reader, title, [f"<p>{escape(text)}</p>"])


def _page(reader: Reader, title: str, content: Iterable[str]) -> str:
    direction = "rtl" if reader.texts.is_right_to_left else "ltr"
    heading = escape(title)
    return (
        f'<!doctype html>\n<html lang="{reader.language}" dir="{direction}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex, nofollow">\n'
        f"<title>{heading}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        + "\n".join(content)
        + "\n</main>\n</body>\n</html>\n"
    )


def _fieldset(texts: PageTexts, choice: Choice) -> str:
    boxes = "\n".join(_checkbox(texts, choice, channel, is_on=on) for channel, on in choice.channels.items())
    return f'<fieldset>\n<legend dir="auto">{escape(choice.name)}</legend>\n{boxes}\n</fieldset>'


def _checkbox(texts: PageTexts, choice: Choice, channel: Channel, *, is_on: bool) -> str:
    value = escape(f"{choice.id}.{channel}")
    # What is shown is sent, too: a workflow that came after the page was opened is not switched off by it.
    return (
        f'<input type="hidden" name="shown" value="{value}">'
        f'<label><input type="checkbox" name="on" value="{value}"{" checked" if is_on else ""}> '
        f"{escape(texts.name_of(channel))}</label>"
    )


def _button(action: str, text: str, reader: Reader) -> str:
    return (
        f'<form method="post" action="unsubscribe?token={escape(reader.token)}">'
        f'<button name="action" value="{action}">{escape(text)}</button></form>'
    )


def _other_page(reader: Reader) -> str:
    return f'<p><a href="preferences?token={escape(reader.token)}">{escape(reader.texts.choose)}</a></p>'


def _list(names: Iterable[str]) -> str:
    items = "".join(f"<li><bdi>{escape(name)}</bdi></li>" for name in names)
    return f"<ul>{items}</ul>"


def _name(texts: PageTexts, workflow: str, channel: Channel) -> str:
    return f"{workflow} – {texts.name_of(channel)}"
