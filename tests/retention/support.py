"""Deleting old data in tests, and counting what is left."""

from collections.abc import Sequence
from typing import Any

from clarion.bus import Bus
from clarion.clock import Clock
from clarion.db.deletion import Effort, Pace
from clarion.db.port import Database, Row
from clarion.db.query import Query, sql
from clarion.ids import EnvironmentId
from clarion.retention.worker import Retention
from clarion.settings.model import Settings

FORGET_POSITIONS = sql("DELETE FROM retention_progress WHERE environment_id = :environment_id")


def quick_pace() -> Pace:
    """Hardly any pauses."""
    return Pace(Effort(target_seconds=0.01, busy_share=0.9), share=0.9)


async def delete_old(
    database: Database, clock: Clock, *, settings: Settings | None = None, bus: Bus | None = None
) -> Retention:
    """Delete everything that is old now, as the service does in the background."""
    made = Retention(database, settings=settings or Settings(), clock=clock, bus=bus, pace=quick_pace())
    # Tables of all environments have one position, and the clocks of tests begin at the same moment.
    await database.transaction(lambda db: db.execute(FORGET_POSITIONS, environment_id=bytes(16)))
    assert await made.run_round(), "another process has the lease"
    return made


async def count_rows(database: Database, environment_id: EnvironmentId, *tables: str) -> dict[str, int]:
    """How many rows of an environment each table has."""
    found: dict[str, int] = {}
    for table in tables:
        counting = sql(f"SELECT count(*) AS n FROM {table} WHERE environment_id = :environment_id")
        rows: Any = await fetch(database, counting, environment_id=environment_id)
        found[table] = rows[0]["n"]
    return found


async def fetch(database: Database, query: Query, **parameters: Any) -> Sequence[Row]:
    return await database.read(lambda db: db.fetch(query, **parameters))
