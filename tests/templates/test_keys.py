"""Keys: expressions and paths."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.conditions.values import find_value
from clarion.templates import MISSING, TemplateProblem, check_key, evaluate_key, find_path

VARIABLES: dict[str, Any] = {
    "payload": {"room": "blue", "deep": {"list": [{"id": 7}]}, "subscriber": "a word", "empty": None},
    "subscriber": {"firstName": "Ada"},
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{{payload.room}}", "blue"),
        (" {{ payload.room }} ", "blue"),
        ("{{payload.room | upcase}}", "BLUE"),
        ("{{payload.deep.list}}", [{"id": 7}]),
        ("{{payload.deep.list[0].id}}", 7),
        ("{{payload.nothing}}", None),
        ("{{payload.room}}-{{subscriber.firstName}}", "blue-Ada"),
        ("payload.room", "blue"),
        ("room", "blue"),
        ("deep.list.0.id", 7),
        ("payload.deep.list[0].id", 7),
        ("subscriber.firstName", "Ada"),
        ("subscriber", "a word"),
        ("empty", None),
        ("nothing", None),
        ("payload.nothing", None),
    ],
)
def test_a_key_has_the_value_that_it_names(expression: str, expected: Any) -> None:
    assert check_key(expression) is None
    assert evaluate_key(expression, VARIABLES) == expected


def test_absent_and_null_are_distinguished_by_path() -> None:
    assert find_path(VARIABLES, "payload.empty") is None
    assert find_path(VARIABLES, "payload.nothing") is MISSING
    assert find_path({}, "room") is MISSING


@pytest.mark.parametrize("expression", ["", " ", ".", "a..b", "a.", "{{", "{{a | shout}}", "a[b]", "a|b"])
def test_what_is_no_key_is_refused_with_a_reason(expression: str) -> None:
    assert check_key(expression)


def test_an_expression_that_fails_is_a_problem() -> None:
    with pytest.raises(TemplateProblem):
        evaluate_key("{{ 1 | divided_by: 0 }}", VARIABLES)


@given(
    st.recursive(st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.text(),
)
def test_looking_along_any_path_never_fails(value: Any, path: str) -> None:
    find_value(value, path)
