"""Statements that lock a whole table on PostgreSQL, without holding up everybody else who wants the table."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from clarion.errors import StoreUnavailable

T = TypeVar("T")

LOCK_TIMEOUT = "250ms"
"""While a statement waits for the lock of a table, everybody else waits behind it."""
_PAUSE_SECONDS = 0.5
_MAX_ATTEMPTS = 600


async def retry_while_locked(work: Callable[[], Awaitable[T]]) -> T:
    """Try work that has a lock timeout again until it gets its locks."""
    for _ in range(_MAX_ATTEMPTS):
        try:
            return await work()
        except Exception as error:
            if not _is_lock_timeout(error):
                raise
            await asyncio.sleep(_PAUSE_SECONDS)
    raise StoreUnavailable(
        "A table stays locked, so that the migration cannot change it; look for long transactions in pg_stat_activity, "
        "and run `clarion migrate` again: it goes on where it stopped."
    )


def _is_lock_timeout(error: BaseException | None) -> bool:
    """Whether an error, or the one that it wraps, is a lock timeout; deadlocks are over when tried again, too."""
    while error is not None:
        if isinstance(error, asyncpg.LockNotAvailableError | asyncpg.DeadlockDetectedError):
            return True
        error = getattr(error, "orig", None) or error.__cause__
    return False
