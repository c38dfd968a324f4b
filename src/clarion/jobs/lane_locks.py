"""Locks of lanes: deciding for people, cancelling and deleting all hold the lanes of those people.

SQLite has one writer and needs no locks. On PostgreSQL they are advisory locks that end with the transaction.
"""

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.db.queue_plans import PREFER_INDEX_SCANS
from clarion.ids import EnvironmentId
from clarion.jobs.lanes import LANES, LaneSet

_TRY_LOCK = sql(f"""
    SELECT COALESCE(sum(1::bigint << lane), 0)::bigint AS locked, {PREFER_INDEX_SCANS}
    FROM unnest(CAST(:lanes AS INTEGER[])) AS wanted (lane)
    WHERE pg_try_advisory_xact_lock(CAST(:base AS BIGINT) + lane)
""")
# Ordered, so that two who wait for several lanes cannot wait for each other.
_LOCK = sql("""
    SELECT pg_advisory_xact_lock(CAST(:base AS BIGINT) + lane)
    FROM (SELECT lane FROM unnest(CAST(:lanes AS INTEGER[])) AS wanted (lane) ORDER BY lane) AS ordered
""")


async def try_lock_lanes(db: Connection, environment_id: EnvironmentId, lanes: LaneSet) -> LaneSet:
    """Take those of the lanes that nobody else holds, for this unit of work; returns them."""
    if db.dialect is Dialect.SQLITE or db.is_sandbox:
        return lanes
    row = await db.fetch_one(_TRY_LOCK, base=_base(environment_id), lanes=list(lanes))
    return LaneSet(0 if row is None else int(row["locked"]))


async def lock_lanes(db: Connection, environment_id: EnvironmentId, lanes: LaneSet) -> None:
    """Wait for all of the lanes and take them for this unit of work."""
    if db.dialect is Dialect.POSTGRES and not db.is_sandbox:
        await db.fetch(_LOCK, base=_base(environment_id), lanes=list(lanes))


def _base(environment_id: EnvironmentId) -> int:
    """The key of the environment's first lock.

    Ids begin with their time of creation; the random end tells environments apart. Two that share a key hold each
    other up and are otherwise unharmed.
    """
    return int.from_bytes(environment_id[8:], signed=True) & -LANES
