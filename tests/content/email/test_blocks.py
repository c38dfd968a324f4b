"""Block documents: what their nodes become, and what is wrong with others."""

import json
from itertools import product
from typing import Any

import pytest

from clarion.content.email.blocks.compiling import NODES, compile_blocks
from clarion.content.email.blocks.document import MAX_DEPTH, MAX_NODES
from clarion.content.email.compose import EditorType, EmailProblem, LayoutSource, has_slot
from clarion.templates import TemplateProblem
from clarion.work import WorkBudget, spending
from tests.content.email.documents import (
    make_document,
    make_node,
    make_text,
    paragraph,
    render,
    render_nodes,
    variable,
)

ITEMS = [{"name": "one"}, {"name": "two"}, {"name": "three"}]


def problems_of(*nodes: dict[str, Any]) -> list[tuple[str, str]]:
    compiled = compile_blocks(make_document(*nodes))
    return [(problem.path, problem.message) for problem in compiled.problems if not problem.is_warning]


def warnings_of(*nodes: dict[str, Any]) -> list[str]:
    return [problem.path for problem in compile_blocks(make_document(*nodes)).problems if problem.is_warning]


def test_text_of_a_document_is_escaped_and_liquid_in_it_is_rendered() -> None:
    rendered = render_nodes(paragraph("1 < 2  {{ payload.name | upcase }}"), payload={"name": "<ada>"})

    assert "1 &lt; 2&nbsp; &lt;ADA&gt;</p>" in rendered


def test_a_variable_has_a_fallback_which_may_have_quotes_and_variables() -> None:
    nodes = [
        paragraph(variable("payload.name", fallback="you & me")),
        paragraph(variable("payload.name", fallback='it\'s "{{ payload.other }}"')),
        paragraph(variable("payload.other | upcase", fallback="none")),
    ]

    rendered = render_nodes(*nodes, payload={"other": "<b>"})

    assert [text in rendered for text in (">you &amp; me<", '>it\'s "&lt;b&gt;"<', ">&lt;B&gt;<")] == [True] * 3


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        *product([None, False, 0, 0.0, "", "  ", "0", '""', "false", "null", "undefined", [], {}], [False]),
        *product([True, 1, "no", "x", [0], {"a": None}, "00"], [True]),
    ],
)
def test_a_node_is_shown_if_its_key_has_a_value(value: Any, is_shown: bool) -> None:
    rendered = render_nodes(paragraph("seen", showIfKey="payload.key"), payload={"key": value})

    assert ("seen" in rendered) is is_shown


def test_a_node_with_an_unknown_key_is_not_shown() -> None:
    assert "seen" not in render_nodes(paragraph("seen", showIfKey="payload.nothing"))


@pytest.mark.parametrize("kind", ["repeat", "for"])
@pytest.mark.parametrize(("iterations", "names"), [(0, ["one", "two", "three"]), (2, ["one", "two"])])
def test_a_repeat_shows_its_content_for_each_item(kind: str, iterations: int, names: list[str]) -> None:
    item = paragraph(variable("current.name", aliasFor="payload.items.name"), "!")
    repeat = make_node(kind, item, each="payload.items", iterations=iterations)

    rendered = render_nodes(repeat, payload={"items": ITEMS})

    assert [name for name in ("one", "two", "three") if f">{name}!<" in rendered] == names


@pytest.mark.parametrize("name", ["current.name", "payload.items.name", "payload.items.name | upcase | downcase"])
def test_names_of_an_item_may_be_written_with_the_list_or_as_current(name: str) -> None:
    repeat = make_node("repeat", paragraph(variable(name)), each="payload.items")

    assert render_nodes(repeat, payload={"items": ITEMS}).count("</p>") == 3
    assert ">three<" in render_nodes(repeat, payload={"items": ITEMS})


def test_a_path_with_an_index_stays_as_it_is() -> None:
    repeat = make_node("repeat", paragraph(variable("payload.items[0].name")), each="payload.items")

    assert render_nodes(repeat, payload={"items": ITEMS}).count(">one<") == 3


@pytest.mark.parametrize("value", [None, "text", {"a": 1}, 3])
def test_a_repeat_over_something_else_than_a_list_fails_and_names_it(value: Any) -> None:
    with pytest.raises(TemplateProblem, match=r"'payload\.items' must be a list"):
        render_nodes(make_node("repeat", paragraph("x"), each="payload.items"), payload={"items": value})


def test_an_absent_list_can_be_left_out_by_a_condition() -> None:
    repeat = make_node("repeat", paragraph("x"), each="payload.items", showIfKey="payload.items")

    assert "x" not in render_nodes(repeat, payload={})


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("https://example.com/?a=1&b=2", 'href="https://example.com/?a=1&amp;b=2"'),
        ("mailto:ada@example.com", 'href="mailto:ada@example.com"'),
        ("TEL:+4420", 'href="TEL:+4420"'),
        ('https://x.y/"onclick="z', 'href="https://x.y/&#34;onclick=&#34;z"'),
    ],
)
def test_a_link_may_be_a_variable(url: str, href: str) -> None:
    link = {"type": "link", "attrs": {"href": "payload.url", "isUrlVariable": True}}
    rendered = render_nodes(paragraph(make_text("Go", link)), payload={"url": url})

    assert f"<a {href} target" in rendered


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " java\tscript:alert(1)", "data:text/html,x", "\x01vbscript:x", "file:///etc", ""]
)
@pytest.mark.parametrize("written", ["payload.url", "{{payload.url}}/x", "{{payload.url}}{{payload.more}}"])
def test_a_value_with_another_scheme_makes_no_link(url: str, written: str) -> None:
    is_variable = "{" not in written
    nodes = [
        make_node("button", text="Go", url=written, isUrlVariable=is_variable),
        make_node("image", src=written, isSrcVariable=is_variable, alt="x"),
        make_node("image", src="https://x.y/z", externalLink=written, isExternalLinkVariable=is_variable, alt="x"),
        make_node("linkCard", title="x", link=written if not is_variable else "{{ payload.url }}"),
    ]
    rendered = render_nodes(*nodes, payload={"url": url, "more": ":x"})

    assert "href" not in rendered or url == ""
    assert rendered.count("src=") == 1 or url == ""
    assert "script:" not in rendered.replace(" ", "") or url == ""


def test_what_begins_with_an_address_keeps_it_whatever_the_value() -> None:
    button = make_node("button", text="Go", url="https://example.com/{{payload.id}}?a=1&section=2")

    rendered = render_nodes(button, payload={"id": '"><script>'})

    assert 'href="https://example.com/&#34;&gt;&lt;script&gt;?a=1&amp;section=2"' in rendered


@pytest.mark.parametrize("attribute", ["alt", "title"])
@pytest.mark.parametrize("text", ["{{ payload.x }}", "Of {{ payload.x }}", "{{ payload.x | safe }}"])
def test_a_value_cannot_leave_an_attribute(attribute: str, text: str) -> None:
    image = make_node("image", src="https://x.y/z", **{"alt": "x", attribute: text})

    rendered = render_nodes(image, payload={"x": '" onerror="alert(1)'})

    assert 'onerror="' not in rendered
    assert "onerror=&#34;" in rendered


def test_marks_are_nested_in_one_order_with_the_link_outermost() -> None:
    marks: list[dict[str, Any]] = [
        {"type": "link", "attrs": {"href": "https://x.y"}},
        {"type": "bold"},
        {"type": "underline"},
    ]

    rendered = render_nodes(paragraph(make_text("Go", *marks)))

    assert "<strong><u>Go</u></strong></a>" in rendered


@pytest.mark.parametrize(
    ("nodes", "path", "words"),
    [
        ([make_node("buton")], "body.content[0].type", "did you mean 'button'"),
        ([paragraph(make_text("x", {"type": "blink"}))], "body.content[0].content[0].marks[0].type", "known are"),
        ([paragraph("x", textAlign="left;color:red")], "body.content[0].attrs.textAlign", "left or center"),
        ([make_node("button", buttonColor="red;}")], "body.content[0].attrs.buttonColor", "colour"),
        ([make_node("spacer", height="8px;x:y")], "body.content[0].attrs.height", "pixels"),
        ([make_node("image", src="javascript:x", alt="x")], "body.content[0].attrs.src", "https"),
        ([make_node("button", url="javascript:x")], "body.content[0].attrs.url", "mailto"),
        ([make_node("heading", level=7)], "body.content[0].attrs.level", "1, 2 or 3"),
        ([variable("payload.{{x")], "body.content[0].attrs.id", "name of a variable"),
        ([variable("")], "body.content[0].attrs.id", "name of a variable"),
        ([make_node("repeat", paragraph("x"), each="")], "body.content[0].attrs.each", "name of a list"),
        ([make_node("columns", paragraph("x"))], "body.content[0].content[0].type", "only a column"),
        ([make_node("column", paragraph("x"))], "body.content[0].type", "in columns"),
        ([make_node("doc")], "body.content[0].type", "inside"),
        ([make_node("button", isUrlVariable="yes", url="x")], "body.content[0].attrs.isUrlVariable", "true or false"),
        (
            [make_node("repeat", make_node("repeat", each="payload.b"), each="payload.a")],
            "body.content[0].content[0].type",
            "inside another repeat",
        ),
    ],
)
def test_what_no_mail_can_show_is_a_problem_with_its_place(nodes: list[Any], path: str, words: str) -> None:
    ((where, message),) = problems_of(*nodes)

    assert where == path
    assert words in message


def test_a_document_with_a_problem_is_not_sent() -> None:
    with pytest.raises(
        EmailProblem, match=r"body\.content\[0\]\.type 'buton' is no type of a node.* \(1 more problems\)"
    ):
        render_nodes(make_node("buton"), make_node("x"))


@pytest.mark.parametrize(
    ("node", "path"),
    [
        (make_node("image", src="https://x.y/z"), "body.content[0].attrs.alt"),
        (make_node("image", alt="x"), "body.content[0].attrs.src"),
        (make_node("button", text=" ", url="https://x.y"), "body.content[0].attrs.text"),
        (make_node("button", text="Go"), "body.content[0].attrs.url"),
        (
            make_node("button", url="https://x.y", buttonColor="#777", textColor="white"),
            "body.content[0].attrs.textColor",
        ),
        (paragraph(make_text("x", {"type": "link"})), "body.content[0].content[0].marks[0].attrs.href"),
        (make_node("linkCard", title="x"), "body.content[0].attrs.link"),
    ],
)
def test_what_people_cannot_read_or_follow_is_a_warning(node: dict[str, Any], path: str) -> None:
    assert warnings_of(node) == [path]
    assert problems_of(node) == []


@pytest.mark.parametrize("kind", NODES)
def test_every_node_can_stand_without_attributes_or_with_null(kind: str) -> None:
    if kind in ("doc", "column", "variable", "repeat", "for"):
        return
    names = ("textAlign", "level", "width", "height", "src", "text", "url", "showIfKey", "buttonColor", "gap", "alt")

    assert problems_of({"type": kind}) == []
    assert problems_of({"type": kind, "attrs": dict.fromkeys(names)}) == []


def test_the_whole_document_has_the_language_and_direction_of_the_person() -> None:
    body = make_document(paragraph("x"))

    assert '<html lang="ar-EG" dir="rtl">' in render(body, {"locale": "ar_EG"}, layout=None)
    assert '<html lang="de" dir="ltr">' in render(body, {"locale": "de"}, layout=None)
    assert '<html lang="und" dir="ltr">' in render(body, {"locale": '"><b>'}, layout=None)
    assert "<title>Title</title>" in render(body, layout=None)
    assert "<html" not in render(body)


def test_a_block_layout_has_the_content_at_its_variable() -> None:
    layout = LayoutSource(make_document(paragraph("above"), variable("content"), paragraph("below")), EditorType.BLOCK)

    rendered = render(make_document(paragraph("<in>")), {}, layout=layout)

    assert rendered.count("<html") == 1
    above, inside, below = (rendered.index(text) for text in (">above<", ">&lt;in&gt;</p>", ">below<"))
    assert above < inside < below
    assert has_slot(layout.body)
    assert not has_slot(make_document(paragraph("{{ x }}")))


def test_code_is_markup_with_escaped_values_and_inlined_styles() -> None:
    code = make_node(
        "htmlCodeBlock",
        make_text("<head><style>p{color:red}</style><title>x</title></head><p>"),
        variable("payload.name"),
        make_text("</p>"),
    )

    assert '<p style="color: red;">&lt;b&gt;</p>' in render_nodes(code, payload={"name": "<b>"})


@pytest.mark.parametrize(
    "body",
    [
        make_document(*[paragraph("x")] * MAX_NODES),
        '{"type":"doc","content":[' * 2000 + "]}" * 2000,
        json.dumps({"type": "doc", "content": [{"type": "blockquote", "content": []}]}).replace(
            "[]", '[{"type":"blockquote","content":' * MAX_DEPTH + "[]" + "}]" * MAX_DEPTH
        ),
        '{"type":"doc","content":[{"type":3}]}',
        '{"type":"doc","content":[{"type":"text","text":"x","more":1}]}',
        '{"type":"doc"}',
        '{"type":"doc", ',
    ],
    ids=["many", "deep", "too-deep", "no-type", "unknown-member", "no-content", "no-json"],
)
def test_a_document_out_of_form_or_limits_is_refused_with_a_reason(body: str) -> None:
    (problem,) = compile_blocks(body).problems

    assert problem.path.startswith("body")
    assert not problem.is_warning


def test_a_repeat_of_many_items_is_bounded_by_the_budget_of_the_run() -> None:
    rows = [paragraph(variable("current.a"), variable("current.b")) for _ in range(100)]
    body = make_document(make_node("repeat", *rows, each="payload.items"))

    with spending(WorkBudget()), pytest.raises(TemplateProblem, match="too much work"):
        render(body, {"payload": {"items": [{"a": 1, "b": 2}] * 5_000}})
