"""The state of the store as a whole, the same for every process: backlog, digest windows, circuits, dead letters."""

import asyncio
import time
from collections.abc import Sequence

from msgspec import Struct

from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.errors import StoreUnavailable
from clarion.monitoring.backlog import MAX_COUNTED, Queue, QueueBacklog, read_backlog

MAX_CIRCUITS = 200
_FRESH_SECONDS = 5.0
"""So long one reading serves all who ask."""

# The run that leads a window waits for its end. Looking at so many waiting runs takes no index of its own.
OPEN_WINDOWS = sql("""
    SELECT COUNT(*) AS count FROM (
        SELECT type FROM jobs WHERE queue = 1 ORDER BY environment_id, due_at, id LIMIT :limit
    ) AS waiting WHERE type = 'digest'
""")
DEAD_LETTERS = sql("""
    SELECT COUNT(*) AS count FROM (
        SELECT 1 FROM jobs WHERE dead_at IS NOT NULL ORDER BY environment_id, dead_at, id LIMIT :limit
    ) AS counted
""")
# The health of integrations is one row for each that has failed or has a rate limit: a small table.
UNWELL = sql("""
    SELECT i.provider_id, i.identifier, h.failures, h.open_until FROM integration_health AS h
    JOIN integrations AS i ON i.environment_id = h.environment_id AND i.id = h.integration_id
    WHERE h.failures > 0 AND i.deleted_at IS NULL ORDER BY h.environment_id, h.integration_id LIMIT :limit
""")


class UnwellIntegration(Struct, frozen=True, kw_only=True):
    """An integration whose last sends failed."""

    provider_id: str
    identifier: str
    failures: int
    """In a row."""
    is_open: bool
    """Whether its circuit is open: other integrations are used instead."""


class StoreState(Struct, frozen=True, kw_only=True):
    """What everybody who looks at the store at this moment sees."""

    read_at: Millis
    backlog: dict[Queue, QueueBacklog]
    open_windows: int
    """Of digests, among the first `MAX_COUNTED` runs that wait."""
    dead_letters: int
    """At most `MAX_COUNTED`."""
    unwell: Sequence[UnwellIntegration]


async def read_store_state(db: Connection, now: Millis) -> StoreState:
    backlog = await read_backlog(db, now)
    await prefer_index_scans(db)
    windows = await db.fetch_one(OPEN_WINDOWS, limit=MAX_COUNTED)
    dead = await db.fetch_one(DEAD_LETTERS, limit=MAX_COUNTED)
    unwell = [
        UnwellIntegration(
            provider_id=row["provider_id"],
            identifier=row["identifier"],
            failures=row["failures"],
            is_open=row["open_until"] is not None and row["open_until"] > now,
        )
        for row in await db.fetch(UNWELL, limit=MAX_CIRCUITS)
    ]
    return StoreState(
        read_at=now,
        backlog=backlog,
        open_windows=windows["count"] if windows else 0,
        dead_letters=dead["count"] if dead else 0,
        unwell=unwell,
    )


class StoreWatch:
    """Reads the state of the store when it is asked for, but not again within a few seconds."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._state: StoreState | None = None
        self._read_at = 0.0
        self._lock = asyncio.Lock()

    async def find(self) -> StoreState | None:
        """The present state, a few seconds old at most; None if the store cannot be read."""
        async with self._lock:
            if self._state is None or time.monotonic() - self._read_at >= _FRESH_SECONDS:
                now = self._clock.now()
                try:
                    self._state = await self._database.scan(lambda db: read_store_state(db, now))
                except StoreUnavailable:
                    self._state = None
                self._read_at = time.monotonic()
            return self._state
