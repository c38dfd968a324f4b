"""How much a rule may cost: what people set costs little, whatever the payload is."""

import itertools
from typing import Any

import pytest

from clarion.clock import Millis
from clarion.conditions import OF_SUBSCRIBERS, check_logic, decide_logic, explain_logic
from clarion.conditions.values import measure
from clarion.topics.model import Rule, Subject, WorkflowFilter, decide_rules
from clarion.work import WorkBudget, spending

NOW = Millis(1_784_116_800_000)
DATA = {
    "items": list(range(20_000)),
    "dates": "2026-01-01," * 2_000,
    "text": "x" * 100_000,
    "path": "[1]" * 100,
    "lists": [[1]] * 20_000,
    "few": ["[1,2,3]"] * 50,
}
WIDE = [{"var": name} for name in ("", *DATA)]
TWO_VALUES = ("==", "in", "contains", "notIn", "containsAny", "doesNotContainAny", "between", "missing_some", "<")


class Visited(list[Any]):
    """A list that counts how many of its items are read."""

    visits = 0

    def __iter__(self) -> Any:
        for one in list.__iter__(self):
            self.visits += 1
            yield one


def test_measuring_stops_at_the_limit() -> None:
    value = Visited([["x"] * 10] * 1_000)

    assert measure(value, 100_000) == 11_000
    value.visits = 0
    assert measure(value, 1_100) > 1_100
    assert value.visits <= 12


@pytest.mark.parametrize("operator", TWO_VALUES)
def test_no_rule_of_a_subscriber_takes_more_work_than_allowed(operator: str) -> None:
    for first, second in itertools.product(WIDE, [*WIDE, "x", "[1]"]):
        rule = {"and": [{"or": [{operator: [first, second]}, True]}] * 4}
        assert check_logic(rule, OF_SUBSCRIBERS) is None
        budget = WorkBudget()

        with spending(budget):
            explained = explain_logic(rule, DATA, now=NOW, limits=OF_SUBSCRIBERS)
            assert decide_logic(rule, DATA, now=NOW, limits=OF_SUBSCRIBERS) is explained.passed, rule

        assert budget.spent <= 2 * OF_SUBSCRIBERS.max_work, rule


@pytest.mark.parametrize(
    "rule",
    [
        {"containsAny": [{"var": "items"}, "x"]},
        {"notIn": [{"var": "lists"}, {"var": "dates"}]},
        {"in": ["[1]" + " " * 640, {"var": "items"}]},
        {"missing": [{"var": "items"}]},
    ],
)
def test_every_comparison_that_an_operator_makes_is_counted(rule: Any) -> None:
    budget = WorkBudget()

    with spending(budget):
        decide_logic(rule, DATA, now=NOW)

    assert budget.spent >= 20_000


def test_a_stored_condition_that_is_too_expensive_does_not_pass() -> None:
    condition = {"all": [{"var": "items"}, {">=": [{"var": ""}, 0]}]}
    rule = Rule(filter=WorkflowFilter(workflow_ids=["w"]), condition=condition)
    subject = Subject(id="w", key="w", tags=(), is_critical=False)

    assert decide_rules([rule], subject, lambda: {"items": [1, 2]}, now=NOW)
    assert not decide_rules([rule], subject, lambda: DATA, now=NOW)
