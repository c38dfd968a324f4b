"""Limits of request bodies: size, nesting and the number of values."""

from array import array
from itertools import accumulate

from clarion.errors import Malformed, TooLarge

MIB = 1024 * 1024
SMALL_BODY = MIB
LARGE_BODY = 26 * MIB
MAX_NESTING = 64
MAX_VALUES = 1_000_000
"""How many values a body may have: decoding is one uninterruptible step, and takes about 0.1 s for this many."""

# Each piece takes a few milliseconds, and other threads can run between two of them.
_PIECE = 64 * 1024
_MIN_BYTES = 2 * MAX_VALUES
_NOT_OPENING = bytes(set(range(256)) - set(b"[{"))
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"The body has more than the {limit} bytes that this operation takes")


def check_nesting(body: bytes, piece: int = _PIECE) -> None:
    """Refuse JSON that is nested too deep or has too many values, before anything parses it recursively.

    The time is linear in the size, whatever the content.
    """
    if len(body) < _MIN_BYTES and len(body.translate(None, _NOT_OPENING)) <= MAX_NESTING:
        return
    if b"\\" in body:
        # Without escapes, each quotation mark starts or ends a string.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth = values = 0
    in_string = False
    for start in range(0, len(body), piece):
        parts = body[start : start + piece].split(b'"')
        outside = b"".join(parts[in_string::2])
        in_string ^= len(parts) % 2 == 0
        steps = outside.translate(_STEPS, _NOT_BRACKETS)
        opened = steps.count(1)
        if depth + opened > MAX_NESTING and max(accumulate(array("b", steps), initial=depth)) > MAX_NESTING:
            raise Malformed(f"The body is not valid JSON, or nested deeper than {MAX_NESTING} levels")
        depth += 2 * opened - len(steps)
        values += opened + outside.count(b",")
        if values > MAX_VALUES:
            raise TooLarge(f"The body has more than the {MAX_VALUES} values that an operation takes")
