"""Lanes: in each environment one worker at a time decides what happens, so that order and digests are simple.

Sending is not part of a lane: any number of workers send at once.
"""

from clarion.db.planner import PREFER_INDEX_SCANS
from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.ids import EnvironmentId

_TRY_LOCK = sql(f"SELECT pg_try_advisory_xact_lock(:lane) AS locked, {PREFER_INDEX_SCANS}")
_LOCK = sql("SELECT pg_advisory_xact_lock(:lane)")


async def try_lock_lane(db: Connection, environment_id: EnvironmentId) -> bool:
    """Take the environment's lane for this unit of work, unless another worker has it."""
    if db.dialect is Dialect.SQLITE:
        return True
    row = await db.fetch_one(_TRY_LOCK, lane=_lane(environment_id))
    return row is not None and bool(row["locked"])


async def lock_lane(db: Connection, environment_id: EnvironmentId) -> None:
    """Wait for the environment's lane and take it for this unit of work."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_LOCK, lane=_lane(environment_id))


def _lane(environment_id: EnvironmentId) -> int:
    # Ids begin with their time of creation; the random end tells environments apart.
    return int.from_bytes(environment_id[8:], signed=True)
