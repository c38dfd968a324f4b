"""Answers of providers over HTTP: values inside of them, and where the id of a message is."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from clarion.clock import Millis
from clarion.providers.definition.result import Sent


@dataclass(frozen=True, kw_only=True)
class ProviderAnswer:
    """What came back; `text` is cut at the limit for answers."""

    status: int
    text: str
    headers: Mapping[str, str]
    """By names in any case."""
    retry_after: int | None
    """Seconds, where the answer asks for patience."""
    received_at: Millis

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @cached_property
    def json(self) -> Any:
        """The body as a value; None where it is no JSON."""
        try:
            return msgspec.json.decode(self.text)
        except (msgspec.DecodeError, RecursionError):
            return None

    def values(self, path: str) -> list[Any]:
        """Every value at a dotted path into the JSON; digits are places in a list, `*` is each of them."""
        return list(values_at(self.json, path))

    def value(self, path: str) -> Any:
        """The first value at the path, or None."""
        return next(values_at(self.json, path), None)


class Handed(NamedTuple):
    """What an answer is about."""

    account: Any
    message: Any


ReadSent = Callable[[ProviderAnswer, Handed], str | Sent | None]
"""The provider's id of a message out of its answer, or all that there is to say; None where the id is missing."""


def values_at(document: Any, path: str) -> Iterator[Any]:
    name, _, rest = path.partition(".")
    for value in _members(document, name):
        if rest:
            yield from values_at(value, rest)
        elif value is not None:
            yield value


def json_id(*paths: str) -> ReadSent:
    """The value at the first of these paths that has one; numbers become texts."""

    def read(answer: ProviderAnswer, _: Handed) -> str | None:
        for path in paths:
            value = answer.value(path)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    return read


def header_id(name: str) -> ReadSent:
    return lambda answer, _: answer.headers.get(name) or None


def text_id(pattern: str) -> ReadSent:
    """The first group of the pattern, wherever the text has it."""
    compiled = re.compile(pattern)

    def read(answer: ProviderAnswer, _: Handed) -> str | None:
        found = compiled.search(answer.text)
        return found.group(1).strip() if found else None

    return read


def own_id(_: ProviderAnswer, handed: Handed) -> str:
    """Our own id, for providers that name none."""
    message_id: str = handed.message.message_id
    return message_id


def either(*readers: ReadSent) -> ReadSent:
    """What the first of these readers finds."""

    def read(answer: ProviderAnswer, handed: Handed) -> str | Sent | None:
        for one in readers:
            found = one(answer, handed)
            if found is not None:
                return found
        return None

    return read


def _members(document: Any, name: str) -> Iterator[Any]:
    if name == "*":
        if isinstance(document, list):
            yield from document
    elif isinstance(document, Mapping):
        if name in document:
            yield document[name]
    elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
        yield document[int(name)]
