"""When a failed send is tried again: eight attempts over about half an hour."""

import random

from clarion.clock import SECOND, Millis
from clarion.providers.base import FailureKind, SendFailure

MOST_ATTEMPTS = 8
_FIRST_PAUSE = 15 * SECOND
_LONGEST_RETRY_AFTER = 24 * 3600


def next_attempt_at(attempt: int, failure: SendFailure, now: Millis) -> Millis | None:
    """The moment of the next attempt, or None when that was the last; a provider's own wish counts first."""
    if failure.kind is FailureKind.RATE_LIMITED and failure.retry_after is not None:
        return Millis(now + int(min(failure.retry_after, _LONGEST_RETRY_AFTER) * SECOND))
    if attempt >= MOST_ATTEMPTS:
        return None
    pause = _FIRST_PAUSE * 2 ** (attempt - 1)
    # Jitter keeps the retries of one outage from arriving together.
    return Millis(now + int(pause * random.uniform(0.8, 1.2)))  # noqa: S311 - not a secret
