"""`t` in a template: texts by their keys, their forms for numbers, and what they cannot do."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.templates import TemplateProblem, check_template, list_text_keys, make_texts, render_text
from clarion.templates.texts import TextCatalog, Texts, TranslatedText
from clarion.work import WorkBudget, spending

POLISH = {"one": "{{count}} plik", "few": "{{count}} pliki", "many": "{{count}} plików", "other": "{{count}} pliku"}
CONTENT: dict[str, Any] = {
    "hello": "Hello",
    "welcome.title": "Hello {{payload.name | upcase}}",
    "404": "Not found",
    "a-b": "dashed",
    "replies": {"zero": "no replies", "one": "one reply", "other": "{{count | decimal}} replies"},
    "apple": "apple",
    "apples": "apples & pears",
    "greeting": "{{t.hello}}, {{payload.name}}!",
    "a": "{{t.b}}",
    "b": "{{t.a}}",
    **{f"deep{depth}": f"{{{{t.deep{depth + 1}}}}}" for depth in range(9)},
}


def make(content: Mapping[str, Any] = CONTENT, locale: str = "en_US") -> Texts:
    texts = {key: TranslatedText(text, locale) for key, text in content.items()}
    return make_texts(TextCatalog(locale=locale, texts=texts))


def render(
    template: str, payload: Mapping[str, Any] | None = None, *, texts: Texts | None = None, html: bool = False
) -> str:
    variables = {"payload": payload or {"name": "Ada"}, "t": make() if texts is None else texts, "locale": "en_US"}
    return render_text(template, variables, html=html)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{t.hello}}", "Hello"),
        ("{{ t.welcome.title }}", "Hello ADA"),
        ('{{ t["welcome.title"] }}', "Hello ADA"),
        ('{{ t["404"] }}', "Not found"),
        ("{{ t.a-b }}", "dashed"),
        ("{{ t.hello | upcase }}", "HELLO"),
        ("{% if payload.name %}{{ t.hello }}{% endif %}", "Hello"),
        ("{% for i in (1..3) %}{{ t.hello }}{% endfor %}", "HelloHelloHello"),
        ("{{ t[payload.key] }}", "Hello"),
        ("{{ t.greeting }}", "Hello, Ada!"),
        ("{{ 3 | pluralize: 't.apple', 't.apples' }}", "3 apples & pears"),
        ("{{ 1 | pluralize: 't.apple', 't.apples' }}", "1 apple"),
        ("{{ 1 | plural: 't.replies' }}", "one reply"),
        ("{{ 0 | plural: 't.replies' }}", "no replies"),
        ("{{ 1200 | plural: t.replies }}", "1,200 replies"),
        ("{{ payload.names | plural: 't.replies' }}", "2 replies"),
        ("{{ t.replies.one }}", "one reply"),
        ("{{ t.replies.few }}", "replies.few"),
        ("{{ 2 | plural: 't.hello' }}", "Hello"),
        ("{{ t.nothing }}", "nothing"),
        ("{{ 1 | plural: 't.nothing' }}", "nothing"),
        ("{{ 1 | append: 't.nothing' }}", "1t.nothing"),
        ("{{ t }}{{ t | json }}", '""'),
        ("{% assign t = payload.name %}{{ t }}{{ t.size }}", "Ada3"),
    ],
)
def test_texts_are_found_by_their_keys(template: str, expected: str) -> None:
    assert check_template(template) is None
    assert render(template, {"name": "Ada", "key": "hello", "names": ["Bob", "Eve"]}) == expected


@pytest.mark.parametrize(("number", "expected"), [(1, "1 plik"), (3, "3 pliki"), (5, "5 plików"), (1.5, "1.5 pliku")])
def test_numbers_have_the_forms_of_the_language_of_the_text(number: float, expected: str) -> None:
    # The person reads English, and the text exists in Polish only.
    assert (
        render("{{ payload.n | plural: 't.files' }}", {"n": number}, texts=make({"files": POLISH}, "pl_PL")) == expected
    )


def test_missing_keys_and_used_languages_are_noted() -> None:
    texts = make()
    render("{{ t.hello }}{{ t.nothing }}{{ t.no.thing }}{{ t.nothing }}", texts=texts)
    assert (list(texts.missing), list(texts.locales)) == (["nothing", "no.thing"], ["en_US"])


@pytest.mark.parametrize(
    ("template", "message"), [("{{t.a}}", "in a circle: a → b → a"), ("{{t.deep0}}", "more than 5")]
)
def test_texts_inside_of_each_other_come_to_an_end(template: str, message: str) -> None:
    with pytest.raises(TemplateProblem, match=message):
        render(template)


def test_the_work_of_texts_in_a_loop_is_that_of_the_template() -> None:
    texts = make({"slow": "{% for i in (1..1000) %}{{ i }}{% endfor %}"})
    with pytest.raises(TemplateProblem, match="too much work"):
        render("{% for i in (1..1000) %}{{ t.slow }}{% endfor %}", texts=texts)
    budget = WorkBudget()
    with spending(budget):
        render("{% for i in (1..3) %}{{ t.slow }}{% endfor %}", texts=texts)
    assert budget.spent > 3_000


def test_a_text_is_escaped_where_values_are() -> None:
    texts = make({"bold": "<b>{{payload.name}}</b>"})
    assert render("{{ t.bold }}", {"name": "<i>"}, texts=texts, html=True) == "&lt;b&gt;&lt;i&gt;&lt;/b&gt;"
    assert render("{{ 2 | pluralize: 't.bold' }}", {"name": "<i>"}, texts=texts, html=True).count("<") == 0
    assert render("{{ 2 | plural: 't.bold' }}", {"name": "<i>"}, texts=texts, html=True).count("<") == 0


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "{{t.secret}}",
            "{{ env.key }}",
            "{% raw %}",
            "t.secret",
            "<script>",
            '" onload="x',
            "{{'t.secret'}}",
            "&lt;b&gt;",
        ]
    ),
)


@given(HOSTILE, st.sampled_from(["{{ t.greeting }}", "{{ payload.name }}", "{{ 2 | pluralize: payload.name }}"]))
def test_a_value_is_never_a_template(name: str, template: str) -> None:
    texts = make({"greeting": "Hello {{payload.name}}", "secret": "s3cret-text"})
    shown = render(template, {"name": name}, texts=texts)
    assert "s3cret-text" not in shown
    # The plural of what ends with y ends with ies.
    assert name.replace("\0", "").rstrip()[:-1] in shown
    in_html = render(template, {"name": name}, texts=texts, html=True)
    assert "s3cret-text" not in in_html
    assert not set("<>\"'") & set(in_html)


def test_the_keys_of_arguments_are_listed() -> None:
    assert list_text_keys("{{ n | pluralize: 't.a', 't.b' }}{{ n | plural: 't.c' }}{{ n | append: 'x' }}") == [
        "a",
        "b",
        "c",
    ]
    assert list_text_keys("not a template: t.a") == []
    assert list_text_keys("{{ t. | }}") == []
