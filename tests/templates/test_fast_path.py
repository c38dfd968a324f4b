"""The fast path renders the same text as the template engine."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates.fast_path import find_segments, render_segments
from clarion.templates.parsing import TemplateProblem, parse
from clarion.templates.rendering import _render, make_texts, render_text
from clarion.templates.texts import TextCatalog, TranslatedText
from clarion.work import WorkBudget, spending

NAMES = st.sampled_from(["payload", "name", "a", "first", "size", "0"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
WORDS = st.text(alphabet="ab <>&\"'\n", max_size=6)
SHOWN = st.lists(st.sampled_from(["payload", "name", "a", "first", "size"]), min_size=1, max_size=3).map(
    lambda path: "{{ " + ".".join(path) + " }}"
)
TEMPLATES = st.lists(WORDS | SHOWN, max_size=6).map("".join)


TEXTS: dict[str, str | dict[str, str]] = {
    "plain": "Some <text>",
    "name": "Hello {{ a }} {{ current }}",
    "parcels": {"one": "one", "other": "{{count}} of {{ name }}"},
}
CATALOG = TextCatalog(texts={key: TranslatedText(text, "en_US") for key, text in TEXTS.items()})
PATHS = st.sampled_from(
    ["a", "name", "payload.a", "payload.name.a", "payload.size", "a.size", "current", "current.a", "_text", "_shown"]
) | st.sampled_from(["t.plain", "t.name", "t.parcels", "t.missing", "t"])
FILTERS = st.sampled_from(
    ["", " | default: 'x & y'", " | default: _text", " | _href", " | _link", " | _attribute", " | default: '' | _src"]
) | st.sampled_from([" | plural: 't.parcels'", " | plural: 'none'", " | _language", " | _is_shown", " | upcase"])
VALUES = st.tuples(PATHS, FILTERS).map("".join)
BLOCKS = st.sampled_from(
    [
        "{% capture _text %}{INNER}x{% endcapture %}",
        "{% assign _shown = {VALUE} | _is_shown %}{% if _shown %}y{INNER}{% endif %}",
        "{% assign _items = {VALUE} | _items: 'a' %}{% for current in _items %}z{INNER}{% endfor %}",
        "{% assign _items = a | _items: 'a' %}{% for current in _items limit: 2 %}{INNER}, {% endfor %}",
        "{% for a in payload.a %}<{INNER}>{% endfor %}",
        "{% if name %}({INNER}){% endif %}",
        "{% if name %}{INNER}{% else %}-{% endif %}",
        "{% for name in a %} {% endfor %}",
    ]
)


@st.composite
def compiled(draw: st.DrawFn, depth: int = 2) -> str:
    """A template of the parts that compiled e-mails consist of."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 3 if depth else 1))
        if kind == 0:
            parts.append(draw(WORDS))
        elif kind == 1:
            parts.append("{{ " + draw(VALUES) + " }}")
        else:
            block = draw(BLOCKS).replace("{VALUE}", draw(VALUES))
            parts.append(block.replace("{INNER}", draw(compiled(depth=depth - 1))))
    return "".join(parts)


def render_both(template: str, variables: dict[str, Any], *, html: bool) -> tuple[str, str]:
    """Return what both ways make of a template, or why they do not."""
    texts = [make_texts(CATALOG) for _ in range(2)]
    answers = []
    for number, render in enumerate((render_text, render_by_engine)):
        try:
            answers.append(render(template, {**variables, "t": texts[number]}, html=html))
        except TemplateProblem as problem:
            answers.append(f"problem: {problem}")
    assert texts[0].missing == texts[1].missing
    return answers[0], answers[1]


def render_by_engine(template: str, variables: dict[str, Any], *, html: bool) -> str:
    return _render(parse(template, html=html).template, variables).replace("\0", "")


@given(TEMPLATES, st.dictionaries(NAMES, JSON, max_size=4), st.booleans())
def test_both_ways_lead_to_the_same_text(template: str, variables: dict[str, Any], html: bool) -> None:
    assert render_text(template, variables, html=html) == render_by_engine(template, variables, html=html)


@given(compiled(), st.dictionaries(NAMES, JSON, max_size=4), st.booleans())
def test_both_ways_lead_to_the_same_email(template: str, variables: dict[str, Any], html: bool) -> None:
    fast, slow = render_both(template, variables, html=html)

    assert fast == slow


@pytest.mark.parametrize(
    "template",
    ["{{ a | upcase }}", "{% if a == 1 %}x{% endif %}", "{{ a[0] }}", "{{ 'a' }}", "{{ a.first }}", "{{ a[b] }}"],
)
def test_what_is_not_plain_goes_the_long_way(template: str) -> None:
    assert find_segments(parse(template).template) is None


def test_plain_templates_do_not_need_the_engine() -> None:
    template = "Hello {{ payload.name }}, {{payload.count}} of {{ payload.none }}"

    assert render_fast(template, {"payload": {"name": "Ada", "count": 3}}) == "Hello Ada, 3 of "


def test_compiled_emails_do_not_need_the_engine() -> None:
    template = (
        "{% capture _text %}https://example.com/{{ a }}{% endcapture %}<a{{ _text | _href }}>"
        "{% assign _shown = a | _is_shown %}{% if _shown %}{{ a | default: 'none' }}{% endif %}"
        "{% assign _items = b | _items: 'b' %}{% for current in _items %}{{ current.c }}, {% endfor %}"
        "{{ b.size | plural: 't.parcels' }}"
    )
    variables = {"a": "x&y", "b": [{"c": 1}, {"c": "<2>"}], "t": make_texts(CATALOG)}

    rendered = render_fast(template, variables, html=True)

    assert rendered == '<a href="https://example.com/x&amp;y">x&amp;y1, &lt;2&gt;, 2 of '


@pytest.mark.parametrize("count", [10_001, 20_000])
def test_loops_that_turn_too_often_are_left_to_the_engine(count: int) -> None:
    assert render_fast("{% for one in a %}x{% endfor %}", {"a": [0] * count}) is None


def test_texts_that_become_too_long_are_left_to_the_engine() -> None:
    assert render_fast("{% for one in a %}" + "x" * 2000 + "{% endfor %}", {"a": [0] * 1000}) is None


def render_fast(template: str, variables: dict[str, Any], *, html: bool = False) -> str | None:
    segments = find_segments(parse(template, html=html).template)
    assert segments is not None
    return render_segments(segments, variables, html=html)[0]


def test_what_is_read_and_not_shown_counts_as_work() -> None:
    template = "{% for one in a %}{{ b | _link }}{% endfor %}"

    assert render_fast(template, {"a": [0] * 1000, "b": "javascript:" + "x" * 100_000}, html=True) is None


def test_texts_in_a_loop_count_as_work() -> None:
    texts = TextCatalog(texts={"list": TranslatedText("{% for one in a %}{{ one }}{% endfor %}", "en_US")})
    template = "{% for one in a %}{{ t.list }}{% endfor %}"

    with pytest.raises(TemplateProblem, match="too much work"):
        render_text(template, {"a": [0] * 1000, "t": make_texts(texts)})


def test_what_was_done_before_the_engine_takes_over_counts_as_work() -> None:
    """Otherwise each text around another one would double the work for nothing."""
    around = {f"text{depth}": f"{{{{ t.text{depth + 1} }}}}{{{{ a }}}}" for depth in range(4)}
    innermost = {"text4": "{% for one in a %}{{ one }}{% endfor %}"}
    texts = TextCatalog(texts={key: TranslatedText(text, "en_US") for key, text in (around | innermost).items()})
    variables = {"a": [0] * 2000, "t": make_texts(texts)}

    with pytest.raises(TemplateProblem, match="too much work"):
        render_text("{{ t.text0 }}", variables)
    budget = WorkBudget()
    with spending(budget):
        assert render_text("{% for one in a %}x{% endfor %}{{ a }}", variables)
    assert budget.spent > 2 * 4000
