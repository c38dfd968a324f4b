"""Whatever a translation or a payload says, an e-mail has no markup, link or template of it."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.content.email.compose import EditorType, LayoutSource, compile_email, render_email
from clarion.templates import TemplateProblem, check_template, make_texts
from clarion.templates.texts import TextCatalog, Texts, TranslatedText

CANARY = "zq9"
HTML = """
<html><body><p title="{{t.text}}">{{t.text}}</p>{{ 2 | plural: t.text }}{{ 3 | pluralize: "t.text" }}</body></html>
"""
BLOCKS = json.dumps(
    {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "text", "text": "A {{t.text}}"}]},
            {"type": "paragraph", "content": [{"type": "variable", "attrs": {"id": "t.text"}}]},
            {"type": "button", "attrs": {"text": "{{t.text}}", "url": "{{t.text}}"}},
            {"type": "image", "attrs": {"src": "{{t.text}}", "alt": "{{t.text}}"}},
        ],
    }
)
FRAME = LayoutSource("<html><body><h1>{{t.text}}</h1>{{content}}</body></html>", EditorType.HTML)
PIECES = st.sampled_from(
    [
        f"<{CANARY}>",
        f"</p><{CANARY} x=",
        f'" on{CANARY}="',
        f"' on{CANARY}='",
        f"javascript:{CANARY}",
        f"data:text/html,<{CANARY}>",
        "{{payload.name}}",
        "{{ t.secret }}",
        "{% raw %}",
        "&lt;",
        "--><!--",
        "]]>",
        "\r\nBcc: x",
        "text",
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=10), max_size=5).map("".join)


class Reader(HTMLParser):
    """Finds what a browser would make of hostile values."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.faults += [tag] if CANARY in tag else []
        for name, value in attrs:
            is_script = name in ("href", "src") and (value or "").strip().lower().startswith(("javascript:", "data:"))
            self.faults += [f"{name}={value}"] if CANARY in name or is_script else []

    def handle_comment(self, data: str) -> None:
        self.faults += [data] if CANARY in data else []


def make(text: str) -> Texts:
    texts = {"text": TranslatedText(text, "en_US"), "secret": TranslatedText("s3cret-text", "en_US")}
    return make_texts(TextCatalog(texts=texts))


@pytest.mark.parametrize("body", [HTML, BLOCKS], ids=["html", "blocks"])
@given(text=HOSTILE, name=HOSTILE)
def test_no_translation_and_no_payload_becomes_markup_or_a_link(body: str, text: str, name: str) -> None:
    variables: dict[str, Any] = {"payload": {"name": name}, "t": make(text), "locale": "en_US"}
    editor = EditorType.HTML if body is HTML else EditorType.BLOCK
    try:
        rendered = render_email(compile_email(body, editor, FRAME), variables)
    except TemplateProblem:
        # Only a text that is no template, which is refused when it is saved.
        assert check_template(text) is not None
        return
    assert Reader(rendered).faults == []


@given(HOSTILE)
def test_a_payload_in_a_translation_is_no_template(name: str) -> None:
    variables: dict[str, Any] = {"payload": {"name": name}, "t": make("Hello {{payload.name}}"), "locale": "en_US"}
    rendered = render_email(compile_email(HTML, EditorType.HTML, FRAME), variables)
    assert "s3cret-text" not in rendered
    assert Reader(rendered).faults == []
