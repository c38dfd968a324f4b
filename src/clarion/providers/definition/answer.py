"""HTTP answers of providers: reading values and message ids from them."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.providers.definition.result import Sent


class ProviderAnswer(Struct, frozen=True, kw_only=True, dict=True):
    """The answer to a call; `text` is truncated at MAX_ANSWER bytes."""

    status: int
    text: str
    headers: Mapping[str, str]
    """By lower-case names."""
    retry_after: int | None
    """Seconds from the Retry-After header."""
    received_at: Millis

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: str) -> str:
        """The value of a header, empty if it is absent; the case of its name does not matter."""
        return self.headers.get(name.lower(), "")

    @cached_property
    def json(self) -> Any:
        """The decoded body; None if it is not JSON."""
        try:
            return msgspec.json.decode(self.text)
        except (msgspec.DecodeError, RecursionError):
            return None

    def values(self, path: str) -> list[Any]:
        """All values at a dotted path into the JSON; a number is an index of a list, `*` is every element."""
        return list(values_at(self.json, path))

    def value(self, path: str) -> Any:
        """The first value at the path, or None."""
        return next(values_at(self.json, path), None)


class SendContext(NamedTuple):
    """The account and the message that an answer belongs to."""

    account: Any
    message: Any


ReadSent = Callable[[ProviderAnswer, SendContext], str | Sent | None]
"""Reads the provider's message id, or a whole result, from its answer; None if the id is missing."""


def values_at(document: Any, path: str) -> Iterator[Any]:
    name, _, rest = path.partition(".")
    for value in _members(document, name):
        if rest:
            yield from values_at(value, rest)
        elif value is not None:
            yield value


def json_id(*paths: str) -> ReadSent:
    """Read the id at the first of these paths that has a value; a number becomes a text."""

    def read(answer: ProviderAnswer, _: SendContext) -> str | None:
        for path in paths:
            value = answer.value(path)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    return read


def header_id(name: str) -> ReadSent:
    return lambda answer, _: answer.header(name) or None


def text_id(pattern: str) -> ReadSent:
    """Read the id from the first group of the pattern, anywhere in the text."""
    compiled = re.compile(pattern)

    def read(answer: ProviderAnswer, _: SendContext) -> str | None:
        found = compiled.search(answer.text)
        return found.group(1).strip() if found else None

    return read


def own_id(_: ProviderAnswer, context: SendContext) -> str:
    """Return our own message id, for providers that return none."""
    message_id: str = context.message.message_id
    return message_id


def either(*readers: ReadSent) -> ReadSent:
    """Try these readers in order and return the first id found."""

    def read(answer: ProviderAnswer, context: SendContext) -> str | Sent | None:
        for one in readers:
            found = one(answer, context)
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
