"""Passwords: Argon2id with the parameters that OWASP recommends, computed outside the event loop.

Two at a time: each takes 19 MiB and about 50 ms, and a flood of attempts must not take the whole machine.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from clarion.errors import Busy, Forbidden
from clarion.members.model import MAX_PASSWORD, MIN_PASSWORD
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
