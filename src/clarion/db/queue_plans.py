"""Hints to PostgreSQL's planner for units of work on queues."""

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql

# The statistics of a queue are always out of date. Taking it for nearly empty, PostgreSQL would read and sort a whole
# backlog to find the next few rows, and it keeps plans that it made while the queue was empty. For one transaction it
# plans anew by the real size of the tables and prefers indexes: what is read was just written and is in memory.
PREFER_INDEX_SCANS = """
    set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('random_page_cost', '1', true)
"""
"""SQL: select this to apply the hints in a statement that does something else as well."""

_APPLY = sql(f"SELECT {PREFER_INDEX_SCANS}")


async def prefer_index_scans(db: Connection) -> None:
    """Let this unit of work take the next few rows of a long queue by an index."""
    if db.dialect is Dialect.POSTGRES and not db.is_sandbox:
        await db.fetch_one(_APPLY)
