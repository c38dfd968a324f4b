"""Sizes that providers limit: a message that is too large fails before it is sent, with both numbers."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clarion.jsontext import encode_json
from clarion.providers.definition.result import FailureKind, SendFailure


class Size(NamedTuple):
    """The size of a part of a request, and the largest that the provider accepts."""

    what: str
    bytes: int
    limit: int


def check_sizes(provider_name: str, sizes: Iterable[Size]) -> None:
    """Raise SendFailure if one of these is too large."""
    for one in sizes:
        if one.bytes > one.limit:
            message = (
                f"{one.what} has {one.bytes} bytes, and {provider_name} accepts {one.limit} at most; "
                "shorten the text, the data of the step or the payload of the trigger"
            )
            raise SendFailure(FailureKind.PERMANENT, message)


def json_bytes(value: Any) -> int:
    return len(encode_json(value))


def text_bytes(fields: Mapping[str, Any]) -> int:
    """Count the bytes of names and texts alone, for providers that count no punctuation."""
    return sum(len(name.encode()) + len(str(value).encode()) for name, value in fields.items())
