"""The pages as HTML: forms without scripts."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from clarion.http.link_pages import LinkPages
from clarion.preferences.unsubscribe.texts import TEXTS, PageTexts
from clarion.vocabulary import Channel

_PAGES: Final = LinkPages("""
h2 { font-size: 1.0625rem; margin: 2rem 0 0; }
ul { padding-inline-start: 1.25rem; }
fieldset { border: 1px solid GrayText; border-radius: .5rem; margin: 0 0 1rem; padding: .5rem 1rem 1rem; }
legend { font-weight: 600; padding: 0 .25rem; overflow-wrap: anywhere; }
label { display: flex; gap: .625rem; align-items: center; min-height: 2.25rem; }
input { width: 1.25rem; height: 1.25rem; margin: 0; }
""")
HEADERS: Final = _PAGES.headers


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
    return _PAGES.render(reader.language, title, content, is_right_to_left=reader.texts.is_right_to_left)


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
