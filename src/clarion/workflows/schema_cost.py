"""What it costs to validate a payload against a JSON schema, before the validator starts.

The validator runs to its end in one call, so its work is bounded beforehand: a schema that refers to its own parts over
and over is refused when it is saved, and the steps that a payload takes are counted if they could be many.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from clarion.errors import ClarionError
from clarion.work import allow_work, spend_work

MAX_EXPANSION: Final = 10_000
"""Parts of a schema when each reference is replaced by what it refers to."""
MAX_STEPS: Final = 15_000
"""Parts of a schema that are applied to parts of one payload."""
MAX_PATTERNS: Final = 10_000
"""Characters and repetitions of all patterns of a schema."""

TOO_MANY_STEPS: Final = f"takes more than {MAX_STEPS} steps to be checked against the payload schema"
_TOGETHER: Final = "takes too many steps to be checked after the events before it; send fewer events in a request"
_ESTIMATE_LIMIT: Final = 50_000
_FANCY: Final = re.compile(r"\(\?<?[=!]|\\[1-9k]")
_FANCY_WORK: Final = 50
_REPEATS: Final = re.compile(r"\{(\d{1,6})?,?(\d{1,6})?\}")
_UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef")
# Members that give a part a name, and what a reference has in front of it.
_NAMES: Final = {"$id": "", "id": "", "$anchor": "#", "$dynamicAnchor": "#"}
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SAME_VALUE: Final = ("not", "if", "then", "else")
_OF_ITEMS: Final = ("items", "additionalItems", "contains", "unevaluatedItems")
_OF_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")

Schema = Mapping[str, Any]


class SchemaProblem(ClarionError):
    """A schema cannot be used; the message says why."""


class PayloadTooCostly(ClarionError):
    """A payload takes too many steps to be checked against its schema; the message says so."""


class SchemaCost:
    """The cost of one schema; raises SchemaProblem if it could not be bounded."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._anchors = _find_anchors(schema)
        self._weights: dict[int, int] = {}
        self._own_weights: dict[int, int] = {}
        self._is_recursive = False
        self._check_patterns()
        self._expansion = self._expand(schema, [], is_same_value=True)

    def check(self, payload: Any) -> None:
        """Raise PayloadTooCostly if validating the payload takes too many steps."""
        estimate = self._expansion * _count_nodes(payload)
        if not self._is_recursive and estimate <= _ESTIMATE_LIMIT:
            work = estimate >> 4
        else:
            counter = _StepCounter(self, allow_work(MAX_STEPS))
            counter.count(self._root, payload)
            work = counter.counted
        if not spend_work(work):
            raise PayloadTooCostly(_TOGETHER)

    def weigh(self, schema: Schema) -> int:
        """Return the steps of applying a schema to a value, without its parts."""
        weight = self._own_weights.get(id(schema))
        if weight is None:
            weight = self._own_weights[id(schema)] = _own_weight(schema)
        return weight

    def find_target(self, schema: Schema) -> Any:
        """The target of a reference within the schema, or None if it has none."""
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return None
        if reference in self._anchors:
            return self._anchors[reference]
        return find_pointer(self._root, reference)

    def _check_patterns(self) -> None:
        weight = sum(map(_weigh_pattern, _list_patterns(self._root)))
        if weight > MAX_PATTERNS:
            raise SchemaProblem(
                f"must not have patterns of more than {MAX_PATTERNS} characters and repetitions together"
            )

    def _expand(self, schema: Any, parents: list[tuple[int, bool]], *, is_same_value: bool) -> int:
        """Return the number of parts of a schema without references; those of a recursive structure count once."""
        if not isinstance(schema, dict):
            return 1
        known = self._weights.get(id(schema))
        if known is not None:
            return known
        above = [place for place, (one, _) in enumerate(parents) if one == id(schema)]
        if above:
            if is_same_value and all(same for _, same in parents[above[-1] + 1 :]):
                raise SchemaProblem("must not refer to itself without going into a member or an item of the payload")
            self._is_recursive = True
            return 1
        parents.append((id(schema), is_same_value))
        total = self.weigh(schema)
        for part, is_same in self._list_parts(schema):
            total += self._expand(part, parents, is_same_value=is_same)
            if total > MAX_EXPANSION:
                raise SchemaProblem(f"must not have more than {MAX_EXPANSION} parts when its references are followed")
        parents.pop()
        self._weights[id(schema)] = total
        return total

    def _list_parts(self, schema: Schema) -> Iterator[tuple[Any, bool]]:
        """Yield the parts that are applied, each with whether it is applied to the same value as the schema itself."""
        for part in list_same_value(schema, self.find_target(schema)):
            yield part, True
        for name in ("properties", "patternProperties"):
            yield from ((part, False) for part in _values(schema.get(name)))
        for name in (*_OF_MEMBERS, *_OF_ITEMS, "prefixItems"):
            parts = schema.get(name)
            yield from ((part, False) for part in (parts if isinstance(parts, list) else [parts]) if part is not None)


class _StepCounter:
    """Applies a schema to a payload as the validator does, without validating, and counts."""

    def __init__(self, cost: SchemaCost, limit: int) -> None:
        self._cost = cost
        self._limit = self._left = limit

    @property
    def counted(self) -> int:
        return self._limit - self._left

    def count(self, schema: Any, value: Any) -> None:
        if not isinstance(schema, dict):
            return
        self._left -= self._cost.weigh(schema) + (len(value) >> 8 if isinstance(value, str) else 0)
        if self._left < 0:
            spend_work(self.counted)
            raise PayloadTooCostly(_TOGETHER if self._limit < MAX_STEPS else TOO_MANY_STEPS)
        for part in list_same_value(schema, self._cost.find_target(schema)):
            self.count(part, value)
        if isinstance(value, dict):
            self._count_members(schema, value)
        elif isinstance(value, list | tuple):
            self._count_items(schema, value)

    def _count_members(self, schema: Schema, value: Mapping[str, Any]) -> None:
        properties = schema.get("properties")
        if isinstance(properties, dict):
            self._left -= len(properties) >> 3
            for name, part in properties.items():
                if name in value:
                    self.count(part, value[name])
        patterns = _values(schema.get("patternProperties"))
        self._left -= len(patterns) * len(value) // 4
        of_all = [*patterns, *(schema[name] for name in _OF_MEMBERS if isinstance(schema.get(name), dict))]
        for member in value.values() if of_all else ():
            for part in of_all:
                self.count(part, member)

    def _count_items(self, schema: Schema, value: Any) -> None:
        for name in (*_OF_ITEMS, "prefixItems"):
            parts = schema.get(name)
            if isinstance(parts, list):
                for part, item in zip(parts, value, strict=False):
                    self.count(part, item)
            elif isinstance(parts, dict):
                for item in value:
                    self.count(parts, item)


def find_pointer(root: Any, reference: str) -> Any:
    """Return what a JSON pointer such as `#/$defs/a` refers to, or None."""
    if not reference.startswith("#") or (len(reference) > 1 and reference[1] != "/"):
        return None
    target = root
    for part in reference[2:].split("/") if len(reference) > 1 else ():
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict):
            target = target.get(name)
        elif isinstance(target, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(target):
            target = target[int(name[:9])]
        else:
            return None
    return target


def list_same_value(schema: Schema, target: Any) -> Iterator[Any]:
    """Yield the parts of a schema that are applied to the same value as the schema itself."""
    if target is not None:
        yield target
    for name in _LISTS:
        found = schema.get(name)
        yield from found if isinstance(found, list) else ()
    for name in _SAME_VALUE:
        if name in schema:
            yield schema[name]
    for name in ("dependentSchemas", "dependencies"):
        yield from _values(schema.get(name))


def _find_anchors(root: Schema) -> dict[str, Any]:
    """Return the parts that have a name of their own; raises SchemaProblem for names that change what others mean."""
    anchors: dict[str, Any] = {}
    for schema in _list_schemas(root):
        unsupported = next((name for name in _UNSUPPORTED if name in schema), None)
        if unsupported is not None:
            raise SchemaProblem(f"must not use {unsupported}; use $ref")
        for name, mark in _NAMES.items():
            text = schema.get(name)
            if isinstance(text, str) and (mark or schema is not root):
                if not (mark + text).startswith("#"):
                    raise SchemaProblem(f"must not have {name} in its parts; use $anchor")
                anchors[mark + text] = schema
    return anchors


def _list_schemas(schema: Any) -> Iterator[Schema]:
    """Yield a schema and all schemas that are written in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name in (*_LISTS, "prefixItems", "items"):
        if isinstance(schema.get(name), list):
            for part in schema[name]:
                yield from _list_schemas(part)
    for name in (*_SAME_VALUE, *_OF_ITEMS, *_OF_MEMBERS):
        yield from _list_schemas(schema.get(name))
    for name in _MAPS:
        for part in _values(schema.get(name)):
            yield from _list_schemas(part)


def _list_patterns(root: Schema) -> Iterator[str]:
    for schema in _list_schemas(root):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        patterns = schema.get("patternProperties")
        yield from patterns if isinstance(patterns, dict) else ()


def _weigh_pattern(pattern: str) -> int:
    """Return about how large a compiled pattern is: repetitions of a group multiply, others add up."""
    repeats = [max(int(low or 1), int(high or 1), 1) for low, high in _REPEATS.findall(pattern)]
    size = 0
    for one in repeats:
        size = size * one if size and "){" in pattern else size + one
        if size > MAX_PATTERNS:
            break
    return len(pattern) + size * (50 if "\\p" in pattern or "\\P" in pattern else 1)


def _own_weight(schema: Schema) -> int:
    weight = 1
    enum = schema.get("enum")
    if isinstance(enum, list):
        weight += _count_nodes(enum) >> 2
    if "const" in schema:
        weight += _count_nodes(schema["const"]) >> 2
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        weight += _FANCY_WORK if _FANCY.search(pattern) else 1
    return weight


def _count_nodes(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count_nodes, value.values()))
    if isinstance(value, list | tuple):
        return 1 + sum(map(_count_nodes, value))
    return 1 + (len(value) >> 8 if isinstance(value, str) else 0)


def _values(found: Any) -> list[Any]:
    return list(found.values()) if isinstance(found, dict) else []
