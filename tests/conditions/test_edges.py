"""Conditions at their limits: long patterns and texts, texts that look like JSON, rules that take too much work."""

from typing import Any

import pytest

from clarion.clock import Millis
from clarion.conditions import explain_logic
from clarion.conditions.fast_path import compile_simple_rule
from clarion.conditions.filters import rename_previous_steps
from clarion.conditions.kinds import check_kind
from clarion.conditions.operations import MAX_TEXT
from clarion.conditions.values import MAX_EXPLAINED, MAX_PATTERN, is_like, shorten
from tests.conditions.test_filters import make_group, make_part, passes

NOW = Millis(1_784_116_800_000)


def test_a_pattern_that_is_too_long_matches_nothing() -> None:
    text = "a" * (2 * MAX_PATTERN)

    assert is_like(text, "%" + "a" * (MAX_PATTERN - 1))
    assert not is_like(text, "%" + "a" * MAX_PATTERN)
    assert is_like(text, "a" * (MAX_PATTERN + 1))


@pytest.mark.parametrize("text", ["[1, 2", "{'a': 1}", "[" * 5000])
def test_a_text_that_only_begins_like_json_is_a_text(text: str) -> None:
    assert passes("EQUAL", text, text)
    assert not passes("EQUAL", text, "[1, 2]")


def test_values_are_shortened_only_if_they_are_long() -> None:
    fits, too_long = "x" * MAX_EXPLAINED, "x" * (MAX_EXPLAINED + 1)

    assert (shorten(fits), shorten(too_long)) == (fits, fits + "…")
    assert (shorten([1, 2]), shorten({"a": 1}), shorten(5)) == ([1, 2], {"a": 1}, 5)
    assert shorten([fits]) == f'["{fits}'[:MAX_EXPLAINED] + "…"


@pytest.mark.parametrize(
    "rule",
    [
        {"all": [{"var": "many"}, {"all": [{"var": "many"}, {"==": [1, 1]}]}]},
        {"==": [{"cat": ["x" * MAX_TEXT, "y"]}, 1]},
    ],
)
def test_the_explanation_of_a_rule_that_takes_too_much_work_says_so(rule: Any) -> None:
    decision = explain_logic(rule, {"many": [{"many": list(range(1000))}] * 1000}, now=NOW)

    assert decision.passed is False
    assert decision.explanation == {"passed": False, "problem": "the rule takes too much work"}


@pytest.mark.parametrize(
    "rule",
    [
        {"==": [1, 1], "!=": [1, 2]},
        {"==": [1]},
        {"==": [1, 1, 1]},
        {"var": ["a", "default"]},
        {"var": ""},
        {"var": 5},
        {"and": []},
        {"max": [1, 2]},
        {"unknown": [1]},
        {"==": [{"a": 1, "b": 2}, 1]},
        {"in": ["a", [["nested"]]]},
    ],
)
def test_rules_that_are_not_simple_are_left_to_the_full_evaluation(rule: Any) -> None:
    assert compile_simple_rule(rule) is None


def test_a_chain_of_comparisons_is_simple() -> None:
    rule = compile_simple_rule({"<": [1, {"var": "n"}, 9]})

    assert rule is not None
    assert [bool(rule({"n": n}, [])) for n in (1, 2, 8, 9)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("join", "values", "expected"),
    [("and", [1, 2], 2), ("and", [1, 0, 2], 0), ("or", [0, 3, 4], 3), ("or", [0, ""], "")],
)
def test_simple_joins_return_the_value_that_decides(join: str, values: list[Any], expected: Any) -> None:
    rule = compile_simple_rule({join: values})

    assert rule is not None
    assert rule({}, []) == expected


def test_references_to_earlier_steps_are_renamed_at_any_depth_and_nothing_else_is() -> None:
    def rename(old: str) -> str:
        return f"new-{old}"

    step = {"on": "previousStep", "step": "a", "stepType": "read"}
    odd = {"on": "previousStep", "step": 5}
    other = make_part() | {"step": "a"}

    assert rename_previous_steps([make_group(make_group(step), odd, other, "text", None)], rename) == [
        make_group(make_group(step | {"step": "new-a"}), odd, other, "text", None)
    ]
    assert rename_previous_steps(None, rename) is None


def test_a_filter_on_a_field_has_no_problems_of_another_kind() -> None:
    assert check_kind(make_part()) == []
    assert check_kind({}) == []
