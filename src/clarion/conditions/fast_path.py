"""A fast path for simple rules: variables and constants, compared and joined by `and`, `or` and `!`.

Most conditions of a workflow are simple, and the full evaluation takes several times as long for them. The result is
the same: rules and values that are not certainly simple are left to the full evaluation.
"""

from collections.abc import Callable
from typing import Any, Final

from clarion.conditions.operations import MANY, OPERATIONS, is_truthy
from clarion.conditions.values import MISSING, describe_comparison, follow, split_path

Comparisons = list[dict[str, Any]]

Term = Callable[[Any, Comparisons], Any]
"""Evaluates a part of a rule over the given data, and adds the comparisons that it makes with variables."""

_CONSTANT: Final = (str, int, float, type(None))
_MAX_LENGTH: Final = 1000
# Operators that return a boolean and take hardly any time.
_OPERATORS: Final = frozenset(OPERATIONS) - {"max", "min", "+", "-", "*", "/", "%", "cat", "substr", "merge"}


class NeedsFullEvaluation(Exception):
    """The rule or a value is not simple."""


def compile_simple_rule(rule: Any) -> Term | None:
    """Compile a rule to a function of the data, which may raise NeedsFullEvaluation; None if it is not simple."""
    try:
        return _term(rule)
    except (NeedsFullEvaluation, RecursionError):
        return None


def _term(rule: Any) -> Term:
    if not isinstance(rule, dict):
        value = _constant(rule)
        return lambda _data, _noted: value
    if len(rule) != 1:
        raise NeedsFullEvaluation
    ((operator, given),) = rule.items()
    arguments = given if isinstance(given, list) else [given]
    if operator == "var":
        return _variable(arguments)
    if operator in _JOINS and arguments:
        return _JOINS[operator]([_term(one) for one in arguments])
    if operator not in _OPERATORS:
        raise NeedsFullEvaluation
    return _operation(operator, arguments)


def _constant(value: Any) -> Any:
    if isinstance(value, _CONSTANT) or (isinstance(value, list) and all(isinstance(one, _CONSTANT) for one in value)):
        return value
    raise NeedsFullEvaluation


def _variable(arguments: list[Any]) -> Term:
    if len(arguments) != 1 or not isinstance(arguments[0], str) or not arguments[0]:
        raise NeedsFullEvaluation
    parts = split_path(arguments[0])

    def variable(data: Any, _: Comparisons) -> Any:
        value = follow(data, parts)
        if value is MISSING:
            return None
        if not isinstance(value, _CONSTANT) or (isinstance(value, str) and len(value) > _MAX_LENGTH):
            raise NeedsFullEvaluation
        return value

    return variable


def _operation(operator: str, arguments: list[Any]) -> Term:
    minimum, limit, operation = OPERATIONS[operator]
    if not minimum <= len(arguments) <= limit:
        raise NeedsFullEvaluation
    terms = [_term(one) for one in arguments]
    place = next((place for place, one in enumerate(arguments) if isinstance(one, dict) and "var" in one), None)
    field = "" if place is None else str(_argument_of(arguments[place]["var"]))

    def apply(data: Any, noted: Comparisons) -> Any:
        values = [term(data, noted) for term in terms]
        result = operation(*values)
        if place is not None and isinstance(result, bool) and len(noted) < MANY:
            noted.append(describe_comparison(field, operator, values, place, outcome=result))
        return result

    return apply


def _argument_of(given: Any) -> Any:
    return given[0] if isinstance(given, list) else given


def _all_of(terms: list[Term]) -> Term:
    def every(data: Any, noted: Comparisons) -> Any:
        result: Any = True
        for term in terms:
            result = term(data, noted)
            if not is_truthy(result):
                break
        return result

    return every


def _any_of(terms: list[Term]) -> Term:
    def either(data: Any, noted: Comparisons) -> Any:
        result: Any = False
        for term in terms:
            result = term(data, noted)
            if is_truthy(result):
                break
        return result

    return either


_JOINS: Final = {"and": _all_of, "or": _any_of}
