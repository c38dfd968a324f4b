"""Whether a process is ready: store and schema are right, no key is lacking, and the event loop keeps up."""

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from clarion.background import BackgroundService, ServiceName, Supervisor
from clarion.db.migrations.revisions import list_known_revisions, list_missing, read_schema
from clarion.db.port import Database
from clarion.errors import StoreNewer, StoreOutdated, StoreUnavailable
from clarion.monitoring.watchdog import LoopWatchdog
from clarion.vault import Vault

MAX_LAG_SECONDS = 1.0
"""A loop that took longer to answer within the last seconds does not keep up."""
FILE_SECONDS = 5.0

_FRESH_SECONDS = 1.0
_STORE_SECONDS = 3.0

STOPPING = "The process is stopping"
LAGGING = "The event loop is lagging"
FAILING = "This background work keeps failing, as the log says:"
UNREACHABLE = "The store cannot be reached"
LACKING_KEY = "Secrets are sealed with an encryption key that this process lacks; add it and restart the process"

log = logging.getLogger(__name__)


class Readiness:
    """The readiness of this process. What it says is fit for anyone to read."""

    def __init__(
        self,
        database: Database,
        watchdog: LoopWatchdog,
        background: Supervisor,
        vault: Vault | None = None,
    ) -> None:
        self._database = database
        self.watchdog = watchdog
        self._vault = vault
        self.background = background
        self.vital: frozenset[ServiceName] = frozenset()
        """Services without which the process cannot do its work."""
        self._lock = asyncio.Lock()
        self._store_problem: str | None = None
        self._checked_at = -_FRESH_SECONDS
        self.is_stopping = False

    async def list_problems(self) -> Sequence[str]:
        """Why the process is not ready; nothing if it is."""
        problems = [STOPPING] if self.is_stopping else []
        if self.watchdog.find_recent_lag() > MAX_LAG_SECONDS:
            problems.append(LAGGING)
        if self._vault is not None and self._vault.lacking_key_ids:
            problems.append(LACKING_KEY)
        problems += [f"{FAILING} {name}" for name in self.background.list_failing() if name in self.vital]
        async with self._lock:
            # Anyone may ask, so the store is asked once a second at most.
            if time.monotonic() - self._checked_at >= _FRESH_SECONDS:
                self._store_problem = await self._find_store_problem()
                self._checked_at = time.monotonic()
        return [*problems, *([] if self._store_problem is None else [self._store_problem])]

    async def _find_store_problem(self) -> str | None:
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                schema = await self._database.read(read_schema)
        except (StoreUnavailable, TimeoutError):
            return UNREACHABLE
        try:
            if not list_missing(schema, "The store"):
                return None
        except (StoreNewer, StoreOutdated):
            pass
        revision = None if schema is None else schema.revision
        return f"The store has schema {revision}, and this version needs {list_known_revisions()[-1]}"


class HealthFile:
    """A file that is touched while the process is ready and removed while it is not, for probes without a port."""

    def __init__(self, path: Path, health: Readiness) -> None:
        self._path = path
        self._health = health

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.HEALTH_FILE, run_once=self.update, interval=FILE_SECONDS, finish=self._remove
        )

    async def _remove(self) -> None:
        self._path.unlink(missing_ok=True)

    async def update(self) -> None:
        try:
            if await self._health.list_problems():
                self._path.unlink(missing_ok=True)
            else:
                self._path.touch(mode=0o644)
        except OSError as error:
            log.warning("Health file not written", extra={"error": str(error)})
