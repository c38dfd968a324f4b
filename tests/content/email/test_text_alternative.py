"""The text alternative of generated e-mails: values stand in it as they are."""

from hypothesis import given
from hypothesis import strategies as st

from clarion.content.email.compose import EditorType
from clarion.providers.email.plain_text import plain_text
from tests.content.email.documents import Node, make_document, make_node, make_text, paragraph, render, variable
from tests.content.email.test_hostile_values import hostile_values

BLOCKS = st.sampled_from(
    [
        paragraph("Before ", variable("payload.a"), " after"),
        make_node("heading", make_text("Before {{payload.a}} after"), level=2),
        make_node("bulletList", make_node("listItem", paragraph("Before ", variable("payload.a"), " after"))),
        make_node("blockquote", paragraph("Before ", variable("payload.a", fallback="none"), " after")),
        make_node("button", text="Before {{payload.a}} after", url="https://x.y/{{payload.b}}"),
        make_node("repeat", paragraph("Before ", variable("payload.c.d"), " after"), each="payload.c"),
        make_node("section", paragraph("Before ", variable("payload.a"), " after"), showIfKey="payload.a"),
    ]
)


@given(st.lists(BLOCKS, min_size=1, max_size=4), hostile_values)
def test_values_of_blocks_stand_in_the_text_as_they_are(blocks: list[Node], value: str) -> None:
    payload = {"a": value, "b": value, "c": [{"d": value}, {"d": value}]}
    text = plain_text(render(make_document(*blocks), {"payload": payload}, layout=None))

    written = _words(f"Before {value} after".replace("\0", ""))
    assert _words(text).count(written) >= len(blocks)


@given(hostile_values)
def test_values_of_html_stand_in_the_text_as_they_are(value: str) -> None:
    body = '<p>Before {{ payload.a }} after</p><img src="https://x.y/a.png" alt="Picture {{ payload.a }} end">'
    text = plain_text(render(body, {"payload": {"a": value}}, EditorType.HTML))

    for written in (f"Before {value} after", f"Picture {value} end"):
        assert _words(written.replace("\0", "")) in _words(text)


def _words(text: str) -> str:
    return " ".join(text.split())
