"""Whatever a value is, it adds no element, attribute, style or link with another scheme to an e-mail."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clarion.content.email.checks import check_body
from clarion.content.email.compose import EditorType, LayoutSource
from clarion.templates.markup_filters import is_shown
from tests.content.email.documents import Node, make_document, make_node, make_text, render, variable
from tests.fuzzing import EXAMPLES

FRAGMENTS = (
    *("<script>alert(1)</script>", '"', "'", ">", "<", "`", "=", " ", "\n", "\t", "\0", "\u2028", "\u202e", "x"),
    *("https://x.y/", ' onerror="x"', "' onclick='x", "</title>", "</style>", "<!--", "-->", "<![CDATA[", "]]>"),
    *("</td></table>", "javascript:", "java\tscript:alert(1)", "data:text/html,", "vbscript:", "//x.y", "\\", "&"),
    *("&lt;b&gt;", "&#106;avascript:", "&quot;", "{{ 7 | times: 7 }}", "{% raw %}", "{% endraw %}", "{%", "}}"),
    *("{{ payload.a | safe }}", "lqw00000z", "<!--lqc00000z-->", "expression(alert(1))", "<img src=x>", "ليلى"),
    *(";background:url(javascript:x)", "<a href=javascript:x>", "\U0001f600"),
)
NAMES = (
    "payload.a",
    "payload.b",
    "subscriber.name",
    "payload.a | upcase",
    "payload.b | default: 'x'",
    "t.key",
    "env.KEY",
)
KEYED = (
    "showIfKey",
    "fallback",
    "text",
    "url",
    "src",
    "alt",
    "title",
    "externalLink",
    "href",
    "link",
    "description",
    "image",
)
SAFE = ("http:", "https:", "mailto:", "tel:", "cid:")

hostile_values = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join).filter(is_shown)
written = st.one_of(
    st.sampled_from(NAMES).map(lambda name: f"{{{{ {name} }}}}"),
    st.sampled_from(NAMES).map(lambda name: f"https://x.y/{{{{ {name} }}}}?a=1&section=2"),
    st.sampled_from(NAMES).map(lambda name: f"A {{{{ {name} }}}} \"'<b> &amp; {{{{{name}}}}}"),
    st.lists(st.sampled_from(("<b>", '"', "'", "x", " ", "&", "https://x.y/")), max_size=4).map("".join),
)
flags = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("isTextVariable", "isUrlVariable", "isSrcVariable", "isExternalLinkVariable", "isLinkVariable"), st.booleans()
    ),
)
texts = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYED, written) | {"showIfKey": st.sampled_from(NAMES)})
names = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("url", "text", "src", "href", "externalLink"), st.sampled_from(NAMES))
)


@st.composite
def inline_nodes(draw: st.DrawFn) -> Node:
    if draw(st.booleans()):
        return variable(draw(st.sampled_from(NAMES)), fallback=draw(written))
    link: Node = {"type": "link", "attrs": draw(texts) | draw(names) | draw(flags)}
    return make_text(
        draw(written), *draw(st.lists(st.sampled_from((link, {"type": "bold"}, {"type": "code"})), max_size=2))
    )


@st.composite
def block_nodes(draw: st.DrawFn, depth: int = 0) -> Node:
    kinds = (
        "paragraph",
        "heading",
        "button",
        "image",
        "logo",
        "linkCard",
        "htmlCodeBlock",
        "section",
        "blockquote",
        "repeat",
    )
    kind = draw(st.sampled_from(kinds[: 7 if depth == 2 else None]))
    attrs = draw(texts) | draw(st.one_of(st.just({}), names)) | draw(flags)
    match kind:
        case "paragraph" | "heading":
            return make_node(kind, *draw(st.lists(inline_nodes(), max_size=3)))
        case "htmlCodeBlock":
            code = draw(
                st.sampled_from(
                    (
                        "<p title='{{ payload.a }}'>",
                        '<a href="{{ payload.b }}">{{t.key}}</a>',
                        "<style>p{color:red}</style>",
                    )
                )
            )
            return make_node(kind, make_text(code), variable(draw(st.sampled_from(NAMES))))
        case "section" | "blockquote":
            return make_node(kind, *draw(st.lists(block_nodes(depth=depth + 1), max_size=2)))
        case "repeat":
            item = variable("current.a", aliasFor="payload.items.a", fallback=draw(written))
            link = make_node("button", text="{{ current.b }}", url="current.b", isUrlVariable=True)
            return make_node(kind, make_node("paragraph", item), link, each="payload.items")
        case _:
            return make_node(kind, **attrs)


class Structure(HTMLParser):
    """The elements and attributes of a document, without the values of those that people fill; and its addresses."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.addresses: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        free = ("alt", "title", "lang", "dir")
        shown = tuple((name, "" if name in free else value) for name, value in attrs if name not in ("href", "src"))
        self.elements.append((tag, shown))
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_comment(self, data: str) -> None:
        self.elements.append(("comment", ((data, ""),)))

    def handle_decl(self, decl: str) -> None:
        self.elements.append(("declaration", ((decl, ""),)))


def variables_with(value: str, other: str) -> Mapping[str, Any]:
    items = [{"a": value, "b": other}, {"a": other, "b": value}]
    return {
        "payload": {"a": value, "b": other, "items": items},
        "subscriber": {"name": value},
        "t": {"key": other},
        "env": {"KEY": value},
        "locale": value,
    }


def has_safe_scheme(address: str) -> bool:
    compact = "".join(address.split()).replace("\0", "").lower()
    before = compact.partition(":")[0]
    is_scheme = (
        ":" in compact and before[:1].isalpha() and before.replace("+", "").replace("-", "").replace(".", "").isalnum()
    )
    return not is_scheme or compact.startswith(SAFE)


def check(body: str, editor: EditorType, layout: LayoutSource | None, value: str, other: str) -> None:
    """Compare the e-mail with the one of harmless values: only texts and addresses may differ."""
    harmless = Structure(render(body, variables_with("https://x.y/a", "https://x.y/b"), editor, layout, "title"))
    hostile = Structure(render(body, variables_with(value, other), editor, layout, value))

    assert hostile.elements == harmless.elements
    assert all(has_safe_scheme(address) for address in hostile.addresses)


@settings(max_examples=100 * EXAMPLES or 60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(block_nodes(), max_size=4), hostile_values, hostile_values, st.booleans())
def test_values_of_block_documents(nodes: list[Node], value: str, other: str, has_layout: bool) -> None:
    body = make_document(*nodes)
    layout = LayoutSource(make_document(variable("content"), variable("payload.a")), EditorType.BLOCK)
    # What the author writes may be wrong by itself.
    assume(all(problem.is_warning for problem in check_body(body, EditorType.BLOCK).problems))

    check(body, EditorType.BLOCK, layout if has_layout else None, value, other)


MARKUP = (
    "<p>{{ payload.a }}</p>",
    '<a href="{{ payload.a }}" title="{{ payload.b }}">{{ t.key }}</a>',
    "<img src='{{ payload.b }}{{ payload.a }}' alt='{{ payload.a }}'>",
    "<a href='{% if payload.a %}{{ payload.a }}{% endif %}/x'>x</a>",
    "{% for item in payload.items %}<tr><td>{{ item.a }}</td></tr>{% endfor %}",
    "<style>p{color:red} td{padding:2px}</style>",
)


@settings(max_examples=100 * EXAMPLES or 60, deadline=None)
@given(st.lists(st.sampled_from(MARKUP), max_size=4), hostile_values, hostile_values, st.booleans())
def test_values_of_html(parts: list[str], value: str, other: str, is_document: bool) -> None:
    inner = "".join(f"<table>{part}</table>" if "<tr>" in part else part for part in parts)
    body = f"<!DOCTYPE html><html><body>{inner}</body></html>" if is_document else inner

    check(body, EditorType.HTML, None, value, other)


@settings(max_examples=20 * EXAMPLES or 20, deadline=None)
@given(st.lists(st.sampled_from(MARKUP[:4]), max_size=3), hostile_values, hostile_values)
def test_values_of_mjml(parts: list[str], value: str, other: str) -> None:
    column = f'<mj-text>{"".join(parts)}</mj-text><mj-button href="{{{{ payload.a }}}}">{{{{ payload.b }}}}</mj-button>'
    body = f"<mjml><mj-body><mj-section><mj-column>{column}</mj-column></mj-section></mj-body></mjml>"

    check(body, EditorType.MJML, None, value, other)
