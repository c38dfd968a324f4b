"""The functions of operations as they are annotated: their parameters, and what they return."""

import inspect
import re
import typing
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from clarion.errors import NotFound, RequestError
from clarion.http.responses import JsonResponse
from clarion.http.streams import StreamResponse
from clarion.ids import find_id

Handler = Callable[..., Coroutine[Any, Any, Any]]

_PARAMETER = re.compile(r"\{(\w+)\}")


def check_parameters(
    handler: Handler, path: str, context: Any, shapes: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """Compare the parameters of a handler with what it will be called with; returns the types of the path's."""
    hints = typing.get_type_hints(handler, include_extras=True)
    names = list(inspect.signature(handler).parameters)
    path_names = _PARAMETER.findall(path)
    expected = ["a call", *path_names, *shapes]
    if len(names) != len(expected) or names[1 + len(path_names) :] != list(shapes):
        raise TypeError(f"{handler.__qualname__}: takes ({', '.join(names)}), but must take ({', '.join(expected)})")
    for name, kind in {names[0]: context, **shapes}.items():
        if hints.get(name) != kind:
            raise TypeError(f"{handler.__qualname__}: parameter '{name}' must be annotated as {kind}")
    return tuple((name, hints[given]) for name, given in zip(path_names, names[1:], strict=False))


def result_of(handler: Handler) -> Any:
    """What a response or an event has."""
    hint = _return_of(handler)
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (JsonResponse, StreamResponse) else hint


def result_of_batch(handler: Handler) -> Any:
    """The result for one request of the batch, next to the error that may take its place."""
    hint = _return_of(handler)
    outcomes = typing.get_args(typing.get_args(hint)[0]) if typing.get_origin(hint) is list else ()
    results = [kind for kind in outcomes if kind is not RequestError]
    if len(results) != 1 or len(outcomes) != 2:
        raise TypeError(f"{handler.__qualname__}: a batched operation must return list[result | RequestError]")
    return results[0]


def returns_stream(handler: Handler) -> bool:
    return typing.get_origin(_return_of(handler)) is StreamResponse


def read_path_value(kind: Any, text: str) -> Any:
    """A parameter of the path in the type of the handler; raises NotFound for a malformed id."""
    if getattr(kind, "__supertype__", None) is not bytes:
        return text
    value = find_id(text)
    if value is None:
        raise NotFound(kind.__name__.removesuffix("Id"), text)
    return value


def _return_of(handler: Handler) -> Any:
    return typing.get_type_hints(handler, include_extras=True)["return"]
