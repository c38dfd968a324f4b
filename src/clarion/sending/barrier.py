"""Claims of sends and cancels exclude each other: a claim that began before a cancel is over when that returns."""

from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.db.queue_plans import PREFER_INDEX_SCANS
from clarion.environments.configuration import CONFIGURATION_VERSION, get_configuration_version
from clarion.ids import EnvironmentId

_ENTER = sql(f"""
    SELECT {CONFIGURATION_VERSION} AS configuration_version, pg_advisory_xact_lock_shared(:key), {PREFER_INDEX_SCANS}
""")
_WAIT = sql("SELECT pg_advisory_xact_lock(:key)")


async def enter_claim(db: Connection, environment_id: EnvironmentId) -> int:
    """Begin to claim sends, as any number of workers do at once; returns the version of the configuration."""
    if db.dialect is Dialect.SQLITE or db.is_sandbox:
        return await get_configuration_version(db, environment_id)
    row = await db.fetch_one(_ENTER, environment_id=environment_id, key=_key(environment_id))
    version: int = 0 if row is None else row["configuration_version"]
    return version


async def wait_for_claims(db: Connection, environment_id: EnvironmentId) -> None:
    """Wait until no claim is under way, and let none begin before this unit of work is over."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_WAIT, key=_key(environment_id))


def _key(environment_id: EnvironmentId) -> int:
    # The locks of lanes use the other end of the id.
    return int.from_bytes(environment_id[:4] + environment_id[12:], signed=True)
