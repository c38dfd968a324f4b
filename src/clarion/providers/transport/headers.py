"""Checking the headers of a request: triggers may set any, also such that would break it."""

import re
from collections.abc import Mapping

from clarion.providers.definition.result import FailureKind, SendFailure

# They say where the request ends, or what becomes of the connection.
_OURS = frozenset(
    {"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise SendFailure for a header that would end the request early, start another one, or is no header."""
    for name, value in headers.items():
        if name.lower() in _OURS:
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' is set by Clarion and cannot be overridden")
        if not _NAME.fullmatch(name):
            raise SendFailure(FailureKind.PERMANENT, f"'{name}' cannot be the name of a header")
        if _CONTROL.search(value):
            raise SendFailure(FailureKind.PERMANENT, f"The header '{name}' has control characters")
