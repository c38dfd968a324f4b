"""Groups of filters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.conditions import check_filters, decide_filters, list_unsupported
from clarion.jsontext import json_text
from clarion.vocabulary import FilterOperator
from clarion.work import WorkBudget, spending

TWINS = [("EQUAL", "NOT_EQUAL"), ("IN", "NOT_IN"), ("BETWEEN", "NOT_BETWEEN"), ("LIKE", "NOT_LIKE")]


def make_part(operator: str = "EQUAL", value: Any = "gold", field: str = "plan", on: str = "payload") -> dict[str, Any]:
    return {"field": field, "value": value, "operator": operator, "on": on}


def make_group(*children: Any, join: str = "AND", negated: bool = False) -> dict[str, Any]:
    return {"isNegated": negated, "type": "GROUP", "value": join, "children": list(children)}


def passes(operator: str, actual: Any, expected: Any) -> bool:
    filters = [make_group(make_part(operator, expected))]
    return decide_filters(filters, {"payload": {"plan": actual}}).passed


@pytest.mark.parametrize(
    ("operator", "actual", "expected"),
    [
        ("EQUAL", "gold", "gold"),
        ("EQUAL", 5, "5"),
        ("EQUAL", 5, "5.0"),
        ("EQUAL", True, "true"),
        ("EQUAL", False, "False"),
        ("EQUAL", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"),
        ("EQUAL", ["a"], '["a"]'),
        ("NOT_EQUAL", "gold", "silver"),
        ("NOT_EQUAL", 5, "five"),
        ("LARGER", 10, "9"),
        ("LARGER", "10", "9"),
        ("LARGER", "b", "a"),
        ("LARGER", "2026-02-01", "2026-01-31T23:00:00Z"),
        ("LARGER_EQUAL", 9, "9"),
        ("SMALLER", -1, "0"),
        ("SMALLER_EQUAL", 1.5, "1.5"),
        ("IN", "gold", "silver, gold"),
        ("IN", 5, "[4, 5]"),
        ("IN", "all that is gold", "gold"),
        ("IN", ["gold", "red"], "gold"),
        ("IN", ["a,b"], "a,b"),
        ("NOT_IN", "gold", "silver,bronze"),
        ("NOT_IN", ["red"], "gold"),
        ("ALL_IN", ["a", "b"], "a,b,c"),
        ("ALL_IN", "a", '["a", "b"]'),
        ("ALL_IN", [1, 2], "1,2"),
        ("ANY_IN", ["x", "b"], "a,b"),
        ("ANY_IN", "b", "b"),
        ("BETWEEN", 5, "5,9"),
        ("BETWEEN", 9, "[5, 9]"),
        ("BETWEEN", "2026-01-15", "2026-01-01,2026-02-01"),
        ("NOT_BETWEEN", 10, "5,9"),
        ("NOT_BETWEEN", 7, "5"),
        ("LIKE", "golden", "old"),
        ("LIKE", "golden", "g%n"),
        ("LIKE", "gold", "_old"),
        ("LIKE", 105, "1%"),
        ("NOT_LIKE", "golden", "g_n"),
        ("NOT_LIKE", "golden", "Gold"),
    ],
)
def test_what_fits_passes(operator: str, actual: Any, expected: Any) -> None:
    assert passes(operator, actual, expected)


@pytest.mark.parametrize(
    ("operator", "actual", "expected"),
    [
        ("EQUAL", "gold", "silver"),
        ("EQUAL", 1, "true"),
        ("EQUAL", "5", "5.0"),
        ("EQUAL", 9007199254740993, "9007199254740992"),
        ("EQUAL", 0, "٠"),
        ("EQUAL", True, "1"),
        ("LARGER", 9, "10"),
        ("LARGER", 9, "many"),
        ("LARGER", True, "false"),
        ("SMALLER", [1], "2"),
        ("IN", "gold", "silver,golden"),
        ("IN", 55, "5"),
        ("NOT_IN", "gold", "gold,silver"),
        ("ALL_IN", ["a", "x"], "a,b"),
        ("ALL_IN", [], "a,b"),
        ("ANY_IN", ["x"], "a,b"),
        ("BETWEEN", 4, "5,9"),
        ("BETWEEN", 7, "5,9,11"),
        ("BETWEEN", "x", "5,9"),
        ("LIKE", "golden", "old%"),
        ("LIKE", ["gold"], "gold"),
    ],
)
def test_what_does_not_fit_does_not_pass(operator: str, actual: Any, expected: Any) -> None:
    assert not passes(operator, actual, expected)


@pytest.mark.parametrize("variables", [{}, {"payload": {}}, {"payload": {"plan": None}}, {"payload": None}])
@pytest.mark.parametrize("operator", FilterOperator)
def test_what_is_absent_fails_every_operator_but_those_that_deny(operator: str, variables: dict[str, Any]) -> None:
    filters = [make_group(make_part(operator, "1,2"))]

    assert decide_filters(filters, variables).passed is operator.startswith("NOT_")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1,2", "[1]", "a%"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(FilterOperator), JSON, JSON)
def test_no_value_makes_a_decision_fail(operator: str, actual: Any, expected: Any) -> None:
    assert isinstance(passes(operator, actual, expected), bool)


@given(st.sampled_from(TWINS), JSON, JSON)
def test_an_operator_and_its_denial_never_agree(twins: tuple[str, str], actual: Any, expected: Any) -> None:
    assert passes(twins[0], actual, expected) != passes(twins[1], actual, expected)


@given(st.text(alphabet="ab\n", max_size=12), st.text(alphabet="ab%_\n", min_size=1, max_size=8))
def test_wildcards_match_as_a_small_model_does(text: str, pattern: str) -> None:
    def matches(text: str, pattern: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "%":
            return any(matches(text[at:], pattern[1:]) for at in range(len(text) + 1))
        return bool(text) and pattern[0] in ("_", text[0]) and matches(text[1:], pattern[1:])

    expected = matches(text, pattern) if set("%_") & set(pattern) else pattern in text

    assert passes("LIKE", text, pattern) is expected


def test_no_filters_pass() -> None:
    assert decide_filters([], {}).passed
    assert decide_filters(None, {}).passed
    assert decide_filters([make_group()], {}).passed
    assert decide_filters([make_group(negated=True)], {}).passed


YES, NO = make_part("EQUAL", "gold"), make_part("EQUAL", "silver")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([make_group(YES, NO)], False),
        ([make_group(YES, NO, join="OR")], True),
        ([make_group(YES, negated=True)], False),
        ([make_group(NO, negated=True)], True),
        ([make_group(NO), make_group(YES)], True),
        ([make_group(NO), make_group(NO)], False),
        ([make_group(YES, make_group(NO, make_group(YES), join="OR"))], True),
        ([make_group(YES, make_group(NO, negated=True))], True),
        ([make_group(YES, make_group(YES, negated=True))], False),
        (["nonsense"], False),
        ([make_group("nonsense")], False),
        ([make_group(make_part("TELEPORT"))], False),
        ([make_group({"operator": [], "field": [], "on": {}})], False),
    ],
)
def test_groups_join_nest_and_negate(filters: list[Any], expected: bool) -> None:
    assert decide_filters(filters, {"payload": {"plan": "gold"}}).passed is expected


PARTS = st.sampled_from([YES, NO])
GROUPS = st.recursive(
    PARTS,
    lambda inner: st.builds(
        lambda children, join, negated: make_group(*children, join=join, negated=negated),
        st.lists(inner, max_size=3),
        st.sampled_from(["AND", "OR"]),
        st.booleans(),
    ),
    max_leaves=8,
).filter(lambda one: "children" in one)


@given(st.lists(GROUPS, max_size=3))
def test_groups_decide_as_a_small_model_does(filters: list[Any]) -> None:
    def decide(one: dict[str, Any]) -> bool:
        if "children" not in one:
            return bool(one["value"] == "gold")
        results = [decide(child) for child in one["children"]]
        joined = any(results) if one["value"] == "OR" else all(results)
        return not results or joined != one["isNegated"]

    expected = not filters or any(map(decide, filters))

    assert decide_filters(filters, {"payload": {"plan": "gold"}}).passed is expected


WEBHOOK = {"on": "webhook", "webhookUrl": "https://example.org", "field": "x", "operator": "NOT_EQUAL", "value": 1}


@pytest.mark.parametrize("unknown", [WEBHOOK, make_part("TELEPORT"), make_part("NOT_EQUAL", on="moon"), "nonsense"])
@pytest.mark.parametrize(
    ("children", "join", "negated", "expected"),
    [
        ([], "AND", False, False),
        ([], "AND", True, False),
        ([YES], "AND", False, False),
        ([NO], "AND", True, True),
        ([YES], "OR", False, True),
        ([YES], "OR", True, False),
        ([NO], "OR", True, False),
    ],
)
def test_what_cannot_be_decided_passes_nothing(
    unknown: Any, children: list[Any], join: str, negated: bool, expected: bool
) -> None:
    group = make_group(unknown, *children, join=join, negated=negated)
    nested = make_group(make_group(make_group(unknown, negated=True)), *children, join=join, negated=negated)

    for one in (group, nested):
        assert decide_filters([one], {"payload": {"plan": "gold"}}).passed is expected


def test_the_explanation_names_a_kind_that_is_not_supported() -> None:
    decision = decide_filters([make_group(WEBHOOK)], {})

    (child,) = decision.explanation["groups"][0]["children"]
    assert child == {"passed": False, "on": "webhook", "problem": "filters on 'webhook' are not supported"}
    assert check_filters([make_group(WEBHOOK)]) == []
    assert list_unsupported([make_group(YES, make_group(WEBHOOK))]) == [("0.children.1.children.0.on", "webhook")]


def test_fields_are_paths_into_the_payload_or_the_person() -> None:
    variables = {"payload": {"room": {"tags": ["a", "b"]}}, "subscriber": {"data": {"plan": "gold"}}}

    assert decide_filters([make_group(make_part(value="b", field="room.tags.1"))], variables).passed
    assert decide_filters([make_group(make_part(value="b", field="payload.room.tags[1]"))], variables).passed
    assert decide_filters([make_group(make_part(field="data.plan", on="subscriber"))], variables).passed
    assert not decide_filters([make_group(make_part(field="data.plan"))], variables).passed


def test_the_explanation_says_what_was_compared() -> None:
    decision = decide_filters([make_group(make_part(value="gold"))], {"payload": {"plan": "x" * 500}})

    (child,) = decision.explanation["groups"][0]["children"]
    assert child["actual"] == "x" * 200 + "…"
    del child["actual"]
    assert child == {"passed": False, "on": "payload", "field": "plan", "operator": "EQUAL", "expected": "gold"}
    assert json_text(decision.explanation)


@pytest.mark.parametrize(
    ("operator", "actual", "expected"),
    [
        ("ANY_IN", list(range(20_000)), json_text(list(range(20_000)))),
        ("ALL_IN", list(range(20_000)), json_text(list(range(20_000)))),
        ("NOT_IN", list(range(20_000)), json_text(list(range(20_000, 40_000)))),
        ("LIKE", "a" * 250_000, "%" + "_" * 500 + "b%"),
        ("NOT_LIKE", "a" * 250_000, "%" + "_" * 500 + "b%"),
        ("EQUAL", [[1] * 200] * 200, [[1] * 200] * 200),
    ],
)
def test_what_takes_too_much_work_passes_nothing(operator: str, actual: Any, expected: Any) -> None:
    assert not passes(operator, actual, expected)


def test_filters_of_a_run_share_its_budget() -> None:
    filters = [{"children": [{"field": "a", "value": "x", "operator": "EQUAL", "on": "payload"}] * 50}]

    with spending(WorkBudget(limit=100)):
        decision = decide_filters(filters, {"payload": {"a": "x"}})

    assert not decision.passed
    assert "takes too much work" in json_text(decision.explanation)


def test_a_thousand_filters_are_the_limit() -> None:
    group = {"children": [{"field": "a", "value": "x", "operator": "EQUAL", "on": "payload"}] * 100}

    assert check_filters([group] * 10) == []
    assert check_filters([group] * 11) == [("", "must not have more than 1000 filters together")]


def test_well_formed_filters_have_no_problems() -> None:
    filters = [make_group(*(make_part(operator, "1,2") for operator in FilterOperator), make_group(YES)), {}]

    assert check_filters(filters) == []


def test_every_problem_is_named_with_its_path() -> None:
    filters = [
        {"isNegated": "yes", "type": "SET", "value": "XOR", "children": [make_part("TELEPORT", on="moon", field="")]},
        make_group("word", make_group({"field": "x", "operator": "BETWEEN", "value": "1"})),
        5,
        {"children": {}},
    ]

    assert [path for path, _ in check_filters(filters)] == [
        "0.type",
        "0.value",
        "0.isNegated",
        "0.children.0.operator",
        "0.children.0.on",
        "0.children.0.field",
        "1.children.0",
        "1.children.1.children.0.value",
        "2",
        "3.children",
    ]
    assert all(message.startswith("must ") for _, message in check_filters(filters))
    assert check_filters("word") == [("", "must be a list of groups")]


def test_groups_nest_up_to_ten_levels() -> None:
    nested = make_group(YES)
    for _ in range(9):
        nested = make_group(nested)

    assert check_filters([nested]) == []
    assert check_filters([make_group(nested)])[0][1] == "must not be nested more than 10 levels deep"


@given(JSON)
def test_checking_and_deciding_survive_anything(filters: Any) -> None:
    check_filters(filters)
    if isinstance(filters, list):
        decide_filters(filters, {})
