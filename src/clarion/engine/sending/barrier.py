"""Claims of sends and cancels exclude each other: a claim that began before a cancel is over when that returns."""

from clarion.db.planner import PREFER_INDEX_SCANS
from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.ids import EnvironmentId

_ENTER = sql(f"SELECT pg_advisory_xact_lock_shared(:key), {PREFER_INDEX_SCANS}")
_WAIT = sql("SELECT pg_advisory_xact_lock(:key)")


async def enter_claim(db: Connection, environment_id: EnvironmentId) -> None:
    """Begin to claim sends of an environment; any number of workers do so at once."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_ENTER, key=_key(environment_id))


async def wait_for_claims(db: Connection, environment_id: EnvironmentId) -> None:
    """Wait until no claim is under way, and let none begin before this unit of work is over."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_WAIT, key=_key(environment_id))


def _key(environment_id: EnvironmentId) -> int:
    # The locks of lanes use the other end of the id.
    return int.from_bytes(environment_id[:4] + environment_id[12:], signed=True)
