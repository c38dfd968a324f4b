"""Conditions of segments as SQL, as far as both databases certainly decide as the condition does.

Each part becomes an expression that is true or false and never NULL. What has no such expression is left out, so that
the rows that are found include all people of the segment; the condition itself decides about those.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from clarion.clock import Millis
from clarion.conditions.values import DATE_OPERATORS, find_date, find_since, split_path

COLUMNS: Final = {
    "subscriberId": "t.key",
    "email": "t.email",
    "phone": "t.phone",
    "firstName": "t.first_name",
    "lastName": "t.last_name",
    "avatar": "t.avatar",
    "locale": "t.locale",
    "timezone": "t.timezone",
}
_INDEXED: Final = frozenset({"subscriberId", "email", "phone"})
_CREATED: Final = "createdAt"
_SUBSCRIBED = """EXISTS (
    SELECT 1 FROM stored.topic_subscriptions AS m JOIN stored.topics AS p
    ON p.environment_id = m.environment_id AND p.id = m.topic_id
    WHERE m.environment_id = t.environment_id AND m.subscriber_id = t.id AND p.key = :{name}
)"""
_ORDERS: Final = {">": ">", ">=": ">=", "<": "<", "<=": "<="}
_SWAPPED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_EMPTY: Final = frozenset({"!", "isEmpty"})
_NON_EMPTY: Final = frozenset({"!!", "isNonEmpty"})
_MAX_MEMBERS: Final = 100


class Prefilter(Struct, frozen=True, kw_only=True):
    """An expression about `t`, a subscriber. Tables have the prefix `stored.`."""

    text: str
    parameters: Mapping[str, Any] = {}
    is_exact: bool = False
    """Whether it is true for the people of the segment alone."""
    is_indexed: bool = False
    """Whether it compares an indexed column with values, and so finds few people at once."""


EVERYBODY: Final = Prefilter(text="TRUE")


def make_prefilter(condition: Any, now: Millis, prefix: str = "p") -> Prefilter:
    """The names of its parameters begin with the prefix."""
    return _Translation(now, prefix).translate(condition) or EVERYBODY


def join_prefilters(parts: Sequence[Prefilter]) -> Prefilter:
    """Those who pass one of them."""
    return Prefilter(
        text=" OR ".join(f"({one.text})" for one in parts),
        parameters={name: value for one in parts for name, value in one.parameters.items()},
        is_exact=all(one.is_exact for one in parts),
        is_indexed=all(one.is_indexed for one in parts),
    )


class _Translation:
    def __init__(self, now: Millis, prefix: str) -> None:
        self._now = now
        self._prefix = prefix
        self._count = 0

    def translate(self, rule: Any) -> Prefilter | None:
        """None where nothing of it has an expression."""
        if isinstance(rule, bool):
            return Prefilter(text="TRUE" if rule else "FALSE", is_exact=True)
        if not isinstance(rule, dict) or len(rule) != 1:
            return None
        ((operator, given),) = rule.items()
        arguments = given if isinstance(given, list) else [given]
        if operator == "and" and arguments:
            return self._every([self.translate(one) for one in arguments])
        if operator == "or" and arguments:
            return self._either([self.translate(one) for one in arguments])
        if operator in ("in", "contains") and len(arguments) == 2:
            return self._in(*(arguments if operator == "in" else arguments[::-1]))
        translate = self._OPERATORS.get(operator)
        return None if translate is None else translate(self, operator, arguments)

    def _every(self, parts: Sequence[Prefilter | None]) -> Prefilter | None:
        known = [one for one in parts if one is not None]
        if not known:
            return None
        return Prefilter(
            text=" AND ".join(f"({one.text})" for one in known),
            parameters={name: value for one in known for name, value in one.parameters.items()},
            is_exact=len(known) == len(parts) and all(one.is_exact for one in known),
            is_indexed=any(one.is_indexed for one in known),
        )

    def _either(self, parts: Sequence[Prefilter | None]) -> Prefilter | None:
        known = [one for one in parts if one is not None]
        return join_prefilters(known) if len(known) == len(parts) else None

    def _equal(self, operator: str, arguments: list[Any]) -> Prefilter | None:
        field, value = _field_and_constant(arguments)
        column = COLUMNS.get(field or "")
        if column is None:
            return None
        if value is None:
            return _exact(f"{column} IS NULL" if operator != "!=" else f"{column} IS NOT NULL")
        if not _is_plain(value):
            return None
        name = self._name()
        if operator == "!=":
            return _exact(f"{column} IS NULL OR {column} <> :{name}", {name: value})
        text = f"{column} IS NOT NULL AND {column} = :{name}"
        return _exact(text, {name: value}, is_indexed=field in _INDEXED)

    def _in(self, needle: Any, haystack: Any) -> Prefilter | None:
        """A field among constants, or a constant among the topics."""
        field, column = _field(needle), COLUMNS.get(_field(needle) or "")
        if column is not None and isinstance(haystack, list) and 0 < len(haystack) <= _MAX_MEMBERS:
            if not all(map(_is_plain, haystack)):
                return None
            name = self._name()
            text = f"{column} IS NOT NULL AND {column} {{any:{name}}}"
            return _exact(text, {name: haystack}, is_indexed=field in _INDEXED)
        if _field(haystack) == "topics" and _is_plain(needle):
            name = self._name()
            return _exact(_SUBSCRIBED.replace("{name}", name), {name: needle})
        return None

    def _is_null(self, operator: str, arguments: list[Any]) -> Prefilter | None:
        column = COLUMNS.get(_field(arguments[0]) or "") if len(arguments) == 1 else None
        if column is None:
            return None
        if operator in _EMPTY:
            return _exact(f"{column} IS NULL OR {column} = ''")
        if operator in _NON_EMPTY:
            return _exact(f"{column} IS NOT NULL AND {column} <> ''")
        return _exact(f"{column} IS NULL" if operator == "null" else f"{column} IS NOT NULL")

    def _compare(self, operator: str, arguments: list[Any]) -> Prefilter | None:
        """The moment of creation with a constant one."""
        field, value = _field_and_constant(arguments)
        moment = find_date(value)
        if field != _CREATED or moment is None:
            return None
        order = _ORDERS if _field(arguments[0]) else _SWAPPED
        name = self._name()
        return _exact(f"t.created_at {order[operator]} :{name}", {name: moment})

    def _ago(self, operator: str, arguments: list[Any]) -> Prefilter | None:
        """The moment of creation with a span of time before now."""
        if len(arguments) != 2 or _field(arguments[0]) != _CREATED:
            return None
        since = find_since(arguments[1], now=self._now)
        text = _SINCE.get(operator)
        if since is None or text is None:
            return None
        since_name, now_name = self._name(), self._name()
        parameters = {since_name: since} | ({now_name: self._now} if "{now}" in text else {})
        return _exact(text.format(since=f":{since_name}", now=f":{now_name}"), parameters)

    def _name(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    _OPERATORS: Final[Mapping[str, Callable[["_Translation", str, list[Any]], Prefilter | None]]] = {
        **dict.fromkeys(("==", "=", "!="), _equal),
        **dict.fromkeys(("null", "notNull", *_EMPTY, *_NON_EMPTY), _is_null),
        **dict.fromkeys(_ORDERS, _compare),
        **dict.fromkeys(DATE_OPERATORS, _ago),
    }


_SINCE: Final = {
    "moreThanXAgo": "t.created_at < {since}",
    "lessThanXAgo": "t.created_at >= {since}",
    "withinLast": "t.created_at BETWEEN {since} AND {now}",
    "notWithinLast": "NOT t.created_at BETWEEN {since} AND {now}",
}


def _exact(text: str, parameters: Mapping[str, Any] | None = None, *, is_indexed: bool = False) -> Prefilter:
    return Prefilter(text=text, parameters=parameters or {}, is_exact=True, is_indexed=is_indexed)


def _field(argument: Any) -> str | None:
    """The field of the person that a variable names, if it is one of them and has no other value instead."""
    if not isinstance(argument, dict) or argument.keys() != {"var"}:
        return None
    path = argument["var"]
    path = path[0] if isinstance(path, list) and len(path) == 1 else path
    names = split_path(path) if isinstance(path, str) else []
    return names[1] if len(names) == 2 and names[0] == "subscriber" else None


def _field_and_constant(arguments: list[Any]) -> tuple[str | None, Any]:
    """The field and the constant of a comparison of two values, in any order; no field for another comparison."""
    if len(arguments) != 2:
        return None, None
    first, second = arguments
    field = _field(first) or _field(second)
    constant = second if _field(first) else first
    return (None, None) if isinstance(constant, dict | list) else (field, constant)


def _is_plain(value: Any) -> bool:
    """Whether a constant equals the same text alone: no moment, which has several spellings, and nothing odd."""
    return isinstance(value, str) and value.isprintable() and find_date(value) is None
