"""Examples for the API description, generated from types and field names: those of responses, and of small requests."""

from typing import Any

from msgspec import inspect

from clarion.http.description.request_examples import ID
from clarion.http.wire import ALTERNATIVES, CheckedText

_NAMED: dict[str, Any] = {
    "subscriberId": "ada",
    "externalSubscriberId": "ada",
    "subscriberIds": ["ada"],
    "firstName": "Ada",
    "lastName": "Lovelace",
    "email": "ada@example.com",
    "phone": "+441632960000",
    "avatar": "https://example.com/ada.png",
    "locale": "en-GB",
    "timezone": "Europe/London",
    "data": {"plan": "pro"},
    "payload": {"order": 42},
    "providerId": "fcm",
    "integrationIdentifier": "fcm-main",
    "identifier": "main",
    "deviceTokens": ["a-device-token"],
    "webhookUrl": "https://hooks.example.com/abc",
    "topicKey": "release-news",
    "name": "Example",
    "key": "release-news",
    "transactionId": "order-42",
    "to": {"subscriberId": "ada"},
    "actor": {"subscriberId": "ada"},
    "origin": "svc-cloud",
    "next": None,
    "previous": None,
    "totalCount": 1,
    "totalCountCapped": False,
    "hasMore": False,
    "pageSize": 1,
    "page": 0,
    "deleted": False,
    "__v": 0,
}
_MAX_DEPTH = 6


def example_of(kind: Any) -> Any:
    """A realistic value of the type."""
    return _example(inspect.type_info(kind), "", 0)


def _example(info: inspect.Type, name: str, depth: int) -> Any:
    if isinstance(info, inspect.Metadata):
        alternatives = (info.extra or {}).get(ALTERNATIVES)
        return _example(inspect.type_info(alternatives[0]) if alternatives else info.type, name, depth)
    if isinstance(info, inspect.UnionType):
        return _example(_choose_member(info), name, depth)
    if isinstance(info, inspect.StructType):
        return {
            field.encode_name: _field_example(field, depth)
            for field in info.fields
            if depth < _MAX_DEPTH or field.required
        }
    if isinstance(info, inspect.ListType | inspect.VarTupleType):
        return [_example(info.item_type, name.removesuffix("s"), depth + 1)]
    return _plain(info, name)


def _field_example(field: inspect.Field, depth: int) -> Any:
    name = field.encode_name
    info = field.type
    if name in _NAMED and not _contains_struct(info) and _has_kind_of(_NAMED[name], info):
        return _NAMED[name]
    return _example(info, name, depth + 1)


def _plain(info: inspect.Type, name: str) -> Any:
    if isinstance(info, inspect.EnumType):
        return next(iter(info.cls)).value
    if isinstance(info, inspect.LiteralType):
        return info.values[0]
    if isinstance(info, inspect.CustomType) and issubclass(info.cls, CheckedText):
        return info.cls.EXAMPLE
    if isinstance(info, inspect.IntType):
        return info.ge or 1
    if isinstance(info, inspect.StrType):
        return _text(name)
    by_kind = {inspect.BoolType: True, inspect.FloatType: 1.0, inspect.DictType: {}, inspect.AnyType: {}}
    return by_kind.get(type(info))


def _text(name: str) -> str:
    if name.startswith("_"):
        return ID
    if name.endswith(("At", "Date", "timestamp", "Until")):
        return "2026-01-31T09:30:00.000Z"
    return name or "text"


def _choose_member(info: inspect.UnionType) -> inspect.Type:
    """The most instructive member of a union: an object or array before a scalar, anything before null."""
    present = [one for one in info.types if not isinstance(one, inspect.NoneType)]
    structured = [one for one in present if isinstance(one, inspect.StructType | inspect.ListType)]
    return (structured or present)[0]


def _has_kind_of(value: Any, info: inspect.Type) -> bool:
    """Whether both are flags or neither is, and the value is no object where a text is needed."""
    kind = info.types[0] if isinstance(info, inspect.UnionType) else info
    is_text = isinstance(kind, inspect.StrType)
    return isinstance(value, bool) is isinstance(kind, inspect.BoolType) and not (is_text and isinstance(value, dict))


def _contains_struct(info: inspect.Type) -> bool:
    if isinstance(info, inspect.UnionType):
        return any(map(_contains_struct, info.types))
    if isinstance(info, inspect.ListType):
        return _contains_struct(info.item_type)
    return isinstance(info, inspect.StructType)
