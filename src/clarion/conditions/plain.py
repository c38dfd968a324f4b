"""The short way to decide a plain rule: variables and fixed values, compared and joined by `and`, `or` and `!`.

Most conditions of a workflow are such, and walking through a rule takes several times as long. It decides the same:
whatever is not surely simple, a rule or a value, goes the long way.
"""

from collections.abc import Callable
from typing import Any, Final

from clarion.conditions.operations import OPERATIONS, is_truthy
from clarion.paths import MISSING, follow, split_path

Term = Callable[[Any], Any]
"""What a part of a rule comes to with the given data."""

_FIXED: Final = (str, int, float, type(None))
_LONGEST: Final = 1000
# Operators that tell yes or no of a few values and take no time to speak of.
_OPERATORS: Final = frozenset(OPERATIONS) - {"max", "min", "+", "-", "*", "/", "%", "cat", "substr", "merge"}


class NotPlain(Exception):
    """The rule, or a value that it meets, is for the long way."""


def make_plain(rule: Any) -> Term | None:
    """The rule as a function of the data, which may raise NotPlain; None where the rule is not plain."""
    try:
        return _term(rule)
    except (NotPlain, RecursionError):
        return None


def _term(rule: Any) -> Term:
    if not isinstance(rule, dict):
        value = _fixed(rule)
        return lambda _: value
    if len(rule) != 1:
        raise NotPlain
    ((operator, given),) = rule.items()
    arguments = given if isinstance(given, list) else [given]
    if operator == "var":
        return _variable(arguments)
    if operator in _JOINS and arguments:
        return _JOINS[operator]([_term(one) for one in arguments])
    if operator not in _OPERATORS:
        raise NotPlain
    return _operation(operator, arguments)


def _fixed(value: Any) -> Any:
    if isinstance(value, _FIXED) or (isinstance(value, list) and all(isinstance(one, _FIXED) for one in value)):
        return value
    raise NotPlain


def _variable(arguments: list[Any]) -> Term:
    if len(arguments) != 1 or not isinstance(arguments[0], str) or not arguments[0]:
        raise NotPlain
    parts = split_path(arguments[0])

    def variable(data: Any) -> Any:
        value = follow(data, parts)
        if value is MISSING:
            return None
        if not isinstance(value, _FIXED) or (isinstance(value, str) and len(value) > _LONGEST):
            raise NotPlain
        return value

    return variable


def _operation(operator: str, arguments: list[Any]) -> Term:
    fewest, limit, operation = OPERATIONS[operator]
    if not fewest <= len(arguments) <= limit:
        raise NotPlain
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
