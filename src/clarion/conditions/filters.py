"""Groups of filters: a step runs when one of its groups passes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from clarion.conditions.kinds import UNSUPPORTED, Circumstances, FilterKind, check_kind, decide_kind
from clarion.conditions.values import (
    MISSING,
    ConditionResult,
    as_list,
    find_value,
    is_absent,
    is_between,
    is_equal,
    is_like,
    measure,
    order,
    shorten,
)
from clarion.vocabulary import FilterJoin, FilterOperator, FilterType
from clarion.work import MAX_DECISION_WORK, allow_work, spend_work

_FIELD_KINDS: Final = frozenset({FilterKind.PAYLOAD, FilterKind.SUBSCRIBER})
_OTHER_KINDS: Final = frozenset(FilterKind) - _FIELD_KINDS

MAX_GROUP_DEPTH: Final = 10
MAX_CHILDREN: Final = 100
MAX_FIELD: Final = 512
MAX_FILTERS: Final = 1_000
"""In all groups of a step together."""

_PART_WORK: Final = 3
_TOO_MUCH: Final = "takes too much work"


def check_filters(filters: Any) -> list[tuple[str, str]]:
    """List everything that is wrong with a list of groups: the path inside it, and a message."""
    if not isinstance(filters, list):
        return [("", "must be a list of groups")]
    problems = [
        (f"{place}{path}", message)
        for place, group in enumerate(filters)
        for path, message in _check_group(group, depth=1)
    ]
    if not problems and sum(1 for _ in _parts(filters)) > MAX_FILTERS:
        return [("", f"must not have more than {MAX_FILTERS} filters together")]
    return problems


def list_unsupported(filters: Any) -> list[tuple[str, str]]:
    """List the filters of kinds that are not evaluated: the path of each kind, and the kind."""
    return [(f"{path}.on", part["on"]) for path, part in _parts(filters) if part.get("on") in UNSUPPORTED]


def list_previous_steps(filters: Any) -> list[tuple[str, str]]:
    """List the earlier steps that filters ask about: the path of each reference, and the reference."""
    found = ((path, part) for path, part in _parts(filters) if part.get("on") == FilterKind.PREVIOUS_STEP)
    return [(f"{path}.step", part["step"]) for path, part in found if isinstance(part.get("step"), str)]


def list_fields(filters: Any) -> list[tuple[str, str, str]]:
    """List the fields that filters compare: the path of each, whose field it is, and the field."""
    kinds = (FilterKind.PAYLOAD, FilterKind.SUBSCRIBER)
    found = ((path, part.get("on", FilterKind.PAYLOAD), part.get("field")) for path, part in _parts(filters))
    return [(f"{path}.field", str(on), field) for path, on, field in found if on in kinds and isinstance(field, str)]


def rename_previous_steps(filters: Any, rename: Callable[[str], str]) -> Any:
    """Return the filters with other references to earlier steps."""
    if isinstance(filters, list):
        return [rename_previous_steps(one, rename) for one in filters]
    if not isinstance(filters, dict):
        return filters
    if filters.get("on") == FilterKind.PREVIOUS_STEP and isinstance(filters.get("step"), str):
        return filters | {"step": rename(filters["step"])}
    return filters | ({"children": rename_previous_steps(filters["children"], rename)} if _is_group(filters) else {})


def decide_filters(filters: Any, variables: Mapping[str, Any], at: Circumstances | None = None) -> ConditionResult:
    """Decide whether any group passes; an empty list passes, and what cannot be decided does not.

    The caller has rendered templates in the filters.
    """
    groups = [_decide_group(group, variables, at) for group in filters or ()]
    passed = not groups or any(group["passed"] for group in groups)
    return ConditionResult(passed=passed, explanation={"passed": passed, "groups": groups})


def _check_group(group: Any, *, depth: int) -> list[tuple[str, str]]:
    if not isinstance(group, dict):
        return [("", "must be a group of filters")]
    if depth > MAX_GROUP_DEPTH:
        return [("", f"must not be nested more than {MAX_GROUP_DEPTH} levels deep")]
    problems = _check_words(group, {"type": FilterType, "value": FilterJoin})
    if not isinstance(group.get("isNegated", False), bool):
        problems.append((".isNegated", "must be true or false"))
    children = group.get("children", [])
    if not isinstance(children, list) or len(children) > MAX_CHILDREN:
        return [*problems, (".children", f"must be a list of at most {MAX_CHILDREN} filters")]
    for place, child in enumerate(children):
        found = _check_group(child, depth=depth + 1) if _is_group(child) else _check_part(child)
        problems += [(f".children.{place}{path}", message) for path, message in found]
    return problems


def _check_part(part: Any) -> list[tuple[str, str]]:
    if not isinstance(part, dict):
        return [("", "must be a filter")]
    kind = part.get("on", FilterKind.PAYLOAD)
    if kind in UNSUPPORTED:
        return []
    if kind in list(_OTHER_KINDS):
        return check_kind(part)
    problems = _check_words(part, {"operator": FilterOperator, "on": FilterKind})
    field = part.get("field")
    if not isinstance(field, str) or not 0 < len(field) <= MAX_FIELD:
        problems.append((".field", f"must be the path of a value, of at most {MAX_FIELD} characters"))
    if part.get("operator") in ("BETWEEN", "NOT_BETWEEN") and len(as_list(part.get("value")) or ()) != 2:
        problems.append((".value", "must be two values with a comma between them"))
    return problems


def _check_words(
    shape: Mapping[str, Any], words: Mapping[str, type[FilterType | FilterJoin | FilterOperator | FilterKind]]
) -> list[tuple[str, str]]:
    return [
        (f".{name}", f"must be one of {', '.join(allowed)}")
        for name, allowed in words.items()
        if name in shape and shape[name] not in list(allowed)
    ]


def _parts(filters: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every filter inside groups with its path."""
    for number, part in enumerate(filters if isinstance(filters, list) else ()):
        where = f"{path}{number}"
        if _is_group(part):
            yield from _parts(part["children"], f"{where}.children.")
        elif isinstance(part, dict):
            yield where, part


def _decide_group(group: Any, variables: Mapping[str, Any], at: Circumstances | None) -> dict[str, Any]:
    if not isinstance(group, dict):
        return {"passed": False, "problem": "not a group of filters"}
    parts = group.get("children")
    children = [
        _decide_group(child, variables, at) if _is_group(child) else _decide_part(child, variables, at)
        for child in (parts if isinstance(parts, list) else ())
    ]
    join, negated = group.get("value", FilterJoin.AND), group.get("isNegated") is True
    decided = {"value": join, "isNegated": negated, "children": children}
    # A group without children passes, negated or not.
    result = _join([None if "problem" in child else child["passed"] for child in children], join) if children else True
    if result is None:
        return {"passed": False, **decided, "problem": "holds a filter that cannot be decided"}
    return {"passed": not children or result != negated, **decided}


def _join(results: Sequence[bool | None], join: Any) -> bool | None:
    """Join results; None, where what is not known could change the result, so that negating it passes nothing."""
    decisive = bool(join == FilterJoin.OR)
    if decisive in results:
        return decisive
    return None if None in results else not decisive


def _decide_part(part: Any, variables: Mapping[str, Any], at: Circumstances | None) -> dict[str, Any]:
    kind = part.get("on", FilterKind.PAYLOAD) if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return {"passed": False, "problem": "not a filter"}
    if kind in _OTHER_KINDS:
        return decide_kind(part, variables, at)
    operator = str(part.get("operator", FilterOperator.EQUAL))
    if kind not in _FIELD_KINDS or operator not in _OPERATORS:
        problem = f"filters on '{kind}' are not supported" if kind not in _FIELD_KINDS else "not a filter"
        return {"passed": False, "on": kind, "problem": problem}
    return _decide_field(part, kind, operator, variables)


def _decide_field(part: dict[str, Any], source: str, operator: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    field = str(part.get("field", ""))[:MAX_FIELD]
    actual, expected = _actual(variables.get(source), source, field), part.get("value")
    work = _PART_WORK + _work(operator, actual, expected)
    if work > allow_work(MAX_DECISION_WORK):
        return {"passed": False, "on": source, "field": field, "operator": operator, "problem": _TOO_MUCH}
    spend_work(work)
    negated, compare = _OPERATORS[operator]
    passed = (not is_absent(actual) and compare(actual, expected)) != negated
    return {
        "passed": passed,
        "on": source,
        "field": field,
        "operator": operator,
        "expected": shorten(expected),
        "actual": shorten(actual),
    }


def _work(operator: str, actual: Any, expected: Any) -> int:
    """Return the steps of a comparison by the size of what it compares."""
    size = measure(actual, MAX_DECISION_WORK) + measure(expected, MAX_DECISION_WORK)
    if operator in _LISTS and (isinstance(actual, list) or size > 16):
        items, listed = _items(actual), _items(as_list(expected) or expected)
        return size + len(items) * len(listed)
    if operator in _PATTERNS and isinstance(expected, str) and isinstance(actual, str):
        return size + (len(actual) * expected.count("_") >> 6)
    return size


def _actual(values: Any, source: str, field: str) -> Any:
    value = find_value(values, field)
    prefix = f"{source}."
    return find_value(values, field.removeprefix(prefix)) if value is MISSING and field.startswith(prefix) else value


def _is_group(child: Any) -> bool:
    return isinstance(child, dict) and "children" in child


def _is_in(actual: Any, expected: Any) -> bool:
    """Return whether a value is in a list, a list has one of the values, or a text contains the single value."""
    listed = as_list(expected)
    if isinstance(actual, list):
        return _any_in(actual, [expected, *(listed or ())])
    if listed is None and isinstance(actual, str) and isinstance(expected, str):
        return expected in actual
    return _any_in(actual, expected)


def _any_in(actual: Any, expected: Any) -> bool:
    items, listed = _items(actual), _items(as_list(expected) or expected)
    return any(is_equal(item, one) for item in items for one in listed)


def _all_in(actual: Any, expected: Any) -> bool:
    """Return whether there is an item and every item is in the list."""
    items, listed = _items(actual), _items(as_list(expected) or expected)
    return bool(items) and all(any(is_equal(item, one) for one in listed) for item in items)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _between(actual: Any, expected: Any) -> bool:
    bounds = as_list(expected) or ()
    return len(bounds) == 2 and is_between(actual, bounds[0], bounds[1])


def _like(actual: Any, expected: Any) -> bool:
    if isinstance(actual, list | dict) or expected is None:
        return False
    text = str(actual).lower() if isinstance(actual, bool) else str(actual)
    return is_like(text, str(expected))


def _ordered(accepts: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    def compare(actual: Any, expected: Any) -> bool:
        found = order(actual, expected)
        return found is not None and accepts(found)

    return compare


_LISTS: Final = frozenset({FilterOperator.IN, FilterOperator.NOT_IN, FilterOperator.ALL_IN, FilterOperator.ANY_IN})
_PATTERNS: Final = frozenset({FilterOperator.LIKE, FilterOperator.NOT_LIKE})
# Each operator with whether it is negated: an absent value fails an operator and passes its negation.
_OPERATORS: Final[dict[str, tuple[bool, Callable[[Any, Any], bool]]]] = {
    FilterOperator.EQUAL: (False, is_equal),
    FilterOperator.NOT_EQUAL: (True, is_equal),
    FilterOperator.LARGER: (False, _ordered(lambda found: found > 0)),
    FilterOperator.LARGER_EQUAL: (False, _ordered(lambda found: found >= 0)),
    FilterOperator.SMALLER: (False, _ordered(lambda found: found < 0)),
    FilterOperator.SMALLER_EQUAL: (False, _ordered(lambda found: found <= 0)),
    FilterOperator.IN: (False, _is_in),
    FilterOperator.NOT_IN: (True, _is_in),
    FilterOperator.ALL_IN: (False, _all_in),
    FilterOperator.ANY_IN: (False, _any_in),
    FilterOperator.BETWEEN: (False, _between),
    FilterOperator.NOT_BETWEEN: (True, _between),
    FilterOperator.LIKE: (False, _like),
    FilterOperator.NOT_LIKE: (True, _like),
}
