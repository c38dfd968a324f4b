"""What those who look at one environment see of its work: backlog, dead letters, failing integrations, workers."""

import asyncio
import time
from collections.abc import Sequence

from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.ids import EnvironmentId, IntegrationId
from clarion.monitoring.backlog import Queue, QueueBacklog, read_own_backlog
from clarion.monitoring.heartbeat import list_processes

MAX_COUNTED = 1_000
MAX_FAILING = 20
_FRESH_SECONDS = 3.0
"""So long one reading serves all who look at the environment."""
_MAX_ENVIRONMENTS = 200
_WORKING_KINDS = frozenset({"serve", "worker"})

OWN_DEAD_LETTERS = sql("""
    SELECT COUNT(*) AS count FROM (
        SELECT 1 FROM jobs WHERE environment_id = :environment_id AND dead_at IS NOT NULL
        ORDER BY dead_at, id LIMIT :limit
    ) AS counted
""")
OWN_UNWELL = sql("""
    SELECT i.id, i.provider_id, i.identifier, i.name, i.channel, h.failures, h.open_until FROM integration_health AS h
    JOIN integrations AS i ON i.environment_id = h.environment_id AND i.id = h.integration_id
    WHERE h.environment_id = :environment_id AND h.failures > 0 AND i.deleted_at IS NULL AND i.active
    ORDER BY h.integration_id LIMIT :limit
""")


class FailingIntegration(Struct, frozen=True, kw_only=True):
    """An active integration whose last sends failed."""

    id: IntegrationId
    provider_id: str
    identifier: str
    name: str
    channel: str
    failures: int
    """In a row."""
    is_open: bool
    """Whether its circuit is open: other integrations are used instead."""


class EnvironmentSnapshot(Struct, frozen=True, kw_only=True):
    read_at: Millis
    backlog: dict[Queue, QueueBacklog]
    """Counted up to `MAX_COUNTED`."""
    dead_letters: int
    """At most `MAX_COUNTED`."""
    failing: Sequence[FailingIntegration]
    workers: int
    """Processes that run workflows and are alive; they serve all environments."""


async def read_environment_state(db: Connection, environment_id: EnvironmentId, now: Millis) -> EnvironmentSnapshot:
    backlog = await read_own_backlog(db, environment_id, now, limit=MAX_COUNTED)
    await prefer_index_scans(db)
    dead = await db.fetch_one(OWN_DEAD_LETTERS, environment_id=environment_id, limit=MAX_COUNTED)
    unwell = await db.fetch(OWN_UNWELL, environment_id=environment_id, limit=MAX_FAILING)
    processes = await list_processes(db)
    return EnvironmentSnapshot(
        read_at=now,
        backlog=backlog,
        dead_letters=dead["count"] if dead else 0,
        failing=[
            FailingIntegration(
                id=row["id"],
                provider_id=row["provider_id"],
                identifier=row["identifier"],
                name=row["name"],
                channel=row["channel"],
                failures=row["failures"],
                is_open=row["open_until"] is not None and row["open_until"] > now,
            )
            for row in unwell
        ],
        workers=sum(one.is_alive and one.kind in _WORKING_KINDS for one in processes),
    )


class EnvironmentWatch:
    """Reads the state of an environment when it is asked for, but not again within a few seconds."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = asyncio.Lock()
        self._read: BoundedCache[EnvironmentId, tuple[float, EnvironmentSnapshot]] = BoundedCache(
            limit=_MAX_ENVIRONMENTS
        )

    async def find(self, environment_id: EnvironmentId) -> EnvironmentSnapshot:
        """The present state, a few seconds old at most; raises StoreUnavailable."""
        async with self._lock:
            last = self._read.get(environment_id)
            if last is not None and time.monotonic() - last[0] < _FRESH_SECONDS:
                return last[1]
            now = self._clock.now()
            state = await self._database.scan(lambda db: read_environment_state(db, environment_id, now))
            self._read.put(environment_id, (time.monotonic(), state))
            return state
