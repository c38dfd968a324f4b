"""Warnings: what of an accepted request is not done as its caller may think, told in a header of the response."""

import json
from collections.abc import Sequence

from msgspec import Struct

from clarion.http.static import HeaderList

HEADER_NAME = "Clarion-Warnings"
MAX_WARNINGS = 20
_HEADER = HEADER_NAME.lower().encode()
_MAX_HEADER_BYTES = 3_500
"""Proxies and clients refuse responses with long headers, many above 4 or 8 KB in all."""
_MAX_PATH = 100


class InputWarning(Struct, frozen=True):
    """Something about a field of a request; `message` continues a sentence that begins with the path."""

    path: str
    message: str

    @property
    def text(self) -> str:
        path = self.path if len(self.path) <= _MAX_PATH else f"{self.path[:_MAX_PATH]}…"
        return f"{path} {self.message}"


def warning_headers(warnings: Sequence[InputWarning]) -> HeaderList:
    """The header with an array of sentences as JSON, in ASCII; none if there are no warnings."""
    if not warnings:
        return []
    texts = list(dict.fromkeys(one.text for one in warnings))
    for count in range(min(len(texts), MAX_WARNINGS), 0, -1):
        more = [f"and {len(texts) - count} more"] if count < len(texts) else []
        content = json.dumps([*texts[:count], *more]).encode()
        if len(content) <= _MAX_HEADER_BYTES:
            return [(_HEADER, content)]
    return [(_HEADER, json.dumps([f"{len(texts)} warnings, too long for a header"]).encode())]
