"""Payload schemas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.payloads import Violation, check_schema, find_violations, with_defaults


def make_schema(*, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def make_deep(levels: int) -> dict[str, Any]:
    return {"properties": {"a": make_deep(levels - 1)}} if levels else {}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        make_schema(n={"type": "number"}),
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}]},
        {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"},
        {"type": "object", "properties": {"child": {"$ref": "#"}}},
        {"pattern": "(?=a)b"},
    ],
)
def test_schemas_of_the_known_drafts_are_accepted(schema: dict[str, Any]) -> None:
    assert check_schema(schema) is None


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ([], "an object"),
        (None, "an object"),
        ({"type": "nothing"}, "at /type"),
        ({"properties": []}, "at /properties"),
        ({"pattern": "("}, "regex"),
        ({"$ref": "http://127.0.0.1:1/schema.json"}, "disabled"),
        ({"$ref": "file:///etc/passwd"}, "disabled"),
        ({"$ref": "#/$defs/nothing"}, "does not exist"),
        ({"$schema": "http://example.com/mine"}, "Unknown meta-schema"),
        (make_deep(20), "32 levels"),
        ({"description": "x" * 300_000}, "longer"),
    ],
)
def test_other_schemas_are_refused_with_a_reason(schema: Any, reason: str) -> None:
    problem = check_schema(schema)

    assert problem is not None
    assert reason in problem


def test_a_valid_payload_has_no_violations() -> None:
    assert find_violations(make_schema(n={"type": "number"}), {"n": 5}) == []


def test_all_violations_are_found_with_their_paths() -> None:
    schema = make_schema(
        required=("name",), n={"type": "number"}, list={"items": {"type": ["string", "null"]}}, mail={"format": "email"}
    )

    found = find_violations(schema, {"n": "text", "list": ["a", 5], "mail": "no", "other": 1})

    assert sorted(found, key=lambda one: one.field) == [
        Violation(field="list.1", message="must be null,string", value=5, schema_path="#/properties/list/items/type"),
        Violation(field="mail", message='"no" is not a "email"', value="no", schema_path="#/properties/mail/format"),
        Violation(field="n", message="must be number", value="text", schema_path="#/properties/n/type"),
        Violation(field="name", message="must have required property 'name'", value=None, schema_path="#/required"),
        Violation(
            field="other",
            message="must NOT have additional properties: other",
            value=1,
            schema_path="#/additionalProperties",
        ),
    ]


def test_violations_are_reported_up_to_a_hundred() -> None:
    assert len(find_violations({"additionalProperties": {"type": "null"}}, {str(n): n for n in range(500)})) == 100


def test_a_recursive_schema_validates_to_the_depth_of_the_payload() -> None:
    schema = {"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}

    assert [one.field for one in find_violations(schema, {"n": {"n": {"n": 5}}})] == ["n.n.n"]


@pytest.mark.parametrize(
    ("properties", "payload", "expected"),
    [
        ({"a": {"default": 1}}, {}, {"a": 1}),
        ({"a": {"default": 1}}, {"a": None}, {"a": None}),
        ({"a": {"default": 1}}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"a": {"properties": {"b": {"default": 1}}}}, {}, {}),
        ({"a": {"properties": {"b": {"default": 1}}}}, {"a": {}}, {"a": {"b": 1}}),
        ({"a": {"default": {}, "properties": {"b": {"default": 1}}}}, {}, {"a": {"b": 1}}),
        ({"a": {"items": {"properties": {"b": {"default": 1}}}}}, {"a": [{}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 2}]}),
        ({"a": True, "b": 5}, {"a": 1}, {"a": 1}),
    ],
)
def test_defaults_fill_absent_members(properties: Any, payload: dict[str, Any], expected: dict[str, Any]) -> None:
    assert with_defaults({"properties": properties}, payload) == expected


def test_defaults_apply_through_references_and_combinations() -> None:
    schema = {
        "$defs": {"base": {"properties": {"a": {"default": 1}}}, "loop": {"$ref": "#/$defs/loop"}},
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"default": 2}}}, {"$ref": "#/$defs/loop"}],
    }

    assert with_defaults(schema, {}) == {"a": 1, "b": 2}


def test_neither_the_payload_nor_the_schema_is_changed() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"default": []}}}
    payload: dict[str, Any] = {}

    with_defaults(schema, payload)["a"].append(1)

    assert payload == {}
    assert with_defaults(schema, payload) == {"a": []}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "$ref", "default", "allOf", "a"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "items", "$ref", "allOf", "required"]), JSON), JSON)
def test_any_schema_is_refused_or_works(schema: dict[str, Any], value: Any) -> None:
    if check_schema(schema) is None:
        payload = with_defaults(schema, {"a": value})
        assert isinstance(find_violations(schema, payload), list)


@pytest.mark.parametrize(
    ("schema", "is_refused"),
    [
        ({"$ref": "#"}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, True),
        ({"properties": {"x": {"$ref": "#/properties/x"}}}, True),
        ({"type": "object", "properties": {"child": {"$ref": "#"}}}, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, False),
    ],
)
def test_circular_references_are_refused_and_recursive_structures_are_not(schema: Any, is_refused: bool) -> None:
    problem = check_schema(schema)

    assert (problem is not None and "refer to itself" in problem) is is_refused
