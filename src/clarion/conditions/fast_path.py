"""A fast path for simple rules: variables and constants, compared and joined by `and`, `or` and `!`.

Most conditions of a workflow are simple, and the full evaluation takes several times as long for them. The result is
the same: rules and values that are not certainly simple are left to the full evaluation.
"""

from collections.abc import Callable
from typing import Any, Final

from clarion.conditions.operations import OPERATIONS, is_truthy
from clarion.paths import MISSING, follow, split_path

Term = Callable[[Any], Any]
"""Evaluates a part of a rule over the given data."""

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
        return lambda _: value
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

    def variable(data: Any) -> Any:
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
    if len(terms) != 2:
        return lambda data: operation(*[term(data) for term in terms])
    first, second = terms
    return lambda data: operation(first(data), second(data))


def _all_of(terms: list[Term]) -> Term:
    def every(data: Any) -> Any:
        result: Any = True
        for term in terms:
            result = term(data)
            if not is_truthy(result):
                break
        return result

    return every


def _any_of(terms: list[Term]) -> Term:
    def either(data: Any) -> Any:
        result: Any = False
        for term in terms:
            result = term(data)
            if is_truthy(result):
                break
        return result

    return either


_JOINS: Final = {"and": _all_of, "or": _any_of}
