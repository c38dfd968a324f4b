"""JSON-logic rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR, MINUTE, Millis, iso_text
from clarion.conditions import CompiledLogic, check_logic, decide_logic, explain_logic
from clarion.conditions.fast_path import NeedsFullEvaluation, compile_simple_rule
from clarion.conditions.logic import _BOUNDS, _Evaluation
from clarion.jsontext import json_text

NOW = Millis(1_784_116_800_000)
DATA: dict[str, Any] = {
    "payload": {
        "plan": "gold",
        "count": 5,
        "text": "5",
        "on": True,
        "tags": ["a", "b"],
        "none": None,
        "empty": "",
        "items": [{"price": 10}, {"price": 20}],
        "numbers": [1, 2, 3],
    },
    "subscriber": {"firstName": "Ada"},
}


def var(path: str) -> dict[str, Any]:
    return {"var": f"payload.{path}"}


def value_of(rule: Any, data: Any = None) -> Any:
    return _Evaluation(NOW).value(rule, DATA if data is None else data)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"var": "payload.plan"}, "gold"),
        ({"var": ["payload.nothing", "default"]}, "default"),
        ({"var": "payload.tags.1"}, "b"),
        ({"var": "payload.nothing"}, None),
        ({"missing": ["payload.plan", "payload.nothing"]}, ["payload.nothing"]),
        ({"missing": {"merge": ["payload.empty"]}}, ["payload.empty"]),
        ({"missing_some": [1, ["payload.plan", "payload.nothing"]]}, []),
        ({"missing_some": [2, ["payload.plan", "payload.nothing"]]}, ["payload.nothing"]),
        ({"if": [False, 1, True, 2, 3]}, 2),
        ({"if": [False, 1]}, None),
        ({"?:": [False, 1, 2]}, 2),
        ({"==": [var("count"), "5"]}, True),
        ({"==": [var("on"), "true"]}, True),
        ({"==": [var("nothing"), None]}, True),
        ({"==": [var("none"), 0]}, False),
        ({"=": [var("plan"), "gold"]}, True),
        ({"!=": [var("plan"), "gold"]}, False),
        ({"!=": [var("nothing"), None]}, False),
        ({"===": [var("count"), "5"]}, False),
        ({"===": [1, 1.0]}, True),
        ({"===": [1, True]}, False),
        ({"!==": [var("count"), 5]}, False),
        ({"!": [var("empty")]}, True),
        ({"!": var("plan")}, False),
        ({"!!": [[]]}, False),
        ({"!!": ["0"]}, True),
        ({"or": [False, 0, "x"]}, "x"),
        ({"and": [1, "", 3]}, ""),
        ({">": [var("count"), 4]}, True),
        ({">": [var("text"), "10"]}, False),
        ({">=": [5, 5]}, True),
        ({"<": [1, var("count"), 9]}, True),
        ({"<": [1, var("count"), 5]}, False),
        ({"<=": ["1", var("count"), "5"]}, True),
        ({"<": [var("nothing"), 5]}, False),
        ({">=": [var("none"), 0]}, False),
        ({"<": ["2026-01-01", "2026-01-02T00:00:00Z"]}, True),
        ({"max": [1, 3, 2]}, 3),
        ({"min": [1, "x"]}, None),
        ({"+": [1, "2"]}, 3),
        ({"+": ["3.5"]}, 3.5),
        ({"-": [5, 2]}, 3),
        ({"-": [5]}, -5),
        ({"*": [2, 3, 4]}, 24),
        ({"/": [9, 3]}, 3),
        ({"/": [1, 0]}, None),
        ({"%": [7, 3]}, 1),
        ({"%": [-7, 3]}, -1),
        ({"%": [7, 0]}, None),
        ({"%": [1.5, 0]}, None),
        ({"%": [-7.5, 2]}, -1.5),
        ({"%": [7, 2.5]}, 2.0),
        ({"map": [var("numbers"), {"*": [{"var": ""}, 2]}]}, [2, 4, 6]),
        ({"filter": [var("numbers"), {">": [{"var": ""}, 1]}]}, [2, 3]),
        ({"reduce": [var("numbers"), {"+": [{"var": "current"}, {"var": "accumulator"}]}, 0]}, 6),
        ({"all": [var("items"), {">": [{"var": "price"}, 5]}]}, True),
        ({"all": [var("nothing"), True]}, False),
        ({"some": [var("items"), {">": [{"var": "price"}, 15]}]}, True),
        ({"none": [var("items"), {">": [{"var": "price"}, 25]}]}, True),
        ({"merge": [[1], 2, [3, 4]]}, [1, 2, 3, 4]),
        ({"in": ["b", var("tags")]}, True),
        ({"in": ["ol", var("plan")]}, True),
        ({"in": [var("plan"), ["gold", "silver"]]}, True),
        ({"in": [var("text"), [5]]}, True),
        ({"in": [var("nothing"), ["x"]]}, False),
        ({"in": ["x", var("nothing")]}, False),
        ({"!": {"in": ["x", var("nothing")]}}, True),
        ({"cat": [[1, ["b", None]], False]}, "1,b,false"),
        ({"var": [[["payload.plan"], "x"]]}, None),
        ({"var": "payload." + "x" * 600}, None),
        ({"cat": ["a", 1, True, None, 2.0, 1234567.0]}, "a1true21234567"),
        ({"substr": ["jsonlogic", 4]}, "logic"),
        ({"substr": ["jsonlogic", -5, 2]}, "lo"),
        ({"substr": ["jsonlogic", 1, -5]}, "son"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}),
    ],
)
def test_standard_operators_mean_what_the_standard_says(rule: Any, expected: Any) -> None:
    assert check_logic(rule) is None
    assert value_of(rule) == expected
    assert type(value_of(rule)) is type(expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"startsWith": [var("plan"), "go"]}, True),
        ({"beginsWith": [var("plan"), "x"]}, False),
        ({"doesNotBeginWith": [var("plan"), "x"]}, True),
        ({"doesNotBeginWith": [var("nothing"), "x"]}, True),
        ({"endsWith": [var("plan"), "ld"]}, True),
        ({"endsWith": [var("count"), "5"]}, False),
        ({"doesNotEndWith": [var("plan"), "ld"]}, False),
        ({"contains": [var("plan"), "ol"]}, True),
        ({"contains": [var("tags"), "a"]}, True),
        ({"doesNotContain": [var("plan"), "x"]}, True),
        ({"doesNotContain": [var("nothing"), "x"]}, True),
        ({"notContains": [var("tags"), "a"]}, False),
        ({"containsAny": [var("tags"), ["x", "b"]]}, True),
        ({"containsAny": [var("tags"), "x, b"]}, True),
        ({"containsAny": [var("nothing"), ["x"]]}, False),
        ({"doesNotContainAny": [var("tags"), ["x"]]}, True),
        ({"notIn": [var("plan"), ["silver"]]}, True),
        ({"notIn": [var("plan"), "gold,silver"]}, False),
        ({"between": [var("count"), [5, 9]]}, True),
        ({"between": [var("count"), 6, 9]}, False),
        ({"between": [var("count"), "1,9"]}, True),
        ({"between": [var("count"), [1]]}, False),
        ({"notBetween": [var("count"), [6, 9]]}, True),
        ({"null": [var("none")]}, True),
        ({"null": [var("nothing")]}, True),
        ({"notNull": [var("plan")]}, True),
        ({"isEmpty": [var("empty")]}, True),
        ({"isEmpty": [var("count")]}, False),
        ({"isNonEmpty": [var("tags")]}, True),
    ],
)
def test_operators_of_dashboards_decide(rule: Any, expected: bool) -> None:
    assert check_logic(rule) is None
    assert decide_logic(rule, DATA, now=NOW) is expected


@pytest.mark.parametrize(
    ("operator", "unit", "ago", "expected"),
    [
        ("moreThanXAgo", "days", 4 * DAY, True),
        ("moreThanXAgo", "days", 2 * DAY, False),
        ("lessThanXAgo", "hours", 2 * HOUR, True),
        ("lessThanXAgo", "hours", 4 * HOUR, False),
        ("lessThanXAgo", "hours", 3 * HOUR, True),
        ("moreThanXAgo", "hours", 3 * HOUR, False),
        ("withinLast", "minutes", 2 * MINUTE, True),
        ("withinLast", "minutes", -MINUTE, False),
        ("notWithinLast", "weeks", 22 * DAY, True),
        ("notWithinLast", "weeks", -DAY, True),
        ("exactlyXAgo", "hours", 3 * HOUR + 30 * MINUTE, True),
        ("exactlyXAgo", "hours", 5 * HOUR, False),
        ("moreThanXAgo", "months", 93 * DAY, True),
        ("moreThanXAgo", "months", 90 * DAY, False),
        ("moreThanXAgo", "years", 1097 * DAY, True),
        ("moreThanXAgo", "years", 1095 * DAY, False),
        ("moreThanXAgo", "ages", 1095 * DAY, False),
    ],
)
def test_dates_are_compared_with_now(operator: str, unit: str, ago: int, expected: bool) -> None:
    rule = {operator: [{"var": "at"}, {"amount": 3, "unit": unit}]}
    data = {"at": iso_text(Millis(NOW - ago))}

    assert check_logic(rule) is None
    assert decide_logic(rule, data, now=NOW) is expected
    assert decide_logic(rule, {"at": NOW - ago}, now=NOW) is expected


@pytest.mark.parametrize("operator", ["moreThanXAgo", "notWithinLast", "exactlyXAgo"])
@pytest.mark.parametrize(
    "span", [None, 3, {"amount": 0, "unit": "days"}, {"amount": 10**9, "unit": "years"}, {"amount": 1, "unit": []}]
)
def test_what_is_no_date_or_no_span_never_passes(operator: str, span: Any) -> None:
    assert not decide_logic({operator: [{"var": "at"}, span]}, {"at": "2020-01-01"}, now=NOW)
    assert not decide_logic({operator: ["soon", {"amount": 3, "unit": "days"}]}, {}, now=NOW)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"teleport": [1, 2]}, "unknown operator 'teleport'"),
        ({"log": ["x"]}, "unknown operator 'log'"),
        ({"and": [True, {"or": [{"teleport": 1}]}]}, "unknown operator 'teleport'"),
        ({"==": [1]}, "'==' 1 values instead of 2"),
        ({"<": [1, 2, 3, 4]}, "at most 3"),
        ({"reduce": [1]}, "at least 2"),
        ("word", "an object"),
        (None, "an object"),
        ([], "an object"),
        ({"or": [*range(900), {"or": list(range(900))}, {"or": list(range(900))}]}, "2000 parts"),
    ],
)
def test_what_is_no_rule_is_refused_with_a_reason(rule: Any, reason: str) -> None:
    problem = check_logic(rule)

    assert problem is not None
    assert reason in problem


def test_rules_nest_up_to_a_depth() -> None:
    def nested(levels: int) -> Any:
        return {"!": [nested(levels - 1)]} if levels else True

    assert check_logic(nested(32)) is None
    assert check_logic(nested(33))
    assert decide_logic(nested(300), {}, now=NOW)


@pytest.mark.parametrize(
    "rule",
    [
        {"reduce": [var("many"), {"cat": [{"var": "accumulator"}, {"var": "accumulator"}]}, "ab"]},
        {"reduce": [var("many"), {"merge": [{"var": "accumulator"}, {"var": "accumulator"}]}, [1]]},
        {"map": [var("many"), {"map": [var("many"), 1]}, 1]},
        {"some": [var("many"), {"all": [{"merge": [list(range(500))]}, {"==": [1, 1]}]}]},
        {"containsAny": [var("many"), var("many")]},
        {"some": [var("many"), {"==": [{"merge": [[list(range(500))]]}, 1]}]},
        {"!": [{"some": [var("many"), {"!": [{"missing": [{"merge": [list(range(500))]}]}]}]}]},
    ],
)
def test_a_rule_that_asks_for_too_much_does_not_pass(rule: Any) -> None:
    assert not decide_logic(rule, {"payload": {"many": list(range(1000, 3000))}}, now=NOW)


def test_numbers_do_not_grow_without_end() -> None:
    rule = {"reduce": [var("many"), {"*": [{"var": "accumulator"}, {"var": "accumulator"}]}, 99]}

    assert value_of(rule, {"payload": {"many": list(range(100))}}) is None
    assert value_of({"+": [10**400, 1]}) is None


def test_the_explanation_says_what_was_compared() -> None:
    rule = {"and": [{"==": [var("plan"), "gold"]}, {"<=": [1, var("count"), 4]}, {"in": ["x", var("tags")]}]}

    decision = explain_logic(rule, DATA, now=NOW)

    assert not decision.passed
    assert decision.explanation == {
        "passed": False,
        "comparisons": [
            {"field": "payload.plan", "operator": "==", "actual": "gold", "expected": "gold", "outcome": True},
            {"field": "payload.count", "operator": "<=", "actual": 5, "expected": [1, 4], "outcome": False},
        ],
    }


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "payload", "payload.plan", "payload.tags", "5", "a,b", "2026-01-01", "accumulator"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(_BOUNDS)), inner | st.lists(inner, max_size=3), min_size=1, max_size=1)
    ),
    max_leaves=12,
)


@given(JSON)
def test_the_short_way_decides_as_the_long_way(rule: Any) -> None:
    assert CompiledLogic(rule).decide(DATA, now=NOW) == explain_logic(rule, DATA, now=NOW)


@pytest.mark.parametrize(
    ("rule", "is_plain"),
    [
        ({"==": [var("plan"), "gold"]}, True),
        (
            {"and": [{"!=": [var("plan"), "free"]}, {"or": [{"!": var("on")}, {"in": [var("plan"), ["gold", "x"]]}]}]},
            True,
        ),
        ({"between": [var("count"), 1, 9]}, True),
        ({"==": [{"var": ["payload.plan", "gold"]}, "gold"]}, False),
        ({"==": [{"cat": ["go", "ld"]}, "gold"]}, False),
        ({"some": [var("items"), {">": [{"var": "price"}, 15]}]}, False),
        ({"teleport": [1]}, False),
    ],
)
def test_plain_rules_go_the_short_way(rule: Any, is_plain: bool) -> None:
    assert (compile_simple_rule(rule) is not None) is is_plain
    assert CompiledLogic(rule).decide(DATA, now=NOW) == explain_logic(rule, DATA, now=NOW)


@pytest.mark.parametrize("path", ["tags", "items", "long"])
def test_values_that_are_not_simple_go_the_long_way(path: str) -> None:
    data = {"payload": {**DATA["payload"], "long": "x" * 2000}}
    rule = {"contains": [var(path), "x"]}
    plain = compile_simple_rule(rule)

    assert plain is not None
    with pytest.raises(NeedsFullEvaluation):
        plain(data, [])
    assert CompiledLogic(rule).decide(data, now=NOW) == explain_logic(rule, data, now=NOW)


@given(JSON)
def test_any_rule_is_decided(rule: Any) -> None:
    decision = explain_logic(rule, DATA, now=NOW)

    assert isinstance(decision.passed, bool)
    assert json_text(decision.explanation)


@given(st.sampled_from(["==", ">", ">=", "<", "<=", "in", "startsWith", "contains", "between"]), JSON)
def test_what_is_absent_passes_no_comparison_with_something(operator: str, rule: Any) -> None:
    expected = value_of(rule)
    if expected is not None:
        assert not decide_logic({operator: [{"var": "nothing"}, {"var": "it"}]}, {"it": expected}, now=NOW)
