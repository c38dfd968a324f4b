"""Cases that the conditions of the service and those of the dashboard decide alike: `cases.json` is for both."""

import json
from pathlib import Path
from typing import Any

import pytest

from clarion.conditions import Circumstances, CompiledLogic, decide_filters
from clarion.conditions.logic import _Evaluation
from clarion.conditions.operations import is_truthy

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
NOW = CASES["now"]


@pytest.mark.parametrize(("operator", "actual", "value", "passes"), CASES["comparisons"])
def test_operators_of_filters_decide_as_in_the_dashboard(operator: str, actual: Any, value: Any, passes: bool) -> None:
    filters = [{"children": [{"field": "plan", "operator": operator, "value": value, "on": "payload"}]}]

    assert decide_filters(filters, {"payload": {"plan": actual}}).passed is passes


@pytest.mark.parametrize("case", CASES["filters"])
def test_groups_of_filters_decide_as_in_the_dashboard(case: dict[str, Any]) -> None:
    at = None if case.get("isIntegration") else Circumstances(now=NOW, find_previous=CASES["steps"].get)

    assert decide_filters(case["filters"], case["variables"], at).passed is case["passes"]


@pytest.mark.parametrize("case", CASES["logic"])
def test_rules_of_json_logic_decide_as_in_the_dashboard(case: dict[str, Any]) -> None:
    assert _Evaluation(NOW).value(case["rule"], CASES["variables"]) == case["value"]
    assert CompiledLogic(case["rule"]).decide(CASES["variables"], now=NOW).passed is is_truthy(case["value"])
