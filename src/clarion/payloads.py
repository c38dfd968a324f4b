"""JSON schemas of payloads: checking a schema, validating payloads against it, and filling in its defaults."""

import copy
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import FancyRegexOptions, ValidationError, ValidationErrorKind
from msgspec import Struct

from clarion.jsontext import json_text, json_value
from clarion.paths import MISSING, find_value

MAX_SCHEMA_DEPTH: Final = 32
MAX_SCHEMA_LENGTH: Final = 256 << 10
MAX_VIOLATIONS: Final = 100


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
    loop = _find_loop(schema, schema)
    if loop is not None:
        return f"must not refer to itself without saying anything: {loop}"
    text = json_text(schema)
    if len(text) > MAX_SCHEMA_LENGTH:
        return f"must not be longer than {MAX_SCHEMA_LENGTH} characters"
    try:
        _validator(text)
    except ValidationError as error:
        place = "".join(f"/{part}" for part in error.instance_path)
        return f"is not a valid JSON schema: {error.message}" + (f" at {place}" if place else "")
    return None


def find_violations(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> list[Violation]:
    """All violations of a schema that `check_schema` accepted, up to MAX_VIOLATIONS."""
    errors = _validator(json_text(schema)).iter_errors(payload)
    return [_violation(error) for error in islice(errors, MAX_VIOLATIONS)]


def with_defaults(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the schema's defaults for members that it lacks; a null member is not lacking."""
    filled: dict[str, Any] = _fill(schema, payload, root=schema, depth=0)
    return filled


@lru_cache(maxsize=512)
def _validator(text: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        json_value(text),
        validate_formats=True,
        offline=True,
        pattern_options=FancyRegexOptions(backtrack_limit=100_000),
    )


def _is_deeper(value: Any, levels: int) -> bool:
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return levels < 0 or any(_is_deeper(item, levels - 1) for item in items)


def _find_loop(value: Any, root: Mapping[str, Any]) -> str | None:
    """A `$ref` that leads back to itself through references alone; recursive data structures are allowed."""
    if isinstance(value, Mapping):
        seen: list[str] = []
        target: Any = value
        while isinstance(target, Mapping) and isinstance(target.get("$ref"), str):
            if target["$ref"] in seen:
                return str(target["$ref"])
            seen.append(target["$ref"])
            target = _target(target["$ref"], root)
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return next((found for item in items if (found := _find_loop(item, root)) is not None), None)


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


def _fill(schema: Any, value: Any, *, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > 2 * MAX_SCHEMA_DEPTH:
        return value
    for part in (_target(schema.get("$ref"), root), *_list(schema.get("allOf"))):
        value = _fill(part, value, root=root, depth=depth + 1)
    if isinstance(value, Mapping):
        return _fill_members(schema.get("properties"), value, root=root, depth=depth)
    if isinstance(value, list | tuple):
        return [_fill(schema.get("items"), item, root=root, depth=depth + 1) for item in value]
    return value


def _fill_members(properties: Any, value: Mapping[str, Any], *, root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    filled = dict(value)
    for name, member in properties.items() if isinstance(properties, Mapping) else ():
        if name not in filled and isinstance(member, Mapping) and "default" in member:
            filled[name] = copy.deepcopy(member["default"])
        if name in filled:
            filled[name] = _fill(member, filled[name], root=root, depth=depth + 1)
    return filled


def _target(reference: Any, root: Mapping[str, Any]) -> Any:
    """The target of a reference within the schema, or None."""
    if reference == "#":
        return root
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found = find_value(root, reference[2:].replace("/", "."))
    return None if found is MISSING else found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
