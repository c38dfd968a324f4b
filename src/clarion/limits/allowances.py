"""What a process may admit under one rate limit: from a bucket of its own, or from portions of a shared one.

A portion has the tokens of a quarter of a second at most, and is valid for a second. Tokens that are used within a
period were therefore taken from the bucket within that period or a second before, and each process has at most those
of a quarter of a second when it begins: together they admit at most
`burst + rate * (seconds + min(1, processes / 4))`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Protocol

from clarion.clock import SECOND, Clock, Millis
from clarion.limits.buckets import Portion
from clarion.settings.rate_limits import RateLimit

PORTION_VALID = SECOND
"""How long the tokens of a portion may be used; it has those that the process is expected to use in this time."""
MAX_PORTION = Millis(SECOND // 4)
"""A portion has no more tokens than the limit allows in this time."""
_MIN_PAUSE = Millis(50)
_MAX_PAUSE = SECOND


class Allowance(Protocol):
    """The tokens that this process has under one limit."""

    remaining: float
    """How many tokens were left after the last request, as far as this process knows."""

    def take(self, cost: int, now: Millis) -> bool:
        """Take tokens, if there are enough at hand."""
        ...

    async def obtain(self, cost: int, /) -> bool:
        """Take tokens, from the store if need be; returns whether there were enough."""
        ...

    def give_back(self, cost: int) -> None: ...

    def tokens_at(self, now: Millis) -> float:
        """How many tokens there are, as far as this process knows."""
        ...


class LocalAllowance:
    """A bucket of this process alone: exact, and without the store."""

    def __init__(self, limit: RateLimit, now: Millis) -> None:
        self._limit = limit
        self._capacity = limit.capacity
        self._per_milli = limit.per_second / SECOND
        self.remaining = limit.capacity
        self._refilled_at = now

    def take(self, cost: int, now: Millis) -> bool:
        # Each request comes here: the same as `RateLimit.refill` and `needed`, without their calls.
        elapsed = now - self._refilled_at
        # The clock may be set back, and the same time must not be counted twice.
        if elapsed > 0:
            self._refilled_at = now
            tokens = self.remaining + elapsed * self._per_milli
            self.remaining = min(self._capacity, tokens)
        if self.remaining < cost and self.remaining < self._capacity:
            return False
        self.remaining -= cost
        return True

    async def obtain(self, _: int) -> bool:
        return False

    def give_back(self, cost: int) -> None:
        self.remaining = min(self.remaining + cost, self._capacity)

    def tokens_at(self, now: Millis) -> float:
        return self._limit.refill(self.remaining, now - self._refilled_at)


TakePortion = Callable[[int, float, float, Millis], Awaitable[Portion]]
"""Takes a portion from the store: for a cost, the tokens wanted, those returned, and the time."""


class SharedAllowance:
    """Portions of a bucket that several processes share; the next portion is taken when one is used up."""

    def __init__(self, limit: RateLimit, clock: Clock, take_portion: TakePortion) -> None:
        self._limit = limit
        self._clock = clock
        self._take_portion = take_portion
        self._tokens = 0.0
        self.remaining = 0.0
        self._taken_at = Millis(0)
        self._left = 0.0
        """What the bucket had after the last portion."""
        self._used = 0
        self._waiting = 0
        """What the requests cost that wait for the next portion."""
        self._renewal: asyncio.Task[None] | None = None
        self._paused_until = Millis(0)
        self._refused_need = 0.0
        """During a pause, requests that need less than this may ask all the same."""

    def take(self, cost: int, now: Millis) -> bool:
        if self._tokens < cost or now - self._taken_at >= PORTION_VALID:
            return False
        self._tokens -= cost
        self._used += cost
        self.remaining = self._tokens + self._left
        return True

    async def obtain(self, cost: int) -> bool:
        self._waiting += cost
        try:
            while not self.take(cost, now := self._clock.now()):
                if now < self._paused_until and self._limit.needed(cost) >= self._refused_need:
                    return False
                # One that is done may still be here, and waiting for it would not let others run.
                if self._renewal is None or self._renewal.done():
                    self._renewal = asyncio.create_task(self._renew(cost, now))
                    self._renewal.add_done_callback(self._end_renewal)
                # Other requests wait for it too, so a client that disconnects must not cancel it.
                await asyncio.shield(self._renewal)
        finally:
            self._waiting -= cost
        return True

    def give_back(self, cost: int) -> None:
        self._tokens += cost
        self._used -= cost

    def tokens_at(self, now: Millis) -> float:
        elapsed = now - self._taken_at
        own = self._tokens if elapsed < PORTION_VALID else 0.0
        return own + self._limit.refill(self._left, elapsed)

    async def _renew(self, cost: int, now: Millis) -> None:
        elapsed = now - self._taken_at
        returned = self._tokens if elapsed < PORTION_VALID else 0.0
        wanted = max(float(self._waiting), self._expected(elapsed))
        self._tokens = 0.0
        portion = await self._take_portion(cost, wanted, returned, now)
        self._tokens += portion.tokens
        self._left = portion.left
        self._taken_at = now
        self._used = 0
        if portion.tokens < wanted:
            self._pause(cost, portion, now)

    def _expected(self, elapsed: int) -> float:
        """How much is going to be used while a portion is valid, if requests come as since the last one."""
        at_this_rate = self._used * PORTION_VALID / max(1, elapsed)
        return min(at_this_rate, self._limit.per_second * MAX_PORTION / SECOND)

    def _pause(self, cost: int, portion: Portion, now: Millis) -> None:
        """Refuse requests for a while without asking the store, which has nothing more to give."""
        if portion.tokens > 0:
            # Of different lengths, so that no process is always the first to take what has come in.
            self._paused_until = Millis(now + random.randint(_MIN_PAUSE, 2 * _MIN_PAUSE))  # noqa: S311 - no secret
            self._refused_need = 0.0
        else:
            wait = self._limit.wait(portion.left, cost)
            self._paused_until = Millis(now + min(max(wait, _MIN_PAUSE), _MAX_PAUSE))
            self._refused_need = self._limit.needed(cost)

    def _end_renewal(self, renewal: asyncio.Task[None]) -> None:
        if self._renewal is renewal:
            self._renewal = None
        if not renewal.cancelled():
            # If no request waits any more, nobody else reads the error.
            renewal.exception()
