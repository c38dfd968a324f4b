"""Identifiers: what we make (`…Id`, 16 bytes, time-ordered) and what callers choose (`…Key`, text)."""

import os
import threading
from typing import NewType

from clarion.clock import Millis

OrganizationId = NewType("OrganizationId", bytes)
EnvironmentId = NewType("EnvironmentId", bytes)
ApiKeyId = NewType("ApiKeyId", bytes)
SubscriberId = NewType("SubscriberId", bytes)
TopicId = NewType("TopicId", bytes)
SubscriptionId = NewType("SubscriptionId", bytes)
IntegrationId = NewType("IntegrationId", bytes)
WorkflowId = NewType("WorkflowId", bytes)
WorkflowVersionId = NewType("WorkflowVersionId", bytes)
TriggerId = NewType("TriggerId", bytes)
NotificationId = NewType("NotificationId", bytes)
JobId = NewType("JobId", bytes)
MessageId = NewType("MessageId", bytes)
WebhookEndpointId = NewType("WebhookEndpointId", bytes)
WebhookEventId = NewType("WebhookEventId", bytes)
WebhookDeliveryId = NewType("WebhookDeliveryId", bytes)

SubscriberKey = NewType("SubscriberKey", str)
TopicKey = NewType("TopicKey", str)
WorkflowKey = NewType("WorkflowKey", str)
TransactionKey = NewType("TransactionKey", str)

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Heads:
    """The first halves of ids: a moment and a counter of 12 bits in one number, strictly rising within this process."""

    _FARTHEST_BACK = 1000 << 12

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self, now: Millis) -> int:
        with self._lock:
            head = now << 12
            # 4096 ids in one millisecond borrow from the next one rather than repeat, and a clock that was set back a
            # little is waited for. One that was set back far is believed.
            if 0 <= self._last - head <= self._FARTHEST_BACK:
                head = self._last + 1
            self._last = head
            return head


class _Tails:
    """The second halves of ids: random, but for the two highest bits, which every UUID has in common."""

    _MADE = 512

    def __init__(self) -> None:
        self._left: list[bytes] = []
        # A copy of the process must not hand out the same.
        os.register_at_fork(after_in_child=self._left.clear)

    def next(self) -> bytes:
        try:
            return self._left.pop()
        except IndexError:
            made = os.urandom(8 * self._MADE)
            tails = [_VARIANT[made[start]] + made[start + 1 : start + 8] for start in range(0, len(made), 8)]
            tail = tails.pop()
            self._left.extend(tails)
            return tail


_VARIANT = [bytes([byte & 0x3F | 0x80]) for byte in range(256)]
_next_head = _Heads().next
_next_tail = _Tails().next


def new_id(now: Millis) -> bytes:
    """A UUID of version 7 for the moment `now`: ids sort by creation, and within this process strictly."""
    head = _next_head(now)
    return (head >> 12 << 16 | 0x7000 | head & 0xFFF).to_bytes(8) + _next_tail()


def id_text(value: bytes) -> str:
    """The canonical text of an id, as it goes over the wire."""
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def find_id(text: str) -> bytes | None:
    """The id that `text` spells canonically, or None: a malformed id names nothing."""
    if len(text) != 36 or text[8] != "-" or text[13] != "-" or text[18] != "-" or text[23] != "-":
        return None
    digits = text.replace("-", "")
    try:
        return bytes.fromhex(digits) if len(digits) == 32 else None
    except ValueError:
        return None


def id_millis(value: bytes) -> Millis:
    """The moment that a time-ordered id was made."""
    return Millis(int.from_bytes(value[:6]))


def first_id(moment: Millis) -> bytes:
    """The lowest id that a moment can have."""
    return max(moment, 0).to_bytes(6) + bytes(10)


def last_id(moment: Millis) -> bytes:
    """The highest id that a moment can have."""
    return max(moment, 0).to_bytes(6) + b"\xff" * 10


def id_base62(value: bytes) -> str:
    """An id in 22 letters and digits, as slugs carry it."""
    number, letters = int.from_bytes(value), []
    while number:
        number, digit = divmod(number, 62)
        letters.append(_BASE62[digit])
    return "".join(reversed(letters)).rjust(22, "0")


def base62_id(text: str) -> bytes | None:
    """The id that `id_base62` spelled, or None."""
    if len(text) != 22 or not all(letter in _BASE62 for letter in text):
        return None
    number = 0
    for letter in text:
        number = number * 62 + _BASE62.index(letter)
    return number.to_bytes(16) if number < 1 << 128 else None
