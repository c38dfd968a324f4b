"""The page that a link to an answer leads to, as HTML: a form without scripts."""

from collections.abc import Iterable
from html import escape
from typing import Final

from msgspec import Struct

from clarion.answers.model import RunAnswer
from clarion.answers.texts import ANSWER_TEXTS, AnswerTexts
from clarion.clock import iso_text
from clarion.http.link_pages import LinkPages
from clarion.preferences.unsubscribe.texts import TEXTS, PageTexts
from clarion.times.spans import local_time, zone_of

_PAGES: Final = LinkPages("""
dl { margin: 1.5rem 0; }
dd { margin: 0 0 1rem; font-weight: 600; }
""")
HEADERS: Final = _PAGES.headers
ACTION: Final = "answer"
"""What the form sends. The requests with which mail programs unsubscribe do not have it."""


class AnswerPageReader(Struct, frozen=True):
    """Who reads the page, as far as it depends on them."""

    language: str
    token: str
    name: str = ""
    timezone: str | None = None

    @property
    def texts(self) -> AnswerTexts:
        return ANSWER_TEXTS[self.language]

    @property
    def link_texts(self) -> PageTexts:
        return TEXTS[self.language]


def render_confirmation(reader: AnswerPageReader, question: str, label: str) -> str:
    """Ask whether this is the answer."""
    texts = reader.texts
    facts = _facts((texts.your_answer, escape(label)), (texts.answering_as, escape(reader.name)))
    form = (
        f'<form method="post" action="answer?token={escape(reader.token)}">'
        f'<button name="action" value="{ACTION}">{escape(texts.confirm)}</button></form>'
    )
    return _page(reader, texts.title, [_question(question), facts, form])


def render_given(reader: AnswerPageReader, question: str, label: str) -> str:
    """Say that the answer was taken."""
    texts = reader.texts
    return _page(reader, texts.given, [_question(question), _facts((texts.your_answer, escape(label)))], is_status=True)


def render_answered(reader: AnswerPageReader, question: str, answer: RunAnswer, *, is_own: bool) -> str:
    """Say that the question was answered, and when; what the answer is, only to whoever gave it."""
    texts = reader.texts
    local = local_time(answer.at, zone_of(reader.timezone))
    when = f'<time datetime="{iso_text(answer.at)}">{local:%Y-%m-%d %H:%M} ({escape(reader.timezone or "UTC")})</time>'
    facts = [(texts.answered_at, when), *([(texts.your_answer, escape(answer.label))] if is_own else [])]
    return _page(reader, texts.answered, [_question(question), _facts(*facts)])


def render_notice(reader: AnswerPageReader, title: str, text: str) -> str:
    """Say one thing, in words of the texts."""
    return _page(reader, title, [f'<p role="status">{escape(text)}</p>'])


def _question(text: str) -> str:
    return f'<p dir="auto">{escape(text)}</p>'


def _facts(*facts: tuple[str, str]) -> str:
    """A list of names and values; the values are HTML."""
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd><bdi>{value}</bdi></dd>" for name, value in facts) + "</dl>"


def _page(reader: AnswerPageReader, title: str, content: Iterable[str], *, is_status: bool = False) -> str:
    body = ['<div role="status">', *content, "</div>"] if is_status else content
    return _PAGES.render(reader.language, title, body, is_right_to_left=reader.link_texts.is_right_to_left)
