"""Which environments have work for lanes, found by what has work and not by how many environments there are."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.db.queue_plans import distinct_environments, due_environments
from clarion.ids import EnvironmentId
from clarion.jobs.lanes import IN_LANES, LaneSet


class BusyEnvironment(Struct, frozen=True):
    """An environment with work."""

    environment_id: EnvironmentId
    is_own: bool
    """Whether some of it is in the given lanes, or belongs to no lane yet."""
    has_canceling: bool
    """Whether jobs of a canceled crowd are left to be canceled."""


# Look-ups of the first row in the order of an index: asked for any row, PostgreSQL may read a whole queue for it.
LIST_BUSY = sql(f"""
    WITH RECURSIVE
    {distinct_environments("queued", "triggers WHERE state = 'queued'")},
    {distinct_environments("splitting", "triggers WHERE state = 'splitting'")},
    {distinct_environments("canceling", "triggers WHERE state = 'canceling'")},
    {distinct_environments("parted", "trigger_parts WHERE lane >= 0")},
    {due_environments("due", "jobs WHERE queue = 1")},
    busy (id) AS (
        SELECT id FROM queued UNION SELECT id FROM splitting UNION SELECT id FROM canceling UNION SELECT id FROM parted
        UNION SELECT id FROM due
    )
    SELECT busy.id AS environment_id, COALESCE(
        (
            SELECT 1 FROM triggers WHERE environment_id = busy.id AND state = 'queued' AND {IN_LANES}
            ORDER BY priority, id LIMIT 1
        ),
        (SELECT 1 FROM triggers WHERE environment_id = busy.id AND state = 'splitting' ORDER BY priority, id LIMIT 1),
        (
            SELECT 1 FROM trigger_parts WHERE environment_id = busy.id AND {IN_LANES}
            ORDER BY priority, trigger_id, id LIMIT 1
        ),
        (
            SELECT 1 FROM jobs WHERE environment_id = busy.id AND queue = 1 AND due_at <= :now AND {IN_LANES}
            ORDER BY due_at, id LIMIT 1
        )
    ) IS NOT NULL AS is_own, busy.id IN (SELECT id FROM canceling WHERE id IS NOT NULL) AS has_canceling
    FROM busy
    WHERE busy.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM environments WHERE id = busy.id AND deleted_at IS NOT NULL)
    ORDER BY busy.id
""")


async def list_busy(db: Connection, lanes: LaneSet, now: Millis) -> list[BusyEnvironment]:
    """The environments that have something to decide at this moment."""
    rows = await db.fetch(LIST_BUSY, now=now, **lanes.parameters)
    return [
        BusyEnvironment(EnvironmentId(row["environment_id"]), bool(row["is_own"]), bool(row["has_canceling"]))
        for row in rows
    ]
