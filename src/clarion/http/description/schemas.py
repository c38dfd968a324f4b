"""Schemas of the API description: what msgspec makes of the types, in the form that generators of clients need."""

import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from inspect import cleandoc
from typing import Any

import msgspec
from msgspec import inspect

from clarion.http.description.texts import as_sentences, find_field_text, find_literal, find_parameter_text
from clarion.http.wire import ALTERNATIVES, CheckedText, UploadedFile, Wire

_REFERENCE = "#/components/schemas/"
_WORD = re.compile("[A-Z][a-z]*")
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


class Schemas:
    """The schemas of all types. Those of classes become components, those of queries parameters.

    What only `own_bodies` contain has no other members than it says; other bodies may have more.
    """

    def __init__(
        self,
        *,
        bodies: Sequence[Any],
        queries: Sequence[type[Wire]],
        results: Iterable[Any],
        own_bodies: Sequence[Any] = (),
    ) -> None:
        inputs, outputs = _Types([*own_bodies, *bodies, *queries]), _Types(results)
        self._closed = _Types(own_bodies).classes.keys() - _Types(bodies).classes.keys() - outputs.classes.keys()
        self._classes = {**inputs.classes, **outputs.classes}
        self._only_results = outputs.classes.keys() - inputs.classes.keys()
        kinds = {**inputs.kinds, **outputs.kinds} | {repr(cls): cls for cls in self._classes}
        made, components = msgspec.json.schema_components(
            kinds.values(), schema_hook=_text_schema, ref_template="{name}"
        )
        self._made = dict(zip(kinds, made, strict=True))
        self._queries = {shape: components[self._reference(shape)]["properties"] for shape in queries}
        names = _choose_names(cls for cls in self._classes if cls not in self._queries)
        self._names = {self._reference(cls): name for cls, name in names.items()}
        self.components = {
            name: self._describe_class(cls, components[self._reference(cls)]) for cls, name in names.items()
        }

    def of(self, kind: Any) -> dict[str, Any]:
        return self._tidy(self._made[repr(kind)])

    def parameters_of(self, shape: type[Wire]) -> Iterator[dict[str, Any]]:
        """The parameters of a query, as OpenAPI describes them."""
        for field in _fields(self._classes[shape]):
            made = self._queries[shape][field.encode_name]
            schema = _without_null(self._tidy({key: value for key, value in made.items() if key != "default"}))
            if field.default not in (msgspec.NODEFAULT, None, ()):
                schema = schema | {"default": msgspec.to_builtins(field.default)}
            text = find_parameter_text(shape, field)
            description = {} if text is None else {"description": as_sentences(text)}
            yield {
                "name": field.encode_name,
                "in": "query",
                "required": field.required,
                **description,
                "schema": schema,
            }

    def _reference(self, cls: Any) -> str:
        return str(self._made[repr(cls)]["$ref"])

    def _describe_class(self, cls: Any, schema: dict[str, Any]) -> dict[str, Any]:
        described = self._tidy(schema)
        fields = _fields(self._classes[cls])
        for field in fields:
            property_schema = described["properties"][field.encode_name]
            self._name_members(property_schema, field.type)
            text = find_field_text(cls, field)
            if text is not None:
                property_schema["description"] = as_sentences(text, property_schema.get("description"))
        if fields and cls in self._only_results:
            # A field with a default is always sent.
            described["required"] = [one.encode_name for one in fields if _is_always_sent(one)]
        if fields and cls in self._closed:
            described["additionalProperties"] = False
        if described.get("required") == []:
            del described["required"]
        return described

    def _name_members(self, schema: dict[str, Any], info: inspect.Type) -> None:
        """Name the members that an object may have, if their names are an enum."""
        if isinstance(info, inspect.DictType) and isinstance(info.key_type, inspect.EnumType):
            value = schema.pop("additionalProperties")
            schema["properties"] = {one.value: value | _describe_member(one) for one in info.key_type.cls}
            schema["additionalProperties"] = False

    def _tidy(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema with our names, a type for every enum, and no default: generated types require what has one."""
        tidy = {key: self._tidy_member(key, value) for key, value in schema.items() if key not in ("title", "default")}
        if ALTERNATIVES in tidy:
            tidy = self._alternatives(tidy)
        if "enum" in tidy:
            tidy["type"] = _JSON_TYPES[type(tidy["enum"][0])]
        if tidy.get("type") == "object" and not tidy.keys() & {"properties", "additionalProperties"}:
            tidy["additionalProperties"] = True
        if "description" in tidy:
            tidy["description"] = cleandoc(tidy["description"])
        if schema.get("default") not in (None, [], {}):
            tidy["description"] = _with_default(tidy.get("description", ""), schema["default"])
        return tidy

    def _alternatives(self, tidy: dict[str, Any]) -> dict[str, Any]:
        options = [self._tidy(self._made[key]) for key in tidy[ALTERNATIVES]]
        others = {key: value for key, value in tidy.items() if key not in (ALTERNATIVES, "type")}
        return others | (options[0] if len(options) == 1 else {"anyOf": options})

    def _tidy_member(self, key: str, value: Any) -> Any:
        if key == "$ref":
            return _REFERENCE + self._names[value]
        if key == "properties":
            return {name: self._tidy(one) for name, one in value.items()}
        if key in ("anyOf", "prefixItems"):
            return [self._tidy(one) for one in value]
        return self._tidy(value) if key in ("items", "additionalProperties") and isinstance(value, dict) else value


class _Types:
    """Types with all classes that occur in them: structs, enums, and the alternatives of `one_of`."""

    def __init__(self, kinds: Iterable[Any]) -> None:
        self.kinds: dict[str, Any] = {}
        self.classes: dict[Any, inspect.Type] = {}
        for kind in kinds:
            self._add(kind)

    def _add(self, kind: Any) -> None:
        if repr(kind) not in self.kinds:
            self.kinds[repr(kind)] = kind
            self._collect(inspect.type_info(kind))

    def _collect(self, info: inspect.Type) -> None:
        if isinstance(info, inspect.StructType | inspect.EnumType):
            if info.cls in self.classes:
                return
            self.classes[info.cls] = info
        if isinstance(info, inspect.Metadata):
            for kind in (info.extra or {}).get(ALTERNATIVES, ()):
                self._add(kind)
        for inner in list_inner(info):
            self._collect(inner)


def list_structs(kinds: Iterable[Any]) -> list[inspect.StructType]:
    """List the structs that occur in types."""
    return [info for info in _Types(kinds).classes.values() if isinstance(info, inspect.StructType)]


def list_inner(info: inspect.Type) -> Iterable[inspect.Type]:
    """List the types that a type is made of."""
    if isinstance(info, inspect.StructType):
        return [field.type for field in info.fields]
    if isinstance(info, inspect.UnionType):
        return info.types
    if isinstance(info, inspect.TupleType):
        return info.item_types
    if isinstance(info, inspect.DictType):
        return [info.key_type, info.value_type]
    if isinstance(info, inspect.CollectionType):
        return [info.item_type]
    return [info.type] if isinstance(info, inspect.Metadata) else []


def _fields(info: inspect.Type) -> tuple[inspect.Field, ...]:
    return info.fields if isinstance(info, inspect.StructType) else ()


def _is_always_sent(field: inspect.Field) -> bool:
    """Only fields that may be UNSET are absent; msgspec knows those as optional, without a default."""
    has_default = field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT
    return field.required or has_default


def _describe_member(member: Enum) -> dict[str, str]:
    text = find_literal(type(member), member.name)
    return {} if text is None else {"description": as_sentences(text)}


def _choose_names(classes: Iterable[Any]) -> Mapping[Any, str]:
    names: dict[str, Any] = {}
    for cls in classes:
        other = names.setdefault(_name(cls), cls)
        if other is not cls:
            raise TypeError(
                f"{cls} and {other} would both be `{_name(cls)}` in the API description: rename one of them"
            )
    return {cls: name for name, cls in names.items()}


def _name(kind: Any) -> str:
    """`TopicOut` becomes Topic, `CursorPage[TopicOut]` becomes TopicPage, `Reply[list[TopicOut]]` TopicListReply."""
    origin = typing.get_origin(kind)
    if origin is None:
        return str(kind.__name__).removesuffix("Out")
    inner = _name(typing.get_args(kind)[0])
    return inner + ("List" if origin is list else _WORD.findall(origin.__name__)[-1])


def _with_default(description: str, default: Any) -> str:
    return as_sentences(description, f"Default: `{msgspec.json.encode(default).decode()}`")


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter, which is absent rather than null."""
    options = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    if not options:
        return schema
    return options[0] | others if len(options) == 1 else {"anyOf": options} | others


def _text_schema(kind: type) -> dict[str, Any]:
    """The schema of a CheckedText or a file, as a hook for msgspec."""
    if kind is UploadedFile:
        return {"type": "string", "format": "binary"}
    if not issubclass(kind, CheckedText):
        raise NotImplementedError(kind)
    schema: dict[str, Any] = {"type": "string", "description": kind.RULE, "examples": [kind.EXAMPLE]}
    return schema | ({"format": kind.FORMAT} if kind.FORMAT else {})
