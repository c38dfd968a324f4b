"""A value that a JSON Schema describes, as far as its types, examples and defaults tell."""

from typing import Any, Final

from clarion.workflows.schema_cost import find_pointer

_MAX_DEPTH: Final = 8
_BY_FORMAT: Final = {
    "date-time": "2026-01-31T09:30:00.000Z",
    "date": "2026-01-31",
    "email": "ada@example.com",
    "uri": "https://example.com",
    "uuid": "019c1394-0000-7000-8000-000000000000",
}
_BY_TYPE: Final[dict[str, Any]] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


def make_answer_example(schema: dict[str, Any] | None) -> dict[str, Any]:
    """Return what later steps may see of a request whose answer has this schema."""
    body = {} if schema is None else make_example(schema)
    return {"ok": True, "status": 200, "headers": {"content-type": "application/json"}, "body": body}


def make_example(schema: dict[str, Any]) -> Any:
    """Return an example; what cannot be told from the schema is null."""
    return _make(schema, schema, 0)


def _make(root: dict[str, Any], schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return None
    if isinstance(schema.get("$ref"), str):
        return _make(root, find_pointer(root, schema["$ref"]), depth + 1)
    given = _find_given(schema)
    if given:
        return given[0]
    for name in ("oneOf", "anyOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _make(root, schema[name][0], depth + 1)
    return _make_of_type(root, schema, depth)


def _find_given(schema: dict[str, Any]) -> list[Any]:
    """The values that the schema itself names, as a list that has the first one or is empty."""
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[:1]
    named = [schema[name] for name in ("example", "const", "default") if name in schema]
    enum = schema.get("enum")
    return [*named, *(enum if isinstance(enum, list) else [])][:1]


def _make_of_type(root: dict[str, Any], schema: dict[str, Any], depth: int) -> Any:
    kinds = schema.get("type", "object" if "properties" in schema else None)
    kind = next((one for one in kinds if one != "null"), "null") if isinstance(kinds, list) and kinds else kinds
    if kind == "object":
        members = schema.get("properties")
        return {
            name: _make(root, part, depth + 1) for name, part in (members if isinstance(members, dict) else {}).items()
        }
    if kind == "array":
        item = _make(root, schema.get("items"), depth + 1)
        return [] if item is None else [item]
    if kind == "string":
        return _BY_FORMAT.get(str(schema.get("format")), "text")
    return _BY_TYPE.get(str(kind))
