"""When a lane's unit of work fails as a whole: each trigger and run is tried alone, and one that fails is set aside."""

import logging

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.lane import ONE, run_lane
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.jobs import store as jobs

log = logging.getLogger(__name__)

_MAX_AT_ONCE = 256

NEXT_TRIGGER = sql("""
    SELECT id FROM triggers WHERE environment_id = :environment_id AND state = 'queued' ORDER BY priority, id LIMIT 1
""")
NEXT_JOB = sql("""
    SELECT id FROM jobs
    WHERE environment_id = :environment_id AND runnable = 1 AND due_at <= :now ORDER BY due_at, id LIMIT 1
""")
FAIL_TRIGGER = sql("UPDATE triggers SET state = 'failed' WHERE environment_id = :environment_id AND id = :id")


async def isolate_poison(database: Database, environment_id: EnvironmentId, now: Millis) -> int:
    """Go through what is due one by one; tells how many were worked on or set aside."""
    for count in range(_MAX_AT_ONCE):
        try:
            worked = await database.transaction(lambda db: run_lane(db, environment_id, now, size=ONE))
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("Set aside", extra={"environment_id": environment_id.hex()})
            await database.transaction(lambda db: _set_aside(db, environment_id, now))
            continue
        if not worked.runs:
            return count
    return _MAX_AT_ONCE


async def _set_aside(db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
    """Fail the one that is next: it failed alone, so it is the one to blame."""
    row = await db.fetch_one(NEXT_JOB, environment_id=environment_id, now=now)
    if row is not None:
        await jobs.fail(db, environment_id, row["id"], now)
        return
    row = await db.fetch_one(NEXT_TRIGGER, environment_id=environment_id)
    if row is not None:
        await db.execute(FAIL_TRIGGER, environment_id=environment_id, id=row["id"])
