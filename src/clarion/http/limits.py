"""What a request body may weigh and how deep it may nest."""

import re

from clarion.errors import Malformed, TooLarge

MIB = 1024 * 1024
SMALL_BODY = MIB
LARGE_BODY = 26 * MIB
DEEPEST = 64

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INNERMOST = re.compile(rb"\[\]|\{\}")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"The body has more than the {limit} bytes that this operation takes")


def check_nesting(body: bytes) -> None:
    """Refuse JSON that is nested too deep, before anything recurses into it."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    for _ in range(DEEPEST):
        # Each pass takes the innermost level away.
        brackets = _INNERMOST.sub(b"", brackets)
        if not brackets:
            return
    raise Malformed(f"The body is not valid JSON, or nested deeper than {DEEPEST} levels")
