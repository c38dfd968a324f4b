"""Rendering of templates."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates import TemplateProblem, check_template, render_text, render_value
from clarion.templates.parsing import MAX_TEMPLATE, find_excess
from clarion.work import WorkBudget, spending

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def make_variables(**payload: Any) -> dict[str, Any]:
    return {"payload": payload, "subscriber": {"firstName": "Ada", "lastName": None}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("{ not } a template }}", "{ not } a template }}"),
        ("Hi {{subscriber.firstName}}", "Hi Ada"),
        ("[{{subscriber.lastName}}{{nothing}}{{payload.a.b.c}}{{now}}{{today}}{{partial}}]", "[]"),
        ("{{payload.on}} {{payload.count}} {{payload.price}}", "true 3 1.5"),
        ("{{payload.room}} {{payload.tags}}", '{"name":"<b>","ok":true} ab'),
        ("{{payload.tags[1]}} {{payload.tags.first}} {{payload.tags.size}}", "b a 2"),
        ("{% for tag in payload.tags %}{{forloop.index}}{{tag}} {% endfor %}", "1a 2b "),
        ("{% if payload.count > 2 %}many{% else %}few{% endif %}", "many"),
        ("{{payload.room.name | upcase | append: '!'}}", "<B>!"),
        ("{{nothing | plus: 1}}{{nothing | date: '%Y'}}{{nothing | default: 'x'}}", "1x"),
        ("{% assign name = 'Bob' %}{{name}}{% capture x %}{{name}}{% endcapture %}{{x}}", "BobBob"),
        ("{% echo payload.room %}", '{"name":"<b>","ok":true}'),
        ("{{ '2026-07-15T12:00:00Z' | date: '%d.%m.%Y' }}", "15.07.2026"),
        ("{{ (1..3) }}", "1..3"),
    ],
)
def test_a_text_shows_its_variables(text: str, expected: str) -> None:
    variables = make_variables(on=True, count=3, price=1.5, room={"name": "<b>", "ok": True}, tags=["a", "b"])

    assert check_template(text) is None
    assert render_text(text, variables) == expected


@pytest.mark.parametrize("text", ["a{{'%00' | url_decode}}b", "a{{'AA==' | base64_decode}}b", "a{{payload.nul}}b"])
@pytest.mark.parametrize("html", [False, True])
def test_a_rendered_text_never_contains_the_character_that_no_database_text_holds(text: str, html: bool) -> None:
    assert render_text(text, make_variables(nul="\0"), html=html) == "ab"
    assert render_value({"deep": [text]}, make_variables(nul="\0"), html=html) == {"deep": ["ab"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>{{payload.name}}</p>", "<p>&lt;b&gt; &amp; &#34;</p>"),
        ("{{payload.object}}", "{&#34;a&#34;:&#34;&lt;i&gt;&#34;}"),
        ("{{payload.list}}", "&lt;i&gt;&lt;u&gt;"),
        ("{{payload.name | escape}}", "&lt;b&gt; &amp; &#34;"),
        ("{{payload.lines | newline_to_br}}", "&lt;a&gt;<br />\nb"),
        ("{{payload.name | upcase}}", "&lt;B&gt; &amp; &#34;"),
        ("{{'<hr>'}}", "<hr>"),
        ("{% echo payload.name %}", "&lt;b&gt; &amp; &#34;"),
        ("{% capture x %}<p>{{payload.name}}</p>{% endcapture %}{{x}}", "<p>&lt;b&gt; &amp; &#34;</p>"),
        ("{{payload.name | url_encode}}", "%3Cb%3E+%26+%22"),
        ("{{payload.name | url_encode | url_decode}}", "&lt;b&gt; &amp; &#34;"),
        ("{{payload.encoded | base64_decode}}", "&lt;b&gt;"),
        ("{{payload.object | json}}", "{&#34;a&#34;:&#34;&lt;i&gt;&#34;}"),
        ("{{payload.list | toSentence}}", "&lt;i&gt; and &lt;u&gt;"),
        ("{{payload.list | join: '<br>'}}", "&lt;i&gt;<br>&lt;u&gt;"),
    ],
)
def test_in_html_values_are_escaped_and_markup_of_the_template_stays(text: str, expected: str) -> None:
    variables = make_variables(name='<b> & "', object={"a": "<i>"}, list=["<i>", "<u>"], lines="<a>\nb", encoded="PGI+")

    assert render_text(text, variables, html=True) == expected


@given(st.text(), st.sampled_from(["", " | upcase", " | strip", " | append: payload.text", " | replace: 'a', 'b'"]))
def test_no_value_brings_markup_into_html(value: str, applied: str) -> None:
    text = render_text("{{payload.text" + applied + "}}", make_variables(text=value), html=True)

    assert not set("<>\"'") & set(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ name", "expected '}}'"),
        ("{% if %}x{% endif %}", "missing expression"),
        ("{% if a %}", "expected tag"),
        ("{% for x in y %}", "expected tag"),
        ("line\n{{ name | shout }}", "unknown filter 'shout'"),
        ("{% if a == b %}{{ x | upcase | shout }}{% endif %}", "unknown filter 'shout'"),
        ("{% assign x = y | shout %}", "unknown filter 'shout'"),
        ("{% include 'other' %}", "unexpected tag 'include'"),
        ("{% render 'other' %}", "unexpected tag 'render'"),
        ("{% teleport %}", "unexpected tag 'teleport'"),
        ("{% if a %}" * 40 + "{% endif %}" * 40, "nest"),
        ("{{ " + "a[" * 1_500 + "b" + "]" * 1_500 + " }}", "nested too deeply"),
    ],
)
def test_what_is_no_template_is_found_by_the_check_with_the_reason(text: str, reason: str) -> None:
    problem = check_template(text)

    assert problem is not None
    assert problem.startswith("is not a valid template: ")
    assert reason in problem
    with pytest.raises(TemplateProblem):
        render_text(text, make_variables(a=True))


@pytest.mark.parametrize(
    "text",
    [
        "{% for i in (1..10001) %}x{% endfor %}",
        "{% for i in (1..200) %}{% for j in (1..200) %}x{% endfor %}{% endfor %}",
        "{% for i in (1..6000) %}x{% endfor %}{% for i in (1..6000) %}x{% endfor %}",
        "{% for i in (1..100) %}{{payload.long}}{% endfor %}",
        "{{payload.long | replace: 'a', payload.long}}",
        "{{payload.long | split: '' | join: payload.long}}",
        "{{ (1..1000000000) | join: ',' }}",
        "{% tablerow i in (1..100000) %}x{% endtablerow %}",
        "{% assign x = 'ab' %}{% for i in (1..99) %}{% assign x = x | append: x %}{% endfor %}",
        "{% assign x = 99 %}{% for i in (1..99) %}{% assign x = x | times: x %}{% endfor %}",
        "{% for i in (1..9000) %}{% assign x = payload.items | sort %}{% endfor %}",
        "{{payload.many | uniq}}",
        "{% for i in (1..5000) %}{% if payload.huge contains 'zz' %}x{% endif %}{% endfor %}",
        "{% for i in (1..5000) %}{% if payload.nested contains payload.many %}x{% endif %}{% endfor %}",
        "{% for i in (1..5000) %}{% if payload.nested == payload.nested %}x{% endif %}{% endfor %}",
        "{% for i in (1..5000) %}{% case payload.huge %}{% when payload.huge %}{% endcase %}{% endfor %}",
        "{% for i in (1..5000) %}{% cycle payload.huge, payload.huge %}{% endfor %}",
        "{% for i in (1..5000) %}{% capture x %}{{payload.huge}}{% endcapture %}{% endfor %}",
        "{% for i in (1..5000) %}{% if false %}" + "{% elsif false %}" * 500 + "{% endif %}{% endfor %}",
        "{% for i in (1..5000) %}" + "{% if true %}{% endif %}" * 500 + "{% endfor %}",
        "{% for i in (1..5000) %}{% if true" + " and true" * 200 + " %}{% endif %}{% endfor %}",
        "{% for i in (1..5000) %}{{ payload[payload.huge] }}{% endfor %}",
        "{% for i in (1..5000) %}{% for x in payload.many offset: 19999 %}{% endfor %}{% endfor %}",
        "{% for i in (1..5000) %}{% assign x = payload.huge %}{% endfor %}",
        "{% for i in (1..5000) %}{{ payload.huge | strip_html | size }}{% endfor %}",
        "{% for i in (1..5000) %}{{ payload.nested | json | size }}{% endfor %}",
        "{% assign x = payload.many %}{% for i in (1..40) %}{% assign x = x | concat: x %}{% endfor %}{{ x | json }}",
        "{{ payload.many | map: payload.many }}",
        "{{ payload.huge | date: '%Y' }}",
        "{{ 'now' | date: payload.huge }}",
        "{{ 5 | round: -100000 }}",
        "{% break %}",
        "{{ 1 | divided_by: 0 }}",
    ],
)
def test_a_text_that_asks_for_too_much_is_a_problem_and_not_an_outage(text: str) -> None:
    many = list(range(20_000))
    variables = make_variables(
        long="a" * 20_000, huge="<a> " * 60_000, items=list(range(500)), many=many, nested=[many, [*many[:-1], 0]]
    )

    with pytest.raises(TemplateProblem):
        render_text(text, variables)


def test_five_thousand_turns_and_a_megabyte_are_not_too_much() -> None:
    assert len(render_text("{% for i in (1..5000) %}{{payload.text}}{% endfor %}", make_variables(text="x" * 208))) == (
        1_040_000
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * (MAX_TEMPLATE + 1), f"must not be longer than {MAX_TEMPLATE} characters"),
        ("{{ a }}" + "x" * MAX_TEMPLATE, f"must not be longer than {MAX_TEMPLATE} characters"),
        ("{{ a }}" * 2_000, "tags have more than 10000 words and signs"),
        ("{{ a" + " | upcase" * 10_000 + " }}", "tags have more than 10000 words and signs"),
        ("{{ a " + " " * 400_000 + "}}", "tags have more than 10000 words and signs"),
        ("{% liquid\n" + "echo a\n" * 2_000 + "%}", "tags have more than 10000 words and signs"),
        ("{% raw %}" * 500, "a block 'raw' is not closed"),
        ("{% doc %}" * 500, "a block 'doc' is not closed"),
    ],
)
def test_a_text_that_is_too_large_to_be_parsed_is_refused_with_the_limit(text: str, reason: str) -> None:
    problem = check_template(text)

    assert problem is not None
    assert reason in problem


def test_texts_of_one_run_share_its_budget() -> None:
    text = "{% for i in (1..1000) %}{{i}}{% endfor %}"
    budget = WorkBudget(limit=10_000)

    with spending(budget):
        assert render_text(text, {})
        assert budget.left > 0
        with pytest.raises(TemplateProblem, match="together with the texts before it"):
            render_value([text] * 10, {})


def test_simple_texts_count_towards_the_budget_too() -> None:
    budget = WorkBudget(limit=10)

    with spending(budget):
        assert render_text("{{payload.a}}{{payload.a}}", make_variables(a="x")) == "xx"
        assert budget.left < 10
        with pytest.raises(TemplateProblem, match="together with the texts before it"):
            render_value(["{{payload.a}}{{payload.a}}"] * 10, make_variables(a="x"))


def test_parsing_counts_for_the_unit_and_not_for_the_run() -> None:
    budget = WorkBudget(limit=100)

    with spending(budget):
        render_text("{{payload.never_seen_before}}" * 40, make_variables())

    assert budget.spent > 100
    assert budget.left > 0


@given(st.text(alphabet="{}%| abif.:'\"[]-()1", max_size=40), st.booleans())
def test_any_text_renders_or_is_a_problem(text: str, html: bool) -> None:
    problem = check_template(text)

    with suppress(TemplateProblem):
        render_text(text, make_variables(a=1), html=html)
        # A filter in a branch that is not taken is found by the check alone.
        assert problem is None or "unknown filter" in problem


@pytest.mark.parametrize(
    "name",
    ["upcase", "plus: 1", "date: '%Y'", "join", "sort", "map: 'a'", "json", "digest", "toSentence", "round", "sum"],
)
@given(value=JSON)
def test_filters_meet_any_value_without_failing_otherwise_than_as_a_problem(name: str, value: Any) -> None:
    with suppress(TemplateProblem):
        assert isinstance(render_text("{{payload.value | " + name + "}}", make_variables(value=value)), str)


def test_every_text_inside_a_value_is_rendered() -> None:
    value = {"title": "Hi {{subscriber.firstName}}", "count": 3, "list": ["{{payload.x}}", {"{{a}}": None}], "on": True}

    assert render_value(value, make_variables(x="y")) == {
        "title": "Hi Ada",
        "count": 3,
        "list": ["y", {"{{a}}": None}],
        "on": True,
    }


def test_variables_are_not_changed_by_a_template() -> None:
    variables = make_variables(list=[3, 1, 2])

    render_text("{% assign payload = 'x' %}{{payload.list | sort}}{% increment n %}", variables)

    assert variables == make_variables(list=[3, 1, 2])


@pytest.mark.parametrize(
    "text",
    ["{{" * 1_000, "}}" + "{{" * 500, "%}" + "{% " * 500, "{{" + " " * 200 + "}}", "{% raw %}" * 50 + "endraw"],
)
def test_tags_that_do_not_end_are_refused_before_they_are_parsed(text: str) -> None:
    assert find_excess(text) is not None


def test_braces_in_a_raw_block_are_no_tags() -> None:
    text = "{{ payload.a }}{% raw %}{{ {{ {{{% endraw %}"

    assert render_text(text, {"payload": {"a": 1}}) == "1{{ {{ {{"


@pytest.mark.parametrize("expression", ["local_date", "datetime", "date: '%Y', 'Europe/Berlin'", "date: '%Y'"])
def test_a_number_that_is_no_moment_is_shown_or_a_problem(expression: str) -> None:
    try:
        shown = render_text(f"{{{{ payload.a | {expression} }}}}", {"payload": {"a": 10**17}})
    except TemplateProblem as problem:
        assert "not a moment" in str(problem)  # noqa: PT017 - either is right
    else:
        assert shown == str(10**17)


def test_a_list_that_is_too_long_is_not_written_out() -> None:
    with pytest.raises(TemplateProblem, match="1000 items"):
        render_text("{{ payload.a | local_list }}", {"payload": {"a": list(range(1_001))}})
