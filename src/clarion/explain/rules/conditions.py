"""Conditions of steps: which comparisons were made, and which of them decided."""

from collections.abc import Iterator, Mapping
from typing import Any

from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.rules.seen import Seen
from clarion.jsontext import json_text

_OPERATORS = {
    "==": "is",
    "===": "is",
    "EQUAL": "is",
    "!=": "is not",
    "!==": "is not",
    "NOT_EQUAL": "is not",
    ">": "is greater than",
    "LARGER": "is greater than",
    ">=": "is at least",
    "LARGER_EQUAL": "is at least",
    "<": "is less than",
    "SMALLER": "is less than",
    "<=": "is at most",
    "SMALLER_EQUAL": "is at most",
    "IN": "is one of",
    "in": "is in",
    "NOT_IN": "is none of",
    "LIKE": "is like",
    "NOT_LIKE": "is not like",
    "BETWEEN": "is between",
    "NOT_BETWEEN": "is not between",
    "ALL_IN": "are all in",
    "ANY_IN": "has one of",
}
_REMEDY = "Values for which the conditions hold, or other conditions in the step."


def refused(seen: Seen) -> list[Decision]:
    texts = [_compared(one) for one in list_comparisons(seen.raw) if not _holds(one)]
    reason = f": {'; '.join(texts[:3])}" if texts else ""
    summary = f"The conditions of {seen.step_name} did not hold{reason}."
    return [seen.decision(DecisionKind.CONDITION, Verdict.STOPPED, summary, values=seen.raw, remedy=_REMEDY)]


def passed(seen: Seen, *, is_reached: bool) -> list[Decision]:
    """The conditions that a step has, where they held; they were recorded then, or follow from what came next."""
    step, explanation = seen.step, seen.raw.get("conditions")
    if isinstance(explanation, dict):
        texts = [_compared(one) for one in list_comparisons(explanation) if _holds(one)]
        reason = f": {'; '.join(texts[:3])}" if texts else ""
        summary = f"The conditions of {seen.step_name} held{reason}."
        return [seen.decision(DecisionKind.CONDITION, Verdict.PASSED, summary, values=explanation)]
    if not is_reached or step is None or not (step.filters or step.rule):
        return []
    summary = f"The conditions of {seen.step_name} held. The values that they saw were not recorded."
    return [seen.decision(DecisionKind.CONDITION, Verdict.PASSED, summary, source=DecisionSource.DERIVED)]


def list_comparisons(explanation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The comparisons of filters and of JSON-logic, in their order."""
    yield from explanation.get("comparisons", ())
    for group in (*explanation.get("groups", ()), *explanation.get("children", ())):
        if "children" in group:
            yield from list_comparisons(group)
        else:
            yield group


def _holds(comparison: Mapping[str, Any]) -> bool:
    return bool(comparison.get("passed", comparison.get("outcome")))


def _compared(comparison: Mapping[str, Any]) -> str:
    """Such as: payload.amount is 5, and not greater than 10."""
    field = comparison.get("field") or comparison.get("step") or comparison.get("on") or "the rule"
    source = comparison.get("on")
    if source and comparison.get("field") and not str(field).startswith(f"{source}."):
        field = f"{source}.{field}"
    if "problem" in comparison:
        return f"{field} {comparison['problem']}"
    operator = str(comparison.get("operator", ""))
    wanted = f"{_OPERATORS.get(operator, operator)} {_value(comparison.get('expected'))}".strip()
    return f"{field} was {_value(comparison.get('actual'))} (wanted: {wanted})"


def _value(value: Any) -> str:
    return "absent" if value is None else json_text(value)
