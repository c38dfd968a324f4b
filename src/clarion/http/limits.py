"""Limits of request bodies: size and nesting."""

import re

from clarion.errors import Malformed, TooLarge

MIB = 1024 * 1024
SMALL_BODY = MIB
LARGE_BODY = 26 * MIB
MAX_NESTING = 64

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INNERMOST = re.compile(rb"\[\]|\{\}")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"The body has more than the {limit} bytes that this operation takes")


def check_nesting(body: bytes) -> None:
    """Refuse JSON that is nested too deep, before anything parses it recursively."""
    if body.count(b"[") + body.count(b"{") <= MAX_NESTING:
        return
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    for _ in range(MAX_NESTING):
        # Each pass removes the innermost level.
        brackets = _INNERMOST.sub(b"", brackets)
        if not brackets:
            return
    raise Malformed(f"The body is not valid JSON, or nested deeper than {MAX_NESTING} levels")
