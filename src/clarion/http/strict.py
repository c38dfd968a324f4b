"""Strict variants of request shapes, which refuse unknown members at every depth.

Decoding a strict variant costs no more than decoding the shape. An instance of it is an instance of the shape, too.
"""

import functools
import operator
import types
import typing
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import field

from clarion.http.wire import Wire

T = TypeVar("T", bound=Wire)

_made: dict[type[Wire], type[Wire]] = {}


def strict(shape: type[T]) -> type[T]:
    """Return the subclass of the shape that refuses unknown members, also of the shapes inside."""
    if shape not in _made:
        hints = typing.get_type_hints(shape, include_extras=True)
        nested = [one for one in msgspec.structs.fields(shape) if _has_shape(hints[one.name])]
        namespace: dict[str, Any] = {"__module__": shape.__module__, "__doc__": shape.__doc__}
        namespace |= {one.name: _redeclare(one) for one in nested}
        namespace["__annotations__"] = {one.name: hints[one.name] for one in nested}
        metaclass: Any = type(shape)
        variant = metaclass(shape.__name__, (shape,), namespace, forbid_unknown_fields=True)
        # Before the types of the members, which may contain the shape itself. msgspec reads them when it first decodes.
        _made[shape] = variant
        variant.__annotations__.update({one.name: _strict_kind(hints[one.name]) for one in nested})
    return typing.cast("type[T]", _made[shape])


def _redeclare(info: msgspec.structs.FieldInfo) -> Any:
    if info.default_factory is not msgspec.NODEFAULT:
        return field(default_factory=info.default_factory, name=info.encode_name)
    return field(default=info.default, name=info.encode_name)


def _has_shape(kind: Any) -> bool:
    if _is_shape(kind):
        return True
    return any(_has_shape(inner) for inner in _types_inside(kind))


def _is_shape(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Wire)


def _types_inside(kind: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return ()
    return typing.get_args(kind)[:1] if origin is Annotated else typing.get_args(kind)


def _strict_kind(kind: Any) -> Any:
    if _is_shape(kind):
        return strict(kind)
    if not _has_shape(kind):
        return kind
    origin, inner = typing.get_origin(kind), [_strict_kind(one) for one in _types_inside(kind)]
    if origin is Annotated:
        return Annotated[(*inner, *kind.__metadata__)]
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, inner)
    return origin[tuple(inner)]
