"""Versions of layouts that were replaced long ago and that no run needs, and deleted layouts with their translations.

A run uses the version that was current when its trigger was accepted, which their ids tell, or the first one if all are
newer. So a version is needed only if there is a trigger from the time between it and the next one, or the deletion of
its layout; the first one is needed for all triggers before it, too.
"""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.environments.options import DataKind
from clarion.ids import first_id, last_id
from clarion.retention.versions import choose_replaced
from clarion.retention.walks import CLOCK_TOLERANCE, FIRST, Deleted, Walk, WalkPage, WalkScope, due_query

# The next version by number and by id, because their order differs where clocks do.
LIST_OLD = sql("""
    SELECT v.id, v.layout_id, v.created_at, (
        SELECT p.id FROM layout_versions AS p
        WHERE p.environment_id = v.environment_id AND p.layout_id = v.layout_id AND p.number < v.number AND p.id < v.id
        ORDER BY p.number DESC LIMIT 1
    ) AS previous_id, COALESCE((
        SELECT n.created_at FROM layout_versions AS n
        WHERE n.environment_id = v.environment_id AND n.layout_id = v.layout_id AND n.number > v.number AND n.id > v.id
        ORDER BY n.number LIMIT 1
    ), (
        SELECT l.deleted_at FROM layouts AS l WHERE l.environment_id = v.environment_id AND l.id = v.layout_id
    )) AS replaced_at
    FROM layout_versions AS v
    WHERE v.environment_id = :environment_id AND v.id > :after AND v.id <= :oldest ORDER BY v.id LIMIT :limit
""")
FIND_TRIGGER = sql("""
    SELECT id FROM triggers
    WHERE environment_id = :environment_id AND id >= :first AND id <= :last ORDER BY id LIMIT 1
""")
DELETE_VERSIONS = sql("DELETE FROM layout_versions WHERE environment_id = :environment_id AND id {any:ids}")
DELETE_LAYOUTS = sql("""
    DELETE FROM layouts
    WHERE environment_id = :environment_id AND id {any:ids} AND deleted_at IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM layout_versions AS v
        WHERE v.environment_id = layouts.environment_id AND v.layout_id = layouts.id
    )
""")
_OF_NO_LAYOUT = """
    WHERE t.environment_id = :environment_id AND t.resource_type = 'layout' AND t.resource_id {any:ids} AND NOT EXISTS (
        SELECT 1 FROM layouts AS l WHERE l.environment_id = t.environment_id AND l.id = t.resource_id
    )
"""
DELETE_TRANSLATIONS = sql(f"DELETE FROM translations AS t {_OF_NO_LAYOUT}")
DELETE_GROUPS = sql(f"DELETE FROM translation_groups AS t {_OF_NO_LAYOUT}")
DUE = due_query("layout_versions AS t WHERE TRUE")


async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    return await choose_replaced(db, scope, after, limit, listing=LIST_OLD, may_be_needed=_has_triggers)


async def _has_triggers(db: Connection, scope: WalkScope, version: Row) -> bool:
    is_first = version["previous_id"] is None
    row = await db.fetch_one(
        FIND_TRIGGER,
        environment_id=scope.environment_id,
        first=FIRST if is_first else first_id(Millis(version["created_at"] - CLOCK_TOLERANCE)),
        last=last_id(Millis(version["replaced_at"] + CLOCK_TOLERANCE)),
    )
    return row is not None


async def delete(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    versions, layouts = [row["id"] for row in rows], list({row["layout_id"] for row in rows})
    deleted = Deleted(await db.execute(DELETE_VERSIONS, environment_id=scope.environment_id, ids=versions))
    for query in (DELETE_LAYOUTS, DELETE_TRANSLATIONS, DELETE_GROUPS):
        await db.execute(query, environment_id=scope.environment_id, ids=layouts)
    return deleted


WALK = Walk(
    name="layout versions",
    kind=DataKind.WORKFLOW_VERSIONS,
    horizon_of=(DataKind.WORKFLOW_VERSIONS,),
    choose=choose,
    delete=delete,
    due=DUE,
    page_size=50,
)
