"""The fast path renders the same text as the template engine."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates.fast_path import find_segments, render_segments
from clarion.templates.parsing import parse
from clarion.templates.rendering import _render, render_text

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


@given(TEMPLATES, st.dictionaries(NAMES, JSON, max_size=4), st.booleans())
def test_both_ways_lead_to_the_same_text(template: str, variables: dict[str, Any], html: bool) -> None:
    engine = _render(parse(template, html=html).template, variables)

    assert render_text(template, variables, html=html) == engine.replace("\0", "")


@pytest.mark.parametrize(
    "template", ["{{ a | upcase }}", "{% if a %}x{% endif %}", "{{ a[0] }}", "{{ 'a' }}", "{{ a.size }}", "{{ a[b] }}"]
)
def test_what_is_not_plain_goes_the_long_way(template: str) -> None:
    assert find_segments(parse(template).template) is None


def test_plain_templates_do_not_need_the_engine() -> None:
    segments = find_segments(parse("Hello {{ payload.name }}, {{payload.count}} of {{ payload.none }}").template)

    assert segments is not None
    assert render_segments(segments, {"payload": {"name": "Ada", "count": 3}}, html=False) == "Hello Ada, 3 of "
