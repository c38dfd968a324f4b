"""The state of the store, of all environments and of one: backlog, digest windows, circuits, dead letters, workers."""

import asyncio
import time
from collections.abc import Sequence

from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database, Row
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, IntegrationId
from clarion.monitoring.backlog import MAX_COUNTED, Queue, QueueBacklog, read_backlog, read_own_backlog
from clarion.monitoring.heartbeat import list_processes

MAX_CIRCUITS = 200
_FRESH_SECONDS = 5.0
"""For how long one reading serves all who ask."""

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
_FAILING = """
    SELECT i.id, i.provider_id, i.identifier, i.name, i.channel, h.failures, h.open_until FROM integration_health AS h
    JOIN integrations AS i ON i.environment_id = h.environment_id AND i.id = h.integration_id
    WHERE h.failures > 0 AND i.deleted_at IS NULL
"""
FAILING = sql(f"{_FAILING} ORDER BY h.environment_id, h.integration_id LIMIT :limit")
OWN_FAILING = sql(f"""
    {_FAILING} AND h.environment_id = :environment_id AND i.active ORDER BY h.integration_id LIMIT :limit
""")


class FailingIntegration(Struct, frozen=True, kw_only=True):
    """An integration whose last sends failed."""

    id: IntegrationId
    provider_id: str
    identifier: str
    name: str
    channel: str
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
    failing: Sequence[FailingIntegration]


async def read_store_state(db: Connection, now: Millis) -> StoreState:
    backlog = await read_backlog(db, now)
    await prefer_index_scans(db)
    windows = await db.fetch_one(OPEN_WINDOWS, limit=MAX_COUNTED)
    dead = await db.fetch_one(DEAD_LETTERS, limit=MAX_COUNTED)
    failing = await db.fetch(FAILING, limit=MAX_CIRCUITS)
    return StoreState(
        read_at=now,
        backlog=backlog,
        open_windows=windows["count"] if windows else 0,
        dead_letters=dead["count"] if dead else 0,
        failing=[_read_failing(row, now) for row in failing],
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


MAX_COUNTED_IN_ENVIRONMENT = 1_000
MAX_FAILING = 20
_FRESH_IN_ENVIRONMENT_SECONDS = 3.0
"""The same, for all who look at one environment."""
_MAX_ENVIRONMENTS = 200
_WORKING_KINDS = frozenset({"serve", "worker"})

OWN_DEAD_LETTERS = sql("""
    SELECT COUNT(*) AS count FROM (
        SELECT 1 FROM jobs WHERE environment_id = :environment_id AND dead_at IS NOT NULL
        ORDER BY dead_at, id LIMIT :limit
    ) AS counted
""")


class EnvironmentSnapshot(Struct, frozen=True, kw_only=True):
    read_at: Millis
    backlog: dict[Queue, QueueBacklog]
    """Counted up to `MAX_COUNTED_IN_ENVIRONMENT`."""
    dead_letters: int
    """At most `MAX_COUNTED_IN_ENVIRONMENT`."""
    failing: Sequence[FailingIntegration]
    workers: int
    """Processes that run workflows and are alive; they serve all environments."""


async def read_environment_state(db: Connection, environment_id: EnvironmentId, now: Millis) -> EnvironmentSnapshot:
    backlog = await read_own_backlog(db, environment_id, now, limit=MAX_COUNTED_IN_ENVIRONMENT)
    await prefer_index_scans(db)
    dead = await db.fetch_one(OWN_DEAD_LETTERS, environment_id=environment_id, limit=MAX_COUNTED_IN_ENVIRONMENT)
    failing = await db.fetch(OWN_FAILING, environment_id=environment_id, limit=MAX_FAILING)
    processes = await list_processes(db)
    return EnvironmentSnapshot(
        read_at=now,
        backlog=backlog,
        dead_letters=dead["count"] if dead else 0,
        failing=[_read_failing(row, now) for row in failing],
        workers=sum(one.is_alive and one.kind in _WORKING_KINDS for one in processes),
    )


def _read_failing(row: Row, now: Millis) -> FailingIntegration:
    return FailingIntegration(
        id=row["id"],
        provider_id=row["provider_id"],
        identifier=row["identifier"],
        name=row["name"],
        channel=row["channel"],
        failures=row["failures"],
        is_open=row["open_until"] is not None and row["open_until"] > now,
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
            if last is not None and time.monotonic() - last[0] < _FRESH_IN_ENVIRONMENT_SECONDS:
                return last[1]
            now = self._clock.now()
            state = await self._database.scan(lambda db: read_environment_state(db, environment_id, now))
            self._read.put(environment_id, (time.monotonic(), state))
            return state
