"""Identifiers: what we make (`…Id`, 16 bytes, time-ordered) and what callers choose (`…Key`, text)."""

import threading
from typing import NewType

from clarion.clock import Millis
from clarion.randomness import random_bytes

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


class _Sequence:
    """The 60 bits after the version nibble's millisecond: strictly rising within this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._millis = 0
        self._counter = 0

    def next(self, now: Millis) -> tuple[int, int]:
        with self._lock:
            if now > self._millis:
                self._millis, self._counter = now, 0
            elif now == self._millis and self._counter < 0xFFF:
                self._counter += 1
            elif now == self._millis:
                # 4096 ids in one millisecond: borrow from the next one rather than repeat.
                self._millis, self._counter = self._millis + 1, 0
            else:
                return self._earlier(now)
            return self._millis, self._counter

    def _earlier(self, now: Millis) -> tuple[int, int]:
        """The clock went back, or an earlier millisecond overflowed into the one we are in."""
        if self._millis - now > 1000:
            self._millis, self._counter = now, 0
            return now, 0
        if self._counter == 0xFFF:
            self._millis, self._counter = self._millis + 1, 0
        else:
            self._counter += 1
        return self._millis, self._counter


_sequence = _Sequence()
# The two highest bits of the ninth byte are those of every UUID.
_VARIANT = [bytes([byte & 0x3F | 0x80]) for byte in range(256)]


def new_id(now: Millis) -> bytes:
    """A UUID of version 7 for the moment `now`: ids sort by creation, and within this process strictly."""
    millis, counter = _sequence.next(now)
    head = (millis << 16) | 0x7000 | counter
    tail = random_bytes(8)
    return head.to_bytes(8) + _VARIANT[tail[0]] + tail[1:]


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
