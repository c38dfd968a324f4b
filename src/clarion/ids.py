"""Identifiers: ours (`…Id`, 16 bytes, time-ordered), and those that callers choose (`…Key`, text); random bytes."""

import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from typing import NewType

from clarion.clock import Millis

OrganizationId = NewType("OrganizationId", bytes)
EnvironmentId = NewType("EnvironmentId", bytes)
ApiKeyId = NewType("ApiKeyId", bytes)
SubscriberId = NewType("SubscriberId", bytes)
SegmentId = NewType("SegmentId", bytes)
ScheduleId = NewType("ScheduleId", bytes)
TopicId = NewType("TopicId", bytes)
SubscriptionId = NewType("SubscriptionId", bytes)
IntegrationId = NewType("IntegrationId", bytes)
WorkflowId = NewType("WorkflowId", bytes)
WorkflowVersionId = NewType("WorkflowVersionId", bytes)
LayoutId = NewType("LayoutId", bytes)
LayoutVersionId = NewType("LayoutVersionId", bytes)
ContextId = NewType("ContextId", bytes)
VariableId = NewType("VariableId", bytes)
ConnectionId = NewType("ConnectionId", bytes)
EndpointId = NewType("EndpointId", bytes)
TriggerId = NewType("TriggerId", bytes)
EmittedEventId = NewType("EmittedEventId", bytes)
NotificationId = NewType("NotificationId", bytes)
JobId = NewType("JobId", bytes)
MessageId = NewType("MessageId", bytes)
WebhookEndpointId = NewType("WebhookEndpointId", bytes)
WebhookEventId = NewType("WebhookEventId", bytes)
WebhookDeliveryId = NewType("WebhookDeliveryId", bytes)
MemberId = NewType("MemberId", bytes)
AuditEntryId = NewType("AuditEntryId", bytes)

SubscriberKey = NewType("SubscriberKey", str)
SegmentKey = NewType("SegmentKey", str)
ScheduleKey = NewType("ScheduleKey", str)
TopicKey = NewType("TopicKey", str)
WorkflowKey = NewType("WorkflowKey", str)
LayoutKey = NewType("LayoutKey", str)
TransactionKey = NewType("TransactionKey", str)

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _TimeParts:
    """The time-ordered parts of ids: a timestamp and a 12-bit counter in one number, strictly increasing."""

    _MAX_CLOCK_STEP = 1000 << 12

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = itertools.count().__next__

    def next(self, now: Millis) -> int:
        # Without the lock, which would take longer than the rest: the counter itself is safe to share.
        part = self._next()
        # More than 4096 ids in one millisecond continue into the next one. If the clock was set back by up to a
        # second, ids continue from the last one until the clock has caught up; a larger step is followed.
        return part if 0 <= part - (now << 12) <= self._MAX_CLOCK_STEP else self._follow(now)

    def _follow(self, now: Millis) -> int:
        start = now << 12
        with self._lock:
            part = self._next()
            if 0 <= part - start <= self._MAX_CLOCK_STEP:  # Another thread was here before.
                return part
            if abs(part - start) > self._MAX_CLOCK_STEP:
                own = _own_time_parts.get()
                if own is not None and own is not self:
                    return own.next(now)
            self._next = itertools.count(start + 1).__next__
            return start


class _RandomParts:
    """The random parts of ids, 8 bytes each with the variant bits of a UUID; generated in batches."""

    _BATCH = 512
    _RANDOM_BITS = int.from_bytes((b"\x3f" + b"\xff" * 7) * _BATCH)
    _VARIANT = int.from_bytes((b"\x80" + bytes(7)) * _BATCH)

    def __init__(self) -> None:
        self._left: list[bytes] = []
        # A forked process must not return the same values.
        os.register_at_fork(after_in_child=self._left.clear)

    def next(self) -> bytes:
        try:
            return self._left.pop()
        except IndexError:
            size = 8 * self._BATCH
            # As one large number, which is faster than one after the other.
            raw = (int.from_bytes(os.urandom(size)) & self._RANDOM_BITS | self._VARIANT).to_bytes(size)
            parts = [raw[start : start + 8] for start in range(0, size, 8)]
            part = parts.pop()
            self._left.extend(parts)
            return part


class _RandomPool:
    """Cryptographically random bytes, read from the system in large blocks because each read releases the GIL."""

    _BLOCK_BYTES = 4096

    def __init__(self) -> None:
        self._block = BytesIO()
        # A forked process must not return the same bytes.
        os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    def take(self, count: int) -> bytes:
        # Without a lock, which would take longer than the rest: no two reads of a block return the same bytes.
        taken = self._block.read(count)
        if len(taken) < count:
            block = BytesIO(os.urandom(max(self._BLOCK_BYTES, count)))
            taken = block.read(count)
            self._block = block
        return taken


_own_time_parts: ContextVar[_TimeParts | None] = ContextVar("own_time_parts", default=None)
_next_time_part = _TimeParts().next
_next_random_part = _RandomParts().next
random_bytes = _RandomPool().take


def new_id(now: Millis) -> bytes:
    """A UUID of version 7: ids sort by creation time, and strictly so within this process."""
    time_part = _next_time_part(now)
    return (time_part >> 12 << 16 | 0x7000 | time_part & 0xFFF).to_bytes(8) + _next_random_part()


def new_id_for(moment: Millis, now: Millis) -> bytes:
    """An id that sorts like one which is made at a later moment; those for the same moment sort by their creation."""
    created = _next_time_part(now) & (1 << 54) - 1
    tail = created << 20 | int.from_bytes(random_bytes(3)) >> 4
    low = 0b10 << 62 | tail & (1 << 62) - 1
    return moment.to_bytes(6) + (0x7000 | tail >> 62).to_bytes(2) + low.to_bytes(8)


@contextmanager
def own_ids() -> Iterator[None]:
    """Let the code inside make ids by a clock of its own: a leap of it does not disturb the order of other ids."""
    token = _own_time_parts.set(_TimeParts())
    try:
        yield
    finally:
        _own_time_parts.reset(token)


def id_text(value: bytes) -> str:
    """The canonical text of an id, as the API sends it."""
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def find_id(text: str) -> bytes | None:
    """Parse the canonical text of an id; None if it is malformed."""
    if len(text) != 36 or text[8] != "-" or text[13] != "-" or text[18] != "-" or text[23] != "-":
        return None
    digits = text.replace("-", "")
    try:
        return bytes.fromhex(digits) if len(digits) == 32 else None
    except ValueError:
        return None


def id_millis(value: bytes) -> Millis:
    """When a time-ordered id was created."""
    return Millis(int.from_bytes(value[:6]))


def first_id(moment: Millis) -> bytes:
    """The lowest id that can be created at a time."""
    return max(moment, 0).to_bytes(6) + bytes(10)


def last_id(moment: Millis) -> bytes:
    """The highest id that can be created at a time."""
    return max(moment, 0).to_bytes(6) + b"\xff" * 10


def id_base62(value: bytes) -> str:
    """An id in 22 letters and digits, as in slugs."""
    number, letters = int.from_bytes(value), []
    while number:
        number, digit = divmod(number, 62)
        letters.append(_BASE62[digit])
    return "".join(reversed(letters)).rjust(22, "0")


def base62_id(text: str) -> bytes | None:
    """Parse what `id_base62` returned; None if it is malformed."""
    if len(text) != 22 or not all(letter in _BASE62 for letter in text):
        return None
    number = 0
    for letter in text:
        number = number * 62 + _BASE62.index(letter)
    return number.to_bytes(16) if number < 1 << 128 else None
