"""Lanes: in each environment one worker at a time decides what happens, so that order and digests are simple.

Sending is not part of a lane: any number of workers do that at once.
"""

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.ids import EnvironmentId

# A queue's statistics are always out of date: taken to be nearly empty, PostgreSQL would read and sort a whole backlog
# to find the next few rows, and plans made while it was empty are kept. For one transaction, let it plan anew by the
# tables' real size and follow the indexes, whose pages are in memory: what was written last is what is read.
_PREFER_INDEX_SCANS = """
    set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('random_page_cost', '1', true)
"""

# Environment ids begin with their time of creation; the random end tells them apart.
_TRY_LOCK = sql(f"SELECT pg_try_advisory_xact_lock(:lane) AS locked, {_PREFER_INDEX_SCANS}")
_LOCK = sql("SELECT pg_advisory_xact_lock(:lane)")
_SET_PREFERENCES = sql(f"SELECT {_PREFER_INDEX_SCANS}")


async def prefer_index_scans(db: Connection) -> None:
    """For a unit of work that takes the next few of what may be many."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_SET_PREFERENCES)


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
    return int.from_bytes(environment_id[8:], signed=True)
