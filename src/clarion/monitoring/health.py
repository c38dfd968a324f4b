"""Whether a process is ready: the store answers and has this version's schema, and the event loop keeps up."""

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from clarion.db.migrate import list_known_revisions
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.watchdog import LoopWatchdog

MAX_LAG_SECONDS = 1.0
"""A loop that took longer to answer within the last seconds does not keep up."""
FILE_SECONDS = 5.0

_FRESH_SECONDS = 1.0
_STORE_SECONDS = 3.0

STOPPING = "The process is stopping"
LAGGING = "The event loop is lagging"
UNREACHABLE = "The store cannot be reached"

log = logging.getLogger(__name__)

FIND_REVISION = sql("SELECT version_num FROM alembic_version")


class Health:
    """The readiness of this process. What it says is fit for anyone to read."""

    def __init__(self, database: Database, watchdog: LoopWatchdog) -> None:
        self._database = database
        self._watchdog = watchdog
        self._lock = asyncio.Lock()
        self._store_problem: str | None = None
        self._checked_at = -_FRESH_SECONDS
        self._revision = list_known_revisions()[-1]
        self.is_stopping = False

    async def list_problems(self) -> Sequence[str]:
        """Why the process is not ready; nothing if it is."""
        problems = [STOPPING] if self.is_stopping else []
        if self._watchdog.find_recent_lag() > MAX_LAG_SECONDS:
            problems.append(LAGGING)
        async with self._lock:
            # Anyone may ask, so the store is asked once a second at most.
            if time.monotonic() - self._checked_at >= _FRESH_SECONDS:
                self._store_problem = await self._find_store_problem()
                self._checked_at = time.monotonic()
        return [*problems, *([] if self._store_problem is None else [self._store_problem])]

    async def _find_store_problem(self) -> str | None:
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                revision = await self._database.read(_find_revision)
        except (StoreUnavailable, TimeoutError):
            return UNREACHABLE
        if revision == self._revision:
            return None
        return f"The store has schema {revision}, and this version needs {self._revision}"


async def _find_revision(db: Connection) -> str | None:
    row = await db.fetch_one(FIND_REVISION)
    return None if row is None else row["version_num"]


class HealthFile:
    """A file that is touched while the process is ready and removed while it is not, for probes without a port."""

    def __init__(self, path: Path, health: Health) -> None:
        self._path = path
        self._health = health

    async def run(self) -> None:
        """Keep the file until cancelled, then remove it."""
        try:
            while True:
                await self.update()
                await asyncio.sleep(FILE_SECONDS)
        finally:
            self._path.unlink(missing_ok=True)

    async def update(self) -> None:
        try:
            if await self._health.list_problems():
                self._path.unlink(missing_ok=True)
            else:
                self._path.touch(mode=0o644)
        except OSError as error:
            log.warning("Health file not written", extra={"error": str(error)})
