"""JSON Schemas of the controls of each step type, made from their shapes, so that forms can be generated.

Saving needs nothing that is `required`: what is missing is an issue of the step, because drafts are saved too.
"""

from enum import StrEnum
from functools import cache
from typing import Any

import msgspec

from clarion.content.email.compose import EditorType
from clarion.times import Unit
from clarion.vocabulary import StepType
from clarion.waits.model import WaitSince
from clarion.workflows.control_checks import MAX_STEP_TEXT
from clarion.workflows.control_parts import OnTimeout, RetainOrder
from clarion.workflows.control_texts import TEXTS, WIDGETS, ControlText
from clarion.workflows.controls import (
    SHAPES,
    Controls,
    DelayControls,
    DelayType,
    DigestControls,
    DigestType,
    HttpMethod,
    OnFailure,
    Share,
    Target,
    ThrottleControls,
    ThrottleType,
    VersionChoice,
)
from clarion.workflows.issues import list_missing

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL: Schema = {"type": "null"}
# In the order of forms, which is that of the declarations.
_ORDERS = {
    frozenset(one.value for one in kind): [one.value for one in kind]
    for kind in (
        *(Target, EditorType, Unit, DelayType, DigestType, RetainOrder, ThrottleType, VersionChoice),
        *(OnTimeout, WaitSince, HttpMethod, OnFailure, Share),
    )
}
_KINDS: dict[type[Controls], type[StrEnum]] = {
    DelayControls: DelayType,
    DigestControls: DigestType,
    ThrottleControls: ThrottleType,
}


@cache
def control_schema(step_type: StepType) -> Schema:
    """Return the schema of the controls of a step type; it is shared, so that callers must not change it."""
    shape = SHAPES[step_type]
    (root,), components = msgspec.json.schema_components([shape], ref_template="{name}")
    schema = _resolve(root, components)
    texts = TEXTS[step_type]
    properties = {
        name: _with_text(_simplify(one), texts.get(name)) for name, one in schema.get("properties", {}).items()
    }
    return {
        "$schema": _DIALECT,
        "type": "object",
        "properties": {name: properties[name] for name in (*texts, *(properties.keys() - texts.keys()))},
        # Others are saved as well, and named as an issue; those of custom steps belong to the application.
        "additionalProperties": step_type is StepType.CUSTOM,
        **_requirements(step_type, shape),
    }


@cache
def control_widgets(step_type: StepType) -> Schema:
    """Return which widget fits each control, by the names that published dashboards know."""
    if step_type is StepType.CUSTOM:
        return {}
    found = {name: _widget(component, TEXTS[step_type].get(name)) for name, component in WIDGETS[step_type].items()}
    return {"group": step_type.value.upper(), "properties": found}


def _widget(component: str, text: ControlText | None) -> Schema:
    example = None if text is None else text.example
    return {"component": component} | ({} if example is None else {"placeholder": example})


def _resolve(schema: Any, components: dict[str, Any]) -> Any:
    """Put the schemas of nested shapes in place of references."""
    if isinstance(schema, list):
        return [_resolve(one, components) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolve(components[schema["$ref"]], components)
    return {name: _resolve(one, components) for name, one in schema.items()}


def _simplify(schema: Schema) -> Schema:
    """Write `null` as one of the types, as generators of forms understand it, and leave out names of classes."""
    kept = {name: one for name, one in schema.items() if name not in ("default", "title", "description")}
    if "anyOf" in kept:
        return _simplify_choices([_simplify(one) for one in kept["anyOf"]])
    if "enum" in kept:
        return kept | {"type": "string", "enum": _ORDERS[frozenset(kept["enum"])]}
    match kept.get("type"):
        case "string":
            kept["maxLength"] = MAX_STEP_TEXT
        case "array":
            kept["items"] = _simplify(kept["items"])
        case "object":
            return _simplify_object(kept)
    return kept


def _simplify_choices(choices: list[Schema]) -> Schema:
    others = [one for one in choices if one != _NULL]
    if len(others) != 1 or len(choices) == 1:
        return {"anyOf": choices}
    (only,) = others
    only = only | {"type": [only["type"], "null"]}
    return only | ({"enum": [*only["enum"], None]} if "enum" in only else {})


def _simplify_object(schema: Schema) -> Schema:
    if "properties" not in schema:
        values = schema.get("additionalProperties") or True
        return schema | {"additionalProperties": _simplify(values) if isinstance(values, dict) else True}
    members = {name: _simplify(one) for name, one in schema["properties"].items()}
    kept = {name: one for name, one in schema.items() if (name, one) != ("required", [])}
    return kept | {"properties": members}


def _with_text(schema: Schema, text: ControlText | None) -> Schema:
    if text is None:
        return schema
    about: Schema = {"title": text.title, "description": text.description}
    if text.example is not None:
        about["examples"] = [text.example]
    if text.media_type is not None:
        about["contentMediaType"] = text.media_type
    nested = {name: _with_text(one, text.members.get(name)) for name, one in schema.get("properties", {}).items()}
    return about | schema | ({"properties": nested} if nested else {})


def _requirements(step_type: StepType, shape: type[Controls]) -> Schema:
    """What a complete step has, by the rule that reports issues."""
    if step_type is StepType.IN_APP:
        return {"anyOf": [{"required": ["body"]}, {"required": ["subject"]}]}
    kinds = _KINDS.get(shape)
    if kinds is None:
        needed = list_missing(shape())
        return {"required": needed} if needed else {}
    rules: list[Schema] = [_rule_of_kind(shape, kind) for kind in kinds]
    without = [{"required": list_missing(shape())}]
    without += [{"required": [one]} for one in ("cron", "dynamicKey") if _names_kind(shape, one)]
    named = {"properties": {"type": {"type": "string"}}, "required": ["type"]}
    rules.append({"if": {"not": named}, "then": {"anyOf": without}})
    return {"allOf": rules}


def _rule_of_kind(shape: type[Controls], kind: StrEnum) -> Schema:
    needed = list_missing(msgspec.convert({"type": kind.value}, shape))
    then: Schema = {"required": needed}
    if shape is DigestControls and kind is DigestType.REGULAR:
        then = {"anyOf": [then, {"required": ["dynamicKey"]}]}
    return {"if": {"properties": {"type": {"const": kind.value}}, "required": ["type"]}, "then": then}


def _names_kind(shape: type[Controls], name: str) -> bool:
    """Return whether a control says what kind of wait is meant, where `type` does not."""
    fields = {one.encode_name for one in msgspec.structs.fields(shape)}
    return name in fields and list_missing(msgspec.convert({name: "x"}, shape)) == []
