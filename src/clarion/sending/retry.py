"""When and where a failed send is tried again: eight attempts over about half an hour, then three on each of the next.

Attempts count through all integrations of a message: the first eight are for the first in order, three for each other.
"""

import random

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.providers.definition.result import FailureKind, SendFailure

MAX_ATTEMPTS = 8
ATTEMPTS_ON_OTHERS = 3
MAX_PUT_OFF = Millis(24 * HOUR)
"""A provider that asks again and again to come back later is heeded for so long."""
MAX_PUT_OFF_BEFORE_NEXT = Millis(15 * MINUTE)
"""The same, where the message has another integration left."""
_FIRST_PAUSE = 15 * SECOND
_SHORTEST_RETRY_AFTER = 1
_MAX_RETRY_AFTER = 24 * 3600
_CONNECTION_PAUSE = 5 * SECOND
_RETRYABLE = frozenset({FailureKind.RETRYABLE, FailureKind.RATE_LIMITED, FailureKind.NO_CONNECTION})


def place_of(attempt: int) -> int:
    """How many integrations of the message are used up before this attempt."""
    number = attempt % ATTEMPTS_PER_DRIVE
    return 0 if number <= MAX_ATTEMPTS else 1 + (number - MAX_ATTEMPTS - 1) // ATTEMPTS_ON_OTHERS


def last_attempt_at(attempt: int) -> int:
    """The attempt after which the integration of this one is used up."""
    return attempt - attempt % ATTEMPTS_PER_DRIVE + MAX_ATTEMPTS + place_of(attempt) * ATTEMPTS_ON_OTHERS


def is_retryable(failure: SendFailure) -> bool:
    return failure.kind in _RETRYABLE


def uses_attempt(failure: SendFailure) -> bool:
    """Whether the failure counts: not if the provider asked to come back at a certain time, or was not called."""
    if failure.kind is FailureKind.NO_CONNECTION:
        return False
    return failure.kind is not FailureKind.RATE_LIMITED or failure.retry_after is None


def wished_pause(failure: SendFailure) -> Millis | None:
    """How long the provider wants to be left alone; for a moment at least, lest it be asked without a pause."""
    if failure.retry_after is None:
        return None
    return Millis(int(min(max(failure.retry_after, _SHORTEST_RETRY_AFTER), _MAX_RETRY_AFTER) * SECOND))


def put_off_until(since: Millis, shown: Millis, now: Millis, *, has_others: bool) -> Millis | None:
    """When a message that was first put off at `since` is tried again; None when it was put off for too long.

    It waits for a tenth of the time that it has waited already, at least: somebody who asks for a second's patience
    all day is asked a hundred times, and not every second.
    """
    is_over = now >= since + MAX_PUT_OFF_BEFORE_NEXT if has_others else shown > since + MAX_PUT_OFF
    return None if is_over else Millis(max(shown, now + shortest_wait(since, now)))


def shortest_wait(since: Millis, now: Millis) -> Millis:
    """How long a message that was first put off at `since` waits at least."""
    return Millis((now - since) // 10)


def next_attempt_at(attempt: int, failure: SendFailure, now: Millis, *, choices: int = 1) -> Millis | None:
    """The moment of the next attempt, or None when that was the last; a provider's own wish counts first."""
    if failure.kind is FailureKind.NO_CONNECTION:
        return Millis(now + _CONNECTION_PAUSE)
    wished = wished_pause(failure)
    if wished is not None and not uses_attempt(failure):
        return Millis(now + wished)
    if attempt == last_attempt_at(attempt) and place_of(attempt) + 1 >= choices:
        return None
    if place_of(attempt) >= choices:
        return None
    # Jitter keeps the retries of one outage from arriving together.
    pause = int(_pause_after(attempt) * random.uniform(0.8, 1.2))  # noqa: S311 - not a secret
    return Millis(now + max(pause, wished or 0))


def _pause_after(attempt: int) -> int:
    if attempt == last_attempt_at(attempt):
        return _FIRST_PAUSE
    number, place = attempt % ATTEMPTS_PER_DRIVE, place_of(attempt)
    on_this = number if place == 0 else (number - MAX_ATTEMPTS - 1) % ATTEMPTS_ON_OTHERS + 1
    return _FIRST_PAUSE << (on_this - 1)
