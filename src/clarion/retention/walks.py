"""Walks over old rows: what one is given and returns, how far each has come in each environment, and who is walking.

Rows that are still needed stay behind the position of their walk. Once a day a walk begins at the first row again and
looks whether they still are; in between it reads only rows that have become old since.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from clarion.clock import DAY, HOUR, SECOND, Millis
from clarion.db import leases
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.environments.options import DataKind
from clarion.ids import EnvironmentId, SubscriberId, last_id
from clarion.retention.periods import RetentionDays

ALL_ENVIRONMENTS = EnvironmentId(bytes(16))
"""The scope of tables that have the rows of all environments in one order."""
FIRST = bytes(16)
LAST = b"\xff" * 16
CLOCK_TOLERANCE = HOUR
"""How much the clocks of processes may differ."""


class WalkScope(Struct, frozen=True, kw_only=True):
    """An environment, the moment, and how long data is kept."""

    environment_id: EnvironmentId
    now: Millis
    days: RetentionDays
    by_environment: Mapping[EnvironmentId, RetentionDays]
    """Of all environments, for tables that have their rows in one order; `days` are those of the installation then."""

    def horizon(self, *kinds: DataKind) -> Millis:
        """Data from before this moment is old; the earliest moment of several kinds."""
        return Millis(max(self.now - max(self.days[kind] for kind in kinds) * DAY, 0))

    def oldest_id(self, *kinds: DataKind) -> bytes:
        """The highest id of old data."""
        return last_id(self.horizon(*kinds))

    def days_in(self, environment_id: EnvironmentId, kind: DataKind) -> int:
        """How long an environment keeps data of a kind; rows of environments that are gone follow the installation."""
        return self.by_environment.get(environment_id, self.days)[kind]


class WalkPage(Struct, frozen=True, kw_only=True):
    """The next rows of a walk."""

    rows: Sequence[Row]
    """Those that can be deleted."""
    last: bytes
    """How far the walk has come with this page."""
    is_last: bool


class Deleted(Struct, frozen=True):
    """What a unit of work deleted."""

    count: int
    unread_of: Sequence[SubscriberId] = ()
    """Whose inboxes have fewer unread messages now."""


Choose: TypeAlias = Callable[[Connection, WalkScope, bytes, int], Awaitable[WalkPage]]
"""Reads up to so many rows behind a position, and returns those of them that nothing needs."""
Delete: TypeAlias = Callable[[Connection, WalkScope, Sequence[Row]], Awaitable[Deleted]]
"""Deletes chosen rows, except those that are needed by now, and what belongs to them."""


class Walk(Struct, frozen=True, kw_only=True):
    """The rows of one table in the order of a key."""

    name: str
    """Under which its position is stored."""
    kind: DataKind
    horizon_of: tuple[DataKind, ...]
    """The kinds of data whose longest retention the rows are kept for."""
    choose: Choose
    delete: Delete
    due: Query | None = None
    """Lists the environments that have old rows behind the position; None for a walk over all environments."""
    page_size: int = 500
    sweeps: bool = True
    """Whether rows that were needed are looked at again, from the first one, once a day."""


def page_of(rows: Sequence[Row], unneeded: Sequence[Row], limit: int, *, end: bytes) -> WalkPage:
    """The page of a walk over ids; `end` is how far a walk has come that found no more rows."""
    is_last = len(rows) < limit
    return WalkPage(rows=unneeded, last=end if is_last else rows[-1]["id"], is_last=is_last)


SWEEP_INTERVAL = DAY
LEASE = Millis(120 * SECOND)
"""Renewed several times in that time while a round lasts."""
_LEASE_NAME = "retention"

FIND_PROGRESS = sql("""
    SELECT position, swept_at FROM retention_progress WHERE environment_id = :environment_id AND walk = :walk
""")
SAVE_PROGRESS = sql("""
    INSERT INTO retention_progress (environment_id, walk, position, swept_at, deleted)
    VALUES (:environment_id, :walk, :position, :swept_at, :deleted)
    ON CONFLICT (environment_id, walk) DO UPDATE
    SET position = excluded.position, swept_at = excluded.swept_at,
        deleted = retention_progress.deleted + excluded.deleted
""")
LIST_DELETED = sql("SELECT environment_id, walk, deleted FROM retention_progress")


class WalkProgress(Struct, frozen=True):
    position: bytes
    swept_at: Millis
    """When the walk began at the first row."""


def due_query(rows: str, key: str = "id", *, until: str = "AND t.id <= :oldest") -> Query:
    """SQL: those of some environments that have a row behind the position of a walk.

    `rows` is a table with conditions, `until` one more: how far the walk goes. A look-up of the first row in the order
    of an index: as a join, PostgreSQL may read whole tables.
    """
    return sql(f"""
        SELECT e.id AS environment_id, p.position, p.swept_at
        FROM environments AS e
        LEFT JOIN retention_progress AS p ON p.environment_id = e.id AND p.walk = :walk
        WHERE e.id {{any:environment_ids}} AND (
            SELECT 1 FROM {rows} AND t.environment_id = e.id
            AND t.{key} > CASE WHEN p.swept_at > :swept_before AND p.swept_at <= :now THEN p.position ELSE :first END
            {until}
            ORDER BY t.{key} LIMIT 1
        ) IS NOT NULL
    """)


async def list_due(
    db: Connection, walk: Walk, environment_ids: Sequence[EnvironmentId], *, now: Millis, oldest: bytes
) -> dict[EnvironmentId, WalkProgress]:
    """Where to go on in those of the environments that have rows to look at."""
    if walk.due is None:
        return {ALL_ENVIRONMENTS: await _find_progress(db, walk, now)}
    rows = await db.fetch(
        walk.due,
        walk=walk.name,
        environment_ids=list(environment_ids),
        first=FIRST,
        oldest=oldest,
        swept_before=_swept_before(walk, now),
        now=now,
    )
    return {row["environment_id"]: _progress(walk, row, now) for row in rows}


async def _find_progress(db: Connection, walk: Walk, now: Millis) -> WalkProgress:
    row = await db.fetch_one(FIND_PROGRESS, environment_id=ALL_ENVIRONMENTS, walk=walk.name)
    return _progress(walk, row or {"position": None, "swept_at": None}, now)


async def save_progress(
    db: Connection, environment_id: EnvironmentId, walk: Walk, progress: WalkProgress, *, deleted: int
) -> None:
    """Store the position, and add to the number of deleted rows."""
    await db.execute(
        SAVE_PROGRESS,
        environment_id=environment_id,
        walk=walk.name,
        position=progress.position,
        swept_at=progress.swept_at,
        deleted=deleted,
    )


async def list_deleted(db: Connection) -> dict[EnvironmentId, Counter[str]]:
    """How many rows were deleted so far, by environment and name of the walk."""
    deleted: dict[EnvironmentId, Counter[str]] = {}
    for row in await db.fetch(LIST_DELETED):
        deleted.setdefault(row["environment_id"], Counter())[row["walk"]] = row["deleted"]
    return deleted


async def claim_lease(db: Connection, owner: bytes, now: Millis) -> bool:
    """Take or renew the lease; False while another process has it."""
    return await leases.claim_lease(db, _LEASE_NAME, owner, until=Millis(now + LEASE), now=now)


async def release_lease(db: Connection, owner: bytes) -> None:
    await leases.release_lease(db, _LEASE_NAME, owner)


def _progress(walk: Walk, row: Row, now: Millis) -> WalkProgress:
    # One in the future was made by a clock that was wrong.
    if row["position"] is None or not _swept_before(walk, now) < row["swept_at"] <= now:
        return WalkProgress(FIRST, now)
    return WalkProgress(row["position"], Millis(row["swept_at"]))


def _swept_before(walk: Walk, now: Millis) -> Millis:
    """A walk that last began before this moment begins again."""
    return Millis(now - SWEEP_INTERVAL if walk.sweeps else -1)
