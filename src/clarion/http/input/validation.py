"""Typed input: bodies are decoded in one step; only if that fails, all problems are collected field by field."""

import functools
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import islice
from typing import Any, TypeVar

import msgspec
from msgspec import UnsetType

from clarion.errors import Invalid, Malformed, Problem
from clarion.http.input.unknown import MAX_WARNINGS, Contract, InputWarning, strict
from clarion.http.wire import CheckedText, Wire, parse_checked
from clarion.vocabulary import suggestion

T = TypeVar("T", bound=Wire)

Found = tuple[str, Problem]

MAX_PROBLEMS = 100
"""How many problems of a body are reported: an array may have a million wrong items."""

_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
    "any": "anything",
}
_EXPECTED = re.compile(r"Expected `([^`]+)`(?: (?!- at)(.+?))?(?:, got `([^`]+)`)?(?: - at .*)?$")


def make_body_reader(shape: type[T], contract: Contract = Contract.OWN) -> Callable[[bytes, list[InputWarning]], T]:
    """Returns a function that decodes JSON into `shape`; it raises Malformed, or Invalid with all problems.

    Unknown members are a problem in our own operations. In those of the published contract, warnings are appended.
    """
    decoder = msgspec.json.Decoder(strict(shape), dec_hook=parse_checked)

    def read(content: bytes, warnings: list[InputWarning]) -> T:
        try:
            body = decoder.decode(content)
        except msgspec.ValidationError as error:
            body = _read_again(_decode_any(content), shape, contract, warnings, str(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Malformed(f"The body is not valid JSON: {error}") from None
        if b"\\u0000" in content:
            _refuse_nul(_decode_any(content))
        return body

    return read


def _read_again(value: Any, shape: type[T], contract: Contract, warnings: list[InputWarning], first_problem: str) -> T:
    """Read what is no strict `shape`: perhaps it only has members that are unknown."""
    if contract is Contract.OWN:
        raise Invalid(_collect(find_problems(value, strict(shape), ""), first_problem))
    try:
        return convert_leniently(value, shape, "", warnings)
    except msgspec.ValidationError as error:
        raise Invalid(_collect(find_problems(value, shape, ""), str(error))) from None


def convert_leniently(value: Any, shape: type[T], path: str, warnings: list[InputWarning]) -> T:
    """Convert a value and append a warning for each unknown member; raises msgspec.ValidationError."""
    converted = msgspec.convert(value, shape, dec_hook=parse_checked)
    unknown = islice(list_unknown(value, shape, path), MAX_WARNINGS)
    warnings.extend(InputWarning(where, problem.message) for where, problem in unknown)
    return converted


def find_problems(value: Any, shape: Any, path: str) -> Iterator[Found]:
    """All reasons why `value` is not a valid `shape`, each with its path."""
    try:
        msgspec.convert(value, shape, dec_hook=parse_checked)
    except msgspec.ValidationError as error:
        first = None
        for first in _inside(value, _unwrap(shape), path):
            yield first
        if first is None:
            yield path or "body", Problem(_explain(str(error), shape), _repeatable(value, path))


def _repeatable(value: Any, path: str) -> Any:
    """The value to repeat in the response; None for credentials, and for a whole body, which may contain some."""
    return None if not path or "credentials" in path.split(".") else value


def _inside(value: Any, shape: Any, path: str) -> Iterator[Found]:
    if _is_object(value, shape):
        yield from _inside_object(value, shape, path)
    for item, kind, where in _items(value, shape, path):
        yield from find_problems(item, kind, where)


def _inside_object(value: dict[str, Any], shape: type[Wire], path: str) -> Iterator[Found]:
    types_of = _types_of_members(shape)
    for field in msgspec.structs.fields(shape):
        where = _join(path, field.encode_name)
        if field.encode_name in value:
            yield from find_problems(value[field.encode_name], types_of[field.encode_name], where)
        elif field.required:
            yield where, Problem("is required")
    if shape.__struct_config__.forbid_unknown_fields:
        for name in value.keys() - types_of.keys():
            yield _join(path, name), unknown_member(name, types_of)


def unknown_member(name: str, known: Iterable[str]) -> Problem:
    """What is said of a member that nothing reads."""
    return Problem(f"is not known here: nothing reads it{suggestion(name, known)}")


def list_unknown(value: Any, shape: Any, path: str = "") -> Iterator[Found]:
    """The members of objects that the shape does not have, at any depth."""
    shape = _unwrap(shape)
    if _is_object(value, shape):
        types_of = _types_of_members(shape)
        for name, inner in value.items():
            if name in types_of:
                yield from list_unknown(inner, types_of[name], _join(path, name))
            else:
                yield _join(path, name), unknown_member(name, types_of)
    for item, kind, where in _items(value, shape, path):
        yield from list_unknown(item, kind, where)


def _is_object(value: Any, shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, Wire) and isinstance(value, dict)


def _items(value: Any, shape: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """The items of an array, or of an object whose members have any name, with their types and paths."""
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if origin in (list, tuple) and isinstance(value, list):
        for number, item in enumerate(value):
            yield item, arguments[0], _join(path, str(number))
    elif origin is dict and isinstance(value, dict):
        for name, item in value.items():
            yield item, arguments[1], _join(path, name)


@functools.cache
def _types_of_members(shape: type[Wire]) -> dict[str, Any]:
    """The types of a shape's members by their names in JSON; cached, because evaluating annotations is slow."""
    hints = typing.get_type_hints(shape, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(shape)}


def _unwrap(shape: Any) -> Any:
    """The type inside an annotated or optional type; of a union, its structured member."""
    if typing.get_origin(shape) is typing.Annotated:
        return _unwrap(typing.get_args(shape)[0])
    if typing.get_origin(shape) in (typing.Union, types.UnionType):
        inner = [one for one in typing.get_args(shape) if one not in (type(None), UnsetType)]
        structured = [
            one for one in inner if typing.get_origin(one) or (isinstance(one, type) and issubclass(one, Wire))
        ]
        chosen = inner[0] if len(inner) == 1 else structured[0] if structured else shape
        return shape if chosen is shape else _unwrap(chosen)
    return shape


def _explain(message: str, shape: Any) -> str:
    """Translate a message of msgspec into one that says what is expected."""
    kind = _unwrap(shape)
    if isinstance(kind, type) and issubclass(kind, CheckedText):
        return kind.RULE
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"must be one of {', '.join(str(one.value) for one in kind)}"
    match = _EXPECTED.match(message)
    if match is None:
        return message.partition(" - at ")[0]
    expected = " or ".join(_WORDS.get(word, word) for word in match[1].split(" | "))
    limit = f" {match[2]}" if match[2] else ""
    got = f", not {_WORDS.get(match[3], match[3])}" if match[3] else ""
    return f"must be {expected}{limit}{got}"


def _collect(places: Iterator[Found], fallback: str) -> dict[str, list[Problem]]:
    problems: dict[str, list[Problem]] = {}
    for path, problem in islice(places, MAX_PROBLEMS):
        problems.setdefault(path, []).append(problem)
    # Empty if only decoding fails, as for a number beyond 64 bits.
    return problems or {"body": [Problem(fallback)]}


def _decode_any(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.ValidationError as error:
        raise Invalid.field("body", f"holds a number that cannot be kept: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"The body is not valid JSON: {error}") from None


def _refuse_nul(value: Any) -> None:
    paths = islice(_nul_paths(value, ""), MAX_PROBLEMS)
    problems = {path: [Problem("must not contain the character U+0000")] for path in paths}
    if problems:
        raise Invalid(problems)


def _nul_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str) and "\x00" in value:
        yield path or "body"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _nul_paths(item, _join(path, str(number)))
    elif isinstance(value, dict):
        for key, item in value.items():
            if "\x00" in key:
                yield path or "body"
            yield from _nul_paths(item, _join(path, key))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
