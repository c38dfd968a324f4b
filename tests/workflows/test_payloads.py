"""Payload schemas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.work import WorkBudget, spending
from clarion.workflows.payloads import Violation, check_payload, check_schema
from clarion.workflows.schema_cost import MAX_STEPS, PayloadTooCostly, SchemaProblem


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


def find_violations(schema: dict[str, Any], payload: dict[str, Any]) -> list[Violation]:
    return check_payload(schema, payload)[1]


def with_defaults(schema: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    return check_payload(schema, payload)[0]


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
        ({"a": True}, {"a": 1}, {"a": 1}),
    ],
)
def test_defaults_fill_absent_members(properties: Any, payload: dict[str, Any], expected: dict[str, Any]) -> None:
    assert with_defaults({"properties": properties}, payload) == expected


def test_defaults_apply_through_references_and_combinations() -> None:
    schema = {
        "$defs": {"base": {"properties": {"a": {"default": 1}}}},
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"default": 2}}}],
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
        assert isinstance(find_violations(schema, with_defaults(schema, {"a": value})), list)


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


def make_chain(levels: int, keyword: str = "allOf") -> dict[str, Any]:
    """A schema that doubles with each level."""
    parts = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {"type": "object"}}}


def make_nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"c": value}
    return value


TWICE = {"properties": {"c": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (make_chain(21), "more than 10000 parts when its references are followed"),
        (make_chain(40, "anyOf"), "more than 10000 parts when its references are followed"),
        ({"allOf": [{"$ref": "#"}]}, "refer to itself"),
        ({"if": {"$ref": "#"}}, "refer to itself"),
        ({"$defs": {"a": {"$anchor": "x", "not": {"$ref": "#x"}}}, "$ref": "#x"}, "refer to itself"),
        ({"$dynamicRef": "#x"}, "must not use $dynamicRef"),
        ({"$defs": {"a": {"$id": "http://example.com/a"}}}, "must not have $id in its parts"),
        ({"pattern": "(a{1,300}){1,300}"}, "patterns of more than 10000 characters"),
        ({"patternProperties": {f"{n}" * 100: {} for n in range(200)}}, "patterns of more than 10000 characters"),
    ],
)
def test_a_schema_that_takes_too_much_work_is_refused_when_it_is_saved(schema: Any, reason: str) -> None:
    problem = check_schema(schema)

    assert problem is not None
    assert reason in problem
    with pytest.raises(SchemaProblem):
        check_payload(schema, {"a": 1})


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (TWICE, make_nested(40)),
        ({"anyOf": [TWICE, {"properties": {"c": {"$ref": "#"}}}]}, make_nested(40)),
        ({"properties": {"a": {"items": {"enum": list(range(1_000))}}}}, {"a": ["x"] * 5_000}),
        ({"properties": {"a": {"items": {"pattern": "(?=a)(a+)+b"}}}}, {"a": ["a" * 40] * 5_000}),
        ({"patternProperties": {f"a{n}$": {} for n in range(200)}}, {f"x{n}": 1 for n in range(5_000)}),
        ({"properties": {"a": {"items": {"properties": {"b": {"default": "x" * 1_000}}}}}}, {"a": [{}] * 5_000}),
    ],
)
def test_a_payload_that_takes_too_many_steps_is_refused(schema: Any, payload: Any) -> None:
    assert check_schema(schema) is None

    with pytest.raises(PayloadTooCostly, match=f"more than {MAX_STEPS} steps"):
        check_payload(schema, payload)


def test_large_payloads_of_plain_schemas_are_checked() -> None:
    schema = make_schema(rows={"items": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}})

    assert find_violations(schema, {"rows": [{"n": n} for n in range(3_000)]}) == []
    assert len(find_violations(schema, {"rows": [{"n": n} for n in range(3_000)] + [{}]})) == 1


def test_recursive_schemas_check_deep_payloads() -> None:
    tree = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "additionalProperties": False}

    assert find_violations(tree, {"left": {"left": {"right": {}}}, "right": {}}) == []
    assert len(find_violations(tree, {"left": {"left": {"right": {"x": 1}}}})) == 1


def test_payloads_that_are_checked_together_share_a_budget() -> None:
    with spending(WorkBudget(limit=3_000)):
        check_payload(TWICE, make_nested(7))
        with pytest.raises(PayloadTooCostly, match="send fewer events"):
            check_payload(TWICE, make_nested(11))
