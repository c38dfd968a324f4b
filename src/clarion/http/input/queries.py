"""Query strings: parsed into a Wire shape; all parameters that are not valid are reported."""

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import inspect

from clarion.errors import Invalid, Malformed, Problem
from clarion.http.input.unknown import Contract, InputWarning
from clarion.http.input.validation import MAX_PROBLEMS, find_problems, unknown_member
from clarion.http.wire import CheckedText, Wire, parse_checked

T = TypeVar("T", bound=Wire)

# Clients generated from the API send numbers as floats: 3.0 is 3.
_NUMBER = re.compile(r"(-?[0-9]{1,15})(?:\.0*)?")
_MAX_CACHED_BYTES = 1024
_BOOLEANS = {"true": True, "false": False}
_IN_ARRAY = re.compile(r"^([^\[\]]+)\[[0-9]*\]$")
# `tags[0][]=a`: the value belongs to group 0 of `tags`.
_IN_GROUP = re.compile(r"([^\[\]]+)\[([0-9]+)\]\[[0-9]*\]")


class _Groups:
    """Marks a parameter that is an array of arrays."""


def make_query_reader(shape: type[T], contract: Contract = Contract.OWN) -> Callable[[bytes, list[InputWarning]], T]:
    """Returns a function that parses a raw query string into `shape`; it raises Invalid with all problems.

    Unknown parameters are a problem in our own operations. In those of the published contract, warnings are appended.
    """
    kinds = {field.encode_name: _kind(field.type) for field in _fields(shape)}
    groups = {name for name, kind in kinds.items() if kind is _Groups}
    empty = {field.encode_name for field in _fields(shape) if _has_empty_items(field.type)}
    singles = _list_singles(kinds, contract)
    defaults = msgspec.convert({}, shape, dec_hook=parse_checked) if not _required(shape) else None

    def read(raw: bytes) -> tuple[T, dict[str, list[Problem]]]:
        """Returns the query, and the problems that only warnings are given of."""
        if not raw and defaults is not None:
            return defaults, {}
        texts_of = parse_query(raw)
        unknown = find_unknown(texts_of, kinds, groups) if contract is not Contract.FOREIGN else {}
        values = {
            name: _value(kinds[name], texts)
            for name, texts in texts_of.items()
            if name in kinds and (texts != [""] or kinds[name] is str or name in empty)
        }
        if groups:
            _add_groups(values, texts_of, groups)
        problems: dict[str, list[Problem]] = {} if contract is Contract.PUBLISHED else dict(unknown)
        problems |= _find_repeated(texts_of, singles)
        try:
            query = msgspec.convert(values, shape, dec_hook=parse_checked)
        except msgspec.ValidationError:
            for path, problem in find_problems(values, shape, ""):
                problems.setdefault(path.partition(".")[0], []).append(problem)
        if problems:
            raise Invalid(problems)
        return query, unknown

    # Every inbox and every page of the dashboard sends the same few.
    read_cached = functools.lru_cache(maxsize=32)(read)

    def read_and_warn(raw: bytes, warnings: list[InputWarning]) -> T:
        query, unknown = (read_cached if len(raw) <= _MAX_CACHED_BYTES else read)(raw)
        warnings.extend(InputWarning(name, problem.message) for name, (problem,) in unknown.items())
        return query

    return read_and_warn


def find_unknown(
    given: Iterable[str], known: Collection[str], groups: Collection[str] = ()
) -> dict[str, list[Problem]]:
    """The parameters that are not known, each with what is said of it."""
    names = [name for name in given if name not in known and _group_of(name) not in groups]
    return {name: [unknown_member(name, known)] for name in names[:MAX_PROBLEMS]}


def _list_singles(kinds: dict[str, type], contract: Contract) -> frozenset[str]:
    """The parameters that must not be repeated: of two values, chance would say which counts.

    Of what providers send, the last value counts.
    """
    if contract is Contract.FOREIGN:
        return frozenset()
    return frozenset(name for name, kind in kinds.items() if kind not in (list, _Groups))


def _find_repeated(texts_of: dict[str, list[str]], singles: Collection[str]) -> dict[str, list[Problem]]:
    return {
        name: [Problem(f"must be given once, not {len(texts)} times")]
        for name, texts in texts_of.items()
        if len(texts) > 1 and name in singles
    }


def _group_of(name: str) -> str | None:
    match = _IN_GROUP.fullmatch(name)
    return None if match is None else match[1]


def list_optional_values(shape: type[Wire]) -> frozenset[str]:
    """The parameters that may have an empty value, which is the same as none; an empty text is a value."""
    return frozenset(field.encode_name for field in _fields(shape) if _kind(field.type) is not str)


def parse_query(raw: bytes) -> dict[str, list[str]]:
    """The values of each name in order; `name[]` and `name[0]` are the same as `name` repeated."""
    texts_of: dict[str, list[str]] = {}
    for name, value in _pairs(raw):
        texts_of.setdefault(_IN_ARRAY.sub(r"\1", name) if "[" in name else name, []).append(value)
    return texts_of


def _add_groups(values: dict[str, Any], texts_of: dict[str, list[str]], groups: set[str]) -> None:
    """Add the groups that are numbered; values without a number are one group."""
    numbered: dict[tuple[str, int], list[str]] = {}
    for name, texts in texts_of.items():
        match = _IN_GROUP.fullmatch(name)
        if match is not None and match[1] in groups:
            numbered.setdefault((match[1], int(match[2])), []).extend(texts)
    for (name, _), texts in sorted(numbered.items()):
        values.setdefault(name, []).append(texts)


def _pairs(raw: bytes) -> Iterator[tuple[str, str]]:
    for pair in raw.split(b"&"):
        if not pair:
            continue
        name, _, value = pair.partition(b"=")
        yield _text(name), _text(value)


def _text(raw: bytes) -> str:
    return _cached_text(raw) if len(raw) <= _MAX_CACHED_BYTES else _decode_text(raw)


def _decode_text(raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise Malformed("The query string is not valid UTF-8") from None
    if "\x00" in text:
        raise Malformed("The query string must not contain the character U+0000")
    return text


# Names are few, and some values come again and again, such as the filters of every inbox.
_cached_text = functools.lru_cache(maxsize=1024)(_decode_text)


def _fields(shape: type[Wire]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(shape)
    return info.fields if isinstance(info, inspect.StructType) else ()


def _required(shape: type[Wire]) -> bool:
    return any(field.required for field in _fields(shape))


def _kind(info: inspect.Type) -> type:
    if isinstance(info, inspect.UnionType):
        return _kind(next(one for one in info.types if not isinstance(one, inspect.NoneType)))
    if isinstance(info, inspect.IntType):
        return int
    if isinstance(info, inspect.BoolType):
        return bool
    if isinstance(info, inspect.ListType | inspect.VarTupleType):
        return _Groups if isinstance(info.item_type, inspect.ListType | inspect.VarTupleType) else list
    return str


def _has_empty_items(info: inspect.Type) -> bool:
    """Whether it is an array of texts that may be empty: a single empty value is one item then."""
    if isinstance(info, inspect.UnionType):
        return any(map(_has_empty_items, info.types))
    item = info.item_type if isinstance(info, inspect.ListType) else None
    return isinstance(item, inspect.CustomType) and issubclass(item.cls, CheckedText) and item.cls.accepts("")


def _value(kind: type, texts: list[str]) -> Any:
    """The value in its type, or the text if it is not valid: conversion to the shape then reports the problem."""
    if kind is list:
        return texts
    if kind is _Groups:
        return [texts]
    text = texts[-1]
    if kind is int:
        match = _NUMBER.fullmatch(text)
        return int(match[1]) if match else text
    return _BOOLEANS.get(text, text) if kind is bool else text
