"""The rate limit of an integration: a token bucket, and pauses that its provider asks for.

The bucket may be overdrawn: a message that comes too early gets the moment at which the bucket will have refilled.
"""

from msgspec import Struct

from clarion.clock import SECOND, Millis


class QuotaBucket(Struct, frozen=True, kw_only=True):
    allowance: float
    """Messages that may go now; below zero, how many have been given a later moment."""
    refilled_at: Millis
    """When it was filled last; in the future while it pauses."""


FULL = QuotaBucket(allowance=0.0, refilled_at=Millis(0))
"""A bucket from which nothing was taken for long."""


def wait_of(bucket: QuotaBucket, rate: float | None, now: Millis) -> int:
    """Milliseconds until one more message may go."""
    pause = max(bucket.refilled_at - now, 0)
    if rate is None:
        return pause
    missing = 1 - _refilled(bucket, rate, now).allowance
    return 0 if missing <= 0 else pause + int(missing / rate * SECOND) + 1


def paused_until(bucket: QuotaBucket, now: Millis) -> Millis | None:
    """The end of the pause that a provider asked for, if it is not over."""
    return bucket.refilled_at if bucket.refilled_at > now else None


def allowance_at(bucket: QuotaBucket, rate: float, now: Millis) -> float:
    """Messages that may go now; below zero, how many have been given a later moment."""
    return _refilled(bucket, rate, now).allowance


def take(bucket: QuotaBucket, rate: float | None, now: Millis) -> QuotaBucket:
    """Let one more message go, now or when its moment comes."""
    if rate is None:
        return bucket
    filled = _refilled(bucket, rate, now)
    return QuotaBucket(allowance=filled.allowance - 1, refilled_at=filled.refilled_at)


def pause(bucket: QuotaBucket, until: Millis) -> QuotaBucket:
    """Nothing more goes until then, and what is promised goes afterwards."""
    return QuotaBucket(allowance=min(bucket.allowance, 0.0), refilled_at=max(bucket.refilled_at, until))


def _refilled(bucket: QuotaBucket, rate: float, now: Millis) -> QuotaBucket:
    """Filled up to one second's worth, and to one message at least."""
    if now <= bucket.refilled_at:
        return bucket
    gained = (now - bucket.refilled_at) / SECOND * rate
    return QuotaBucket(allowance=min(bucket.allowance + gained, max(rate, 1.0)), refilled_at=now)
