"""Triggers: kept for as long as a run, a message or a recipient without a run belongs to them.

Messages show the payload of their trigger, and a transaction id is refused as a duplicate while its trigger exists.
"""

from collections.abc import Iterable, Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.environments.options import DataKind
from clarion.ids import TriggerId
from clarion.retention.progress import due_query
from clarion.retention.scope import Deleted, Walk, WalkPage, WalkScope, page_of

KEPT_FOR = (DataKind.RUNS, DataKind.IN_APP_MESSAGES, DataKind.OUTBOX)
"""A trigger that is older than all of these are kept has only runs that are under way."""

# Each look-up finds the first row of an index: asked for any row, or whether there is one, PostgreSQL may join whole
# tables.
_UNNEEDED = """
    t.state NOT IN ('queued', 'splitting', 'canceling')
    AND (
        SELECT 1 FROM notifications AS n WHERE n.environment_id = t.environment_id AND n.trigger_id = t.id
        ORDER BY n.id LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM messages AS m WHERE m.environment_id = t.environment_id AND m.trigger_id = t.id
        ORDER BY m.id LIMIT 1
    ) IS NULL
    AND (
        SELECT 1 FROM trigger_parts AS p WHERE p.environment_id = t.environment_id AND p.trigger_id = t.id LIMIT 1
    ) IS NULL
"""
LIST_OLD = sql(f"""
    SELECT t.id, CASE WHEN {_UNNEEDED} THEN 1 ELSE 0 END AS is_unneeded FROM triggers AS t
    WHERE t.environment_id = :environment_id AND t.id > :after AND t.id <= :oldest ORDER BY t.id LIMIT :limit
""")
DELETE_UNNEEDED = sql(f"""
    DELETE FROM triggers AS t
    WHERE t.environment_id = :environment_id AND t.id {{any:ids}} AND t.id <= :oldest AND {_UNNEEDED}
""")
MARK_RUNS_DELETED = sql("""
    UPDATE triggers SET runs_deleted_at = :now
    WHERE environment_id = :environment_id AND id {any:ids} AND runs_deleted_at IS NULL
""")
DUE = due_query("triggers AS t WHERE TRUE")


async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    """Old triggers that have nothing any more; those that lose their last run or message are deleted with that."""
    oldest = scope.oldest_id(*KEPT_FOR)
    rows = await db.fetch(LIST_OLD, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
    return page_of(rows, [row for row in rows if row["is_unneeded"]], limit, end=oldest)


async def delete(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    return Deleted(await delete_unneeded(db, scope, [row["id"] for row in rows]))


async def delete_unneeded(db: Connection, scope: WalkScope, trigger_ids: Iterable[TriggerId]) -> int:
    """Delete those of the triggers that are older than runs are kept and have nothing any more."""
    return await db.execute(
        DELETE_UNNEEDED,
        environment_id=scope.environment_id,
        ids=sorted(set(trigger_ids)),
        oldest=scope.oldest_id(DataKind.RUNS),
    )


async def mark_runs_deleted(db: Connection, scope: WalkScope, trigger_ids: Iterable[TriggerId]) -> None:
    """Note with those that stay that they had runs which are deleted."""
    ids = sorted(set(trigger_ids))
    await db.execute(MARK_RUNS_DELETED, environment_id=scope.environment_id, ids=ids, now=scope.now)


WALK = Walk(name="triggers", kind=DataKind.RUNS, horizon_of=KEPT_FOR, choose=choose, delete=delete, due=DUE)
