"""JSON schemas of payloads: checking a schema, validating payloads against it, and filling in its defaults."""

import copy
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import jsonschema_rs
from jsonschema_rs import FancyRegexOptions, ValidationError, ValidationErrorKind
from msgspec import Struct

from clarion.jsontext import json_text, json_value
from clarion.workflows.schema_cost import MAX_STEPS, TOO_MANY_STEPS, PayloadTooCostly, SchemaCost, SchemaProblem

MAX_SCHEMA_DEPTH: Final = 32
MAX_SCHEMA_LENGTH: Final = 256 << 10
MAX_VIOLATIONS: Final = 100

_MAX_BACKTRACKS: Final = 10_000
"""Steps back of a pattern with look-arounds or back-references; other patterns take linear time."""
_MAX_PATTERN_BYTES: Final = 1 << 20
"""Of one compiled pattern."""


class Violation(Struct, frozen=True, kw_only=True):
    """One violation of a schema: the field of the payload, and the rule as a path into the schema."""

    field: str
    message: str
    value: Any
    schema_path: str


def check_schema(schema: Any) -> str | None:
    """Returns what is wrong with a JSON schema, or None. Drafts 4 to 2020-12, without external references."""
    if not isinstance(schema, Mapping):
        return "must be a JSON schema: an object"
    if _is_deeper(schema, MAX_SCHEMA_DEPTH):
        return f"must not be nested more than {MAX_SCHEMA_DEPTH} levels deep"
    text = json_text(schema)
    if len(text) > MAX_SCHEMA_LENGTH:
        return f"must not be longer than {MAX_SCHEMA_LENGTH} characters"
    found = _compile(text)
    return found if isinstance(found, str) else None


def check_payload(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[dict[str, Any], list[Violation]]:
    """Fill in defaults and list the violations, up to MAX_VIOLATIONS; raises SchemaProblem or PayloadTooCostly.

    The defaults are for members that the payload lacks; a null member is not lacking.
    """
    compiled = _get_compiled(schema)
    filled: dict[str, Any] = _Defaults(compiled.cost).fill(compiled.schema, payload, depth=0)
    compiled.cost.check(filled)
    errors = compiled.validator.iter_errors(filled)
    return filled, [_violation(error) for error in islice(errors, MAX_VIOLATIONS)]


def list_violations(schema: Mapping[str, Any], value: Any) -> list[Violation]:
    """List the violations of any value, up to MAX_VIOLATIONS; raises SchemaProblem or PayloadTooCostly."""
    compiled = _get_compiled(schema)
    compiled.cost.check(value)
    return [_violation(error) for error in islice(compiled.validator.iter_errors(value), MAX_VIOLATIONS)]


def fill_defaults(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the defaults as `check_payload` does; raises SchemaProblem or PayloadTooCostly."""
    compiled = _get_compiled(schema)
    filled: dict[str, Any] = _Defaults(compiled.cost).fill(compiled.schema, payload, depth=0)
    return filled


class _CompiledSchema(NamedTuple):
    schema: Mapping[str, Any]
    validator: jsonschema_rs.Validator
    cost: SchemaCost


def _get_compiled(schema: Mapping[str, Any]) -> _CompiledSchema:
    compiled = _compile(json_text(schema))
    if isinstance(compiled, str):
        raise SchemaProblem(compiled)
    return compiled


@lru_cache(maxsize=512)
def _compile(text: str) -> _CompiledSchema | str:
    """Compile a schema, or return what is wrong with it."""
    schema = json_value(text)
    try:
        # Before the validator, which follows references while it compiles.
        cost = SchemaCost(schema)
        validator = jsonschema_rs.validator_for(
            schema,
            validate_formats=True,
            offline=True,
            pattern_options=FancyRegexOptions(backtrack_limit=_MAX_BACKTRACKS, size_limit=_MAX_PATTERN_BYTES),
        )
    except SchemaProblem as problem:
        return str(problem)
    except ValidationError as error:
        place = "".join(f"/{part}" for part in error.instance_path)
        return f"is not a valid JSON schema: {error.message}" + (f" at {place}" if place else "")
    return _CompiledSchema(schema, validator, cost)


def _is_deeper(value: Any, levels: int) -> bool:
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return levels < 0 or any(_is_deeper(item, levels - 1) for item in items)


def _violation(error: ValidationError) -> Violation:
    path = [str(part) for part in error.instance_path]
    message, value = error.message, error.instance
    match error.kind:
        case ValidationErrorKind.Type(types=types):
            message = f"must be {','.join(types)}"
        case ValidationErrorKind.Required(property=name):
            message, value = f"must have required property '{name}'", None
            path.append(name)
        case ValidationErrorKind.AdditionalProperties(unexpected=names):
            message, value = f"must NOT have additional properties: {', '.join(names)}", dict(value).get(names[0])  # type: ignore[arg-type]
            path.append(names[0])
        case _:
            pass
    return Violation(field=".".join(path), message=message, value=value, schema_path=_pointer(error))


def _pointer(error: ValidationError) -> str:
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in error.schema_path)
    return "#" + "".join(f"/{part}" for part in parts)


class _Defaults:
    """Fills in the defaults of one payload, in a limited number of steps."""

    def __init__(self, cost: SchemaCost) -> None:
        self._cost = cost
        self._left = MAX_STEPS

    def fill(self, schema: Any, value: Any, *, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > 2 * MAX_SCHEMA_DEPTH:
            return value
        # Objects are copied.
        self._left -= 1 + (len(value) >> 3 if isinstance(value, dict) else 0)
        if self._left < 0:
            raise PayloadTooCostly(TOO_MANY_STEPS)
        for part in (self._cost.find_target(schema), *_list(schema.get("allOf"))):
            value = self.fill(part, value, depth=depth + 1)
        if isinstance(value, dict):
            return self._fill_members(schema.get("properties"), value, depth=depth)
        if isinstance(value, list | tuple) and isinstance(schema.get("items"), dict):
            return [self.fill(schema["items"], item, depth=depth + 1) for item in value]
        return value

    def _fill_members(self, properties: Any, value: Mapping[str, Any], *, depth: int) -> dict[str, Any]:
        filled = dict(value)
        for name, member in properties.items() if isinstance(properties, dict) else ():
            if name not in filled and isinstance(member, dict) and "default" in member:
                self._left -= len(json_text(member["default"])) >> 4
                filled[name] = copy.deepcopy(member["default"])
            if name in filled:
                filled[name] = self.fill(member, filled[name], depth=depth + 1)
        return filled


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
