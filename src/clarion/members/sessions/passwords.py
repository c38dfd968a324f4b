"""Passwords: how they are hashed, and how attempts are checked.

Hashes are Argon2id with the parameters that OWASP recommends, computed outside the event loop. Two at a time: each
takes 19 MiB and about 50 ms, and a flood of attempts must not take the whole machine.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from msgspec import Struct

from clarion.clock import Millis
from clarion.errors import Busy, ClarionError, Forbidden
from clarion.members.model import MAX_PASSWORD, MIN_PASSWORD
from clarion.members.sessions.throttle import SignInThrottle, make_refusal
from clarion.settings.model import Settings

T = TypeVar("T")

_MEMORY_KIB = 19 * 1024
_ITERATIONS = 2
_LANES = 1
_SALT_BYTES = 16
_HASH_BYTES = 32
_AT_A_TIME = 2
MAX_WAITING = 100
"""More would wait longer than their browsers do."""
_NOBODY = (
    f"$argon2id$v=19$m={_MEMORY_KIB},t={_ITERATIONS},p={_LANES}"
    "$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)
"""A hash that no password has."""
PAUSE_SECONDS = 0.5
"""Before each attempt beyond the limits, for each account."""
MAX_SLOW = 100
MAX_SLOW_OF_ACCOUNT = 10
"""Attempts that wait at the same time; further ones are refused unchecked."""

log = logging.getLogger(__name__)


def require_passwords(settings: Settings) -> None:
    """Raise Forbidden if members sign in with another provider only."""
    if not settings.passwords:
        raise Forbidden("Passwords are switched off here; sign in with the provider of GET /v1/auth/methods")


def find_password_problem(password: str) -> str | None:
    """Return what is wrong with a new password; None if it can be used."""
    if len(password) < MIN_PASSWORD:
        return f"must have at least {MIN_PASSWORD} characters"
    if len(password) > MAX_PASSWORD:
        return f"must have at most {MAX_PASSWORD} characters"
    return None


class Passwords:
    """Hashes and checks passwords."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="clarion-password")
        self._waiting = 0

    async def hash(self, password: str) -> str:
        """Return the PHC string of a new hash."""
        return await self._run(partial(_hash, password))

    async def check(self, password: str, stored: str | None) -> bool:
        """Return whether the password has the hash.

        Without a hash the work is the same, so that the time does not show whether somebody is a member.
        """
        return await self._run(partial(_check, password, stored or _NOBODY))

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= MAX_WAITING:
            raise Busy("Too many passwords are being checked at the moment; try again")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


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
    """Checks attempts: those who fail too often are slowed down, and whoever knows the password gets in.

    Attempts beyond the limits wait for their turn, one at a time for each account and one hash at a time in all. They
    are checked all the same: a stranger who fails from the same address, or at the same account, locks nobody out.
    """

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
    """The attempts that wait for the same account."""

    def __init__(self) -> None:
        self.length = 0
        self.turn = asyncio.Lock()


def _hash(password: str) -> str:
    derivation = Argon2id(
        salt=os.urandom(_SALT_BYTES),
        length=_HASH_BYTES,
        iterations=_ITERATIONS,
        lanes=_LANES,
        memory_cost=_MEMORY_KIB,
    )
    return derivation.derive_phc_encoded(password.encode())


def _check(password: str, stored: str) -> bool:
    try:
        Argon2id.verify_phc_encoded(password.encode(), stored)
    except InvalidKey:
        return False
    return True
