"""Limits of request bodies: their size, nesting and number of values, and the memory that all of them take.

No sender can use up the memory of all. Callers with an API key and members share one part.
Everybody else shares a small one: strangers, and the people of inboxes, whose sessions anybody can begin in an
environment that wants no proof.
"""

from array import array
from collections.abc import Hashable
from itertools import accumulate

from clarion.errors import Busy, Malformed, TooLarge
from clarion.http.attempts import network_of
from clarion.http.caller import ANONYMOUS, Caller

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


MAX_CALLERS_BYTES = 224 * MIB
MAX_STRANGERS_BYTES = 32 * MIB
MAX_UNCOUNTED_BYTES = 4 * 1024
"""A body that comes at once and is no larger than this is not counted: a connection has one, and they are limited."""

_BUSY = "The service has received more than it can work on, from you or from all; try again"


class SharedBytes:
    """A number of bytes that is divided among those who hold some of it.

    Nobody may hold more than what is left free. So one holder alone gets half, several get about the same each, and
    something is left for the next one.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.count = 0
        self._held: dict[Hashable, int] = {}

    def add(self, holders: tuple[Hashable, ...], size: int) -> None:
        """Add bytes for each of the holders; raises Busy if that is too much for one of them."""
        free = self._limit - self.count - size
        held = self._held
        for holder in holders:
            if held.get(holder, 0) + size > free:
                raise Busy(_BUSY)
        self.count += size
        for holder in holders:
            held[holder] = held.get(holder, 0) + size

    def release(self, holders: tuple[Hashable, ...], size: int) -> None:
        self.count -= size
        for holder in holders:
            left = self._held[holder] - size
            if left:
                self._held[holder] = left
            else:
                del self._held[holder]


class HeldBody:
    """What the body of one request takes."""

    __slots__ = ("_holders", "_shared", "size")

    def __init__(self, shared: SharedBytes, holders: tuple[Hashable, ...]) -> None:
        self._shared = shared
        self._holders = holders
        self.size = 0

    def add(self, size: int) -> None:
        if size:
            self._shared.add(self._holders, size)
            self.size += size

    def release(self) -> None:
        if self.size:
            self._shared.release(self._holders, self.size)
            self.size = 0


class BodyMemory:
    """The bodies of all requests under way."""

    def __init__(self, *, callers: int = MAX_CALLERS_BYTES, strangers: int = MAX_STRANGERS_BYTES) -> None:
        self._callers = SharedBytes(callers)
        self._strangers = SharedBytes(strangers)

    def open(self, caller: Caller, address: str) -> HeldBody:
        """What a request is going to hold: on account of its environment or member, or of its address and person."""
        if caller is ANONYMOUS:
            return HeldBody(self._strangers, (network_of(address),))
        if caller.session is not None:
            return HeldBody(self._strangers, (network_of(address), caller.session.subscriber_id))
        return HeldBody(self._callers, (caller.environment_id if caller.member is None else caller.member.id,))
