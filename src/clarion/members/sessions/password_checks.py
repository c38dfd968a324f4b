"""Checks passwords of members: those who fail too often are slowed down, and whoever knows the password gets in.

Attempts beyond the limits wait for their turn, one at a time for each account and one hash at a time in all. They are
checked all the same: a stranger who fails from the same address, or at the same account, locks nobody out.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import ClarionError
from clarion.members.sessions.passwords import Passwords
from clarion.members.sessions.throttle import SignInThrottle, make_refusal

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.5
"""Before each attempt beyond the limits, for each account."""
MAX_SLOW = 100
MAX_SLOW_OF_ACCOUNT = 10
"""Attempts that wait at the same time; further ones are refused unchecked."""


class PasswordAttempt(Struct, frozen=True, kw_only=True):
    """Who tries which password of whom."""

    address: str
    email: str
    password: str
    stored: str | None
    """The hash of the account's password; None if there is no such account, or it has none."""
    request_id: str | None = None
    """For the log."""


class PasswordChecks:
    """Checks attempts, in the order and at the speed that they deserve."""

    def __init__(self, passwords: Passwords, throttle: SignInThrottle, *, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._passwords = passwords
        self._throttle = throttle
        self._pause_seconds = pause_seconds
        self._lines: dict[str, _Line] = {}
        self._one_at_a_time = asyncio.Semaphore(1)

    async def require(self, attempt: PasswordAttempt, *, wrong: ClarionError) -> None:
        """Raise `wrong` unless the password is right, or RateLimited if there were too many attempts."""
        wait = self._throttle.count(attempt.address, attempt.email)
        if not await (self._check_slowly(attempt, wait) if wait else self._check(attempt)):
            log.warning("Password refused", extra={"address": attempt.address, "request_id": attempt.request_id})
            raise make_refusal(wait) if wait else wrong
        self._throttle.forgive(attempt.address, attempt.email)

    async def _check(self, attempt: PasswordAttempt) -> bool:
        return await self._passwords.check(attempt.password, attempt.stored)

    async def _check_slowly(self, attempt: PasswordAttempt, wait: Millis) -> bool:
        async with self._take_turn(attempt.email.lower(), wait), self._one_at_a_time:
            return await self._check(attempt)

    @asynccontextmanager
    async def _take_turn(self, account: str, wait: Millis) -> AsyncIterator[None]:
        line = self._lines.get(account, _Line())
        if line.length >= MAX_SLOW_OF_ACCOUNT or sum(one.length for one in self._lines.values()) >= MAX_SLOW:
            raise make_refusal(wait)
        self._lines[account] = line
        line.length += 1
        try:
            async with line.turn:
                await asyncio.sleep(self._pause_seconds)
            yield
        finally:
            line.length -= 1
            if not line.length:
                del self._lines[account]


class _Line:
    """Those who wait for the same account."""

    def __init__(self) -> None:
        self.length = 0
        self.turn = asyncio.Lock()
