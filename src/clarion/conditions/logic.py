"""JSON-logic: rules such as `{"==": [{"var": "payload.plan"}, "gold"]}`, with the operators of existing dashboards."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from clarion.clock import Millis
from clarion.conditions.fast_path import NeedsFullEvaluation, compile_simple_rule
from clarion.conditions.operations import MANY, MAX_TEXT, OF_WORKFLOWS, OPERATIONS, RuleLimits, is_truthy
from clarion.conditions.values import (
    DATE_OPERATORS,
    MISSING,
    ConditionResult,
    compare_dates,
    describe_comparison,
    find_value,
    is_absent,
    measure,
)
from clarion.jsontext import json_text
from clarion.work import allow_work, spend_work

MAX_PATH: Final = 512
"""Characters of the path of a variable; longer ones name nothing."""
# A full list: nothing is added to it.
_NOTHING_NOTED: Final[list[dict[str, Any]]] = [{}] * MANY
_LOOPS: Final = frozenset({"map", "filter", "all", "some", "none", "reduce"})
SEGMENT: Final = "segment"
"""The operator that asks whether the person is in a segment."""
MAX_SEGMENTS: Final = 10
"""In one rule."""
FindSegment = Callable[[str], ConditionResult]
"""Decides whether the person is in the segment of a key."""


def check_logic(rule: Any, limits: RuleLimits = OF_WORKFLOWS) -> str | None:
    """Return what is wrong with a rule, or None."""
    if not isinstance(rule, dict | bool):
        return "must be a JSON-logic rule: an object with one operator"
    if limits.max_bytes is not None and len(json_text(rule).encode()) > limits.max_bytes:
        return f"must not have more than {limits.max_bytes} bytes of JSON"
    problem = _check(rule, limits, depth=0, size=[0])
    if problem is None and len(list_segments(rule)) > MAX_SEGMENTS:
        problem = f"must not refer to more than {MAX_SEGMENTS} segments"
    return problem


def list_rule_variables(rule: Any) -> list[str]:
    """List the paths of the variables that a rule names; inside of loops over lists, paths are those of items."""
    if isinstance(rule, list):
        return [path for one in rule for path in list_rule_variables(one)]
    if not isinstance(rule, dict) or len(rule) != 1:
        return []
    ((operator, arguments),) = rule.items()
    if operator == "var":
        path = arguments[0] if isinstance(arguments, list) and arguments else arguments
        return [path] if isinstance(path, str) and path else []
    if operator in _LOOPS and isinstance(arguments, list):
        return list_rule_variables(arguments[:1])
    return list_rule_variables(arguments)


def list_segments(rule: Any) -> set[str]:
    """The keys of the segments that a rule refers to."""
    if isinstance(rule, list):
        return {key for part in rule for key in list_segments(part)}
    if not isinstance(rule, dict) or len(rule) != 1:
        return set()
    ((operator, given),) = rule.items()
    arguments = _arguments(given)
    if operator == SEGMENT and arguments and isinstance(arguments[0], str):
        return {arguments[0]}
    return list_segments(arguments)


def decide_logic(rule: Any, variables: Mapping[str, Any], *, now: Millis, limits: RuleLimits = OF_WORKFLOWS) -> bool:
    """Decide whether a rule passes; one that exceeds the work of the limits or is malformed does not."""
    evaluation = _Evaluation(now, limits)
    try:
        return is_truthy(evaluation.value(rule, variables))
    except (_WorkLimitExceeded, RecursionError):
        return False
    finally:
        evaluation.close()


class CompiledLogic:
    """JSON-logic that is evaluated many times: compiled once, with a fast path for simple rules."""

    def __init__(self, logic: Any) -> None:
        self.logic = logic
        self._fast_path = compile_simple_rule(logic)

    def decide(
        self, variables: Mapping[str, Any], *, now: Millis, find_segment: FindSegment | None = None
    ) -> ConditionResult:
        """Decide whether the step runs, and list the comparisons that were made."""
        if self._fast_path is not None:
            comparisons: list[dict[str, Any]] = []
            try:
                passed = is_truthy(self._fast_path(variables, comparisons))
            except NeedsFullEvaluation:
                pass
            else:
                return ConditionResult(passed=passed, explanation={"passed": passed, "comparisons": comparisons})
        return explain_logic(self.logic, variables, now=now, find_segment=find_segment)

    def passes(self, variables: Mapping[str, Any], *, now: Millis, limits: RuleLimits) -> bool:
        """Decide without listing the comparisons, which takes less time."""
        if self._fast_path is not None:
            with suppress(NeedsFullEvaluation):
                return is_truthy(self._fast_path(variables, _NOTHING_NOTED))
        return decide_logic(self.logic, variables, now=now, limits=limits)


def explain_logic(
    rule: Any,
    variables: Mapping[str, Any],
    *,
    now: Millis,
    limits: RuleLimits = OF_WORKFLOWS,
    find_segment: FindSegment | None = None,
) -> ConditionResult:
    """Decide whether a rule passes, and list the comparisons that were made."""
    evaluation = _Evaluation(now, limits, max_noted=MANY, find_segment=find_segment)
    try:
        passed = is_truthy(evaluation.value(rule, variables))
    except (_WorkLimitExceeded, RecursionError):
        return ConditionResult(passed=False, explanation={"passed": False, "problem": "the rule takes too much work"})
    finally:
        evaluation.close()
    return ConditionResult(passed=passed, explanation={"passed": passed, "comparisons": evaluation.comparisons})


class _WorkLimitExceeded(Exception):
    """The rule exceeds the work of one decision."""


def _check(rule: Any, limits: RuleLimits, *, depth: int, size: list[int]) -> str | None:
    size[0] += 1
    if depth > limits.max_depth or size[0] > limits.max_parts:
        return f"must not have more than {limits.max_depth} levels and {limits.max_parts} parts"
    if isinstance(rule, list):
        parts = rule
    elif isinstance(rule, dict) and len(rule) == 1:
        ((operator, given),) = rule.items()
        parts = _arguments(given)
        if problem := _check_operator(operator, len(parts), limits):
            return problem
        if operator == SEGMENT and not (isinstance(parts[0], str) and parts[0]):
            return f"gives the operator '{SEGMENT}' something else than the key of a segment"
    else:
        return None
    found = (_check(part, limits, depth=depth + 1, size=size) for part in parts)
    return next((problem for problem in found if problem), None)


def _check_operator(operator: str, count: int, limits: RuleLimits) -> str | None:
    bounds = _BOUNDS.get(operator)
    if bounds is None:
        return f"has the unknown operator '{operator}'"
    if operator in limits.refused:
        return f"has the operator '{operator}', which takes too much work here; compare variables and constants"
    minimum, limit = bounds
    if minimum <= count <= limit:
        return None
    wanted = str(minimum) if minimum == limit else f"at least {minimum}" if count < minimum else f"at most {limit}"
    return f"gives the operator '{operator}' {count} values instead of {wanted}"


def _arguments(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


class _Evaluation:
    """One evaluation of a rule: its comparisons, up to a maximum, and its remaining work."""

    def __init__(
        self,
        now: Millis,
        limits: RuleLimits = OF_WORKFLOWS,
        *,
        max_noted: int = 0,
        find_segment: FindSegment | None = None,
    ) -> None:
        self._now = now
        self._find_segment = find_segment
        self._max_noted = max_noted
        self._allowed = self._work = allow_work(limits.max_work)
        self.comparisons: list[dict[str, Any]] = []

    def close(self) -> None:
        """Count the work towards the budget of the run."""
        spend_work(self._allowed - max(self._work, 0))

    def value(self, rule: Any, data: Any) -> Any:
        self._charge(1)
        if isinstance(rule, str):
            return rule
        if isinstance(rule, list):
            return [self.value(part, data) for part in rule]
        if not isinstance(rule, dict) or len(rule) != 1:
            return rule
        ((operator, given),) = rule.items()
        arguments = _arguments(given)
        minimum, limit = _BOUNDS.get(operator, _UNKNOWN)
        if not minimum <= len(arguments) <= limit:
            return None
        lazy = _LAZY.get(operator)
        if lazy is not None:
            return lazy(self, arguments, data)
        values = [self.value(argument, data) for argument in arguments]
        return self._apply(operator, arguments, values)

    def _apply(self, operator: str, arguments: list[Any], values: list[Any]) -> Any:
        self._charge(_work_of(operator, values, limit=self._work))
        if operator in DATE_OPERATORS:
            result: Any = compare_dates(operator, values[0], values[1], now=self._now)
        else:
            result = OPERATIONS[operator][2](*values)
        if isinstance(result, str) and len(result) > MAX_TEXT:
            raise _WorkLimitExceeded
        if isinstance(result, bool) and len(self.comparisons) < self._max_noted:
            self._note(operator, arguments, values, outcome=result)
        return result

    def _note(self, operator: str, arguments: list[Any], values: list[Any], *, outcome: bool) -> None:
        """Record a comparison if one of its values is a variable."""
        for place, argument in enumerate(arguments):
            if field := _field(argument):
                self.comparisons.append(describe_comparison(field, operator, values, place, outcome=outcome))
                return

    def variable(self, arguments: list[Any], data: Any) -> Any:
        path = self.value(arguments[0], data) if arguments else ""
        self._charge(_work_of_path(path))
        value = data if path is None or path == "" else _find(data, path)
        if is_absent(value):
            return self.value(arguments[1], data) if len(arguments) > 1 else None
        return value

    def is_in_segment(self, arguments: list[Any], _: Any) -> bool:
        """Whether the person is in a segment, also where `data` is an item of a list."""
        key = arguments[0]
        if self._find_segment is None or not isinstance(key, str):
            return False
        result = self._find_segment(key)
        if len(self.comparisons) < self._max_noted and all(one.get(SEGMENT) != key for one in self.comparisons):
            self.comparisons.append({SEGMENT: key, "outcome": result.passed, "conditions": result.explanation})
        return result.passed

    def missing(self, arguments: list[Any], data: Any) -> list[Any]:
        names = [self.value(argument, data) for argument in arguments]
        flat = names[0] if names and isinstance(names[0], list) else names
        self._charge(len(flat))
        self._charge(sum(map(_work_of_path, flat)))
        return [name for name in flat if _is_missing(_find(data, name))]

    def missing_some(self, arguments: list[Any], data: Any) -> list[Any]:
        needed, names = self.value(arguments[0], data), self.value(arguments[1], data)
        listed = names if isinstance(names, list) else [names]
        absent = self.missing([listed], data)
        return [] if isinstance(needed, int) and len(listed) - len(absent) >= needed else absent

    def choose(self, arguments: list[Any], data: Any) -> Any:
        for place in range(0, len(arguments) - 1, 2):
            if is_truthy(self.value(arguments[place], data)):
                return self.value(arguments[place + 1], data)
        return self.value(arguments[-1], data) if len(arguments) % 2 else None

    def every(self, arguments: list[Any], data: Any) -> Any:
        result: Any = True
        for argument in arguments:
            result = self.value(argument, data)
            if not is_truthy(result):
                break
        return result

    def either(self, arguments: list[Any], data: Any) -> Any:
        result: Any = False
        for argument in arguments:
            result = self.value(argument, data)
            if is_truthy(result):
                break
        return result

    def items(self, argument: Any, data: Any) -> list[Any]:
        found = self.value(argument, data)
        return found if isinstance(found, list) else []

    def tests(self, arguments: list[Any], data: Any) -> list[bool]:
        return [is_truthy(self.value(arguments[1], item)) for item in self.items(arguments[0], data)]

    def reduce(self, arguments: list[Any], data: Any) -> Any:
        result = self.value(arguments[2], data) if len(arguments) > 2 else None
        for item in self.items(arguments[0], data):
            result = self.value(arguments[1], {"current": item, "accumulator": result})
        return result

    def _charge(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise _WorkLimitExceeded


def _work_of(operator: str, values: list[Any], *, limit: int) -> int:
    """The work of an operator; beyond the limit, any number above it."""
    if operator in _LISTED:
        # They read a text with commas as a list.
        lengths = [len(one) >> 2 if isinstance(one, str) else measure(one, limit) for one in values]
    else:
        lengths = [measure(one, limit) for one in values]
    if operator in _LISTED or (operator in _SEARCHED and any(isinstance(one, list) for one in values)):
        # Every item of one is compared with the other whole.
        return math.prod(1 + one for one in lengths)
    return sum(lengths)


def _work_of_path(path: Any) -> int:
    return len(path) >> 3 if isinstance(path, str) else 0


def _find(data: Any, path: Any) -> Any:
    if isinstance(path, list | dict):
        return MISSING
    text = str(path)
    return find_value(data, text) if len(text) <= MAX_PATH else MISSING


def _is_missing(value: Any) -> bool:
    # Compared by type first: a list or an object would be compared whole.
    return is_absent(value) or (isinstance(value, str) and not value)


def _field(argument: Any) -> str | None:
    if not isinstance(argument, dict) or len(argument) != 1 or "var" not in argument:
        return None
    path = _arguments(argument["var"])
    return str(path[0]) if path else ""


def _map(evaluation: _Evaluation, arguments: list[Any], data: Any) -> list[Any]:
    return [evaluation.value(arguments[1], item) for item in evaluation.items(arguments[0], data)]


def _filter(evaluation: _Evaluation, arguments: list[Any], data: Any) -> list[Any]:
    items = evaluation.items(arguments[0], data)
    return [item for item in items if is_truthy(evaluation.value(arguments[1], item))]


def _all(evaluation: _Evaluation, arguments: list[Any], data: Any) -> bool:
    found = evaluation.tests(arguments, data)
    return bool(found) and all(found)


# Operators that evaluate their own arguments, some of them over other data.
_LAZY: Final[dict[str, Callable[[_Evaluation, list[Any], Any], Any]]] = {
    "var": _Evaluation.variable,
    SEGMENT: _Evaluation.is_in_segment,
    "missing": _Evaluation.missing,
    "missing_some": _Evaluation.missing_some,
    "if": _Evaluation.choose,
    "?:": _Evaluation.choose,
    "and": _Evaluation.every,
    "or": _Evaluation.either,
    "map": _map,
    "filter": _filter,
    "reduce": _Evaluation.reduce,
    "all": _all,
    "some": lambda evaluation, arguments, data: any(evaluation.tests(arguments, data)),
    "none": lambda evaluation, arguments, data: not any(evaluation.tests(arguments, data)),
}
_UNKNOWN: Final = (1, 0)
_LISTED: Final = frozenset({"notIn", "containsAny", "doesNotContainAny"})
_SEARCHED: Final = frozenset({"in", "contains", "doesNotContain", "notContains"})
_BOUNDS: Final[dict[str, tuple[int, int]]] = {
    **{name: (minimum, limit) for name, (minimum, limit, _) in OPERATIONS.items()},
    **dict.fromkeys(DATE_OPERATORS, (2, 2)),
    **dict.fromkeys(("map", "filter", "all", "some", "none", "missing_some"), (2, 2)),
    **dict.fromkeys(("and", "or", "if"), (1, MANY)),
    SEGMENT: (1, 1),
    "missing": (0, MANY),
    "reduce": (2, 3),
    "var": (0, 2),
    "?:": (3, 3),
}
