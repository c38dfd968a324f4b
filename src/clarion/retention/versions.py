"""Versions of workflows that were replaced long ago and that no run needs.

A trigger outlives its runs and is for the version that was current when it was accepted. So a version is needed only if
there is such a trigger from the time between the version and the next one.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.environments.options import DataKind
from clarion.ids import first_id, last_id
from clarion.retention.walks import CLOCK_TOLERANCE, Deleted, Walk, WalkPage, WalkScope, due_query, page_of

MayBeNeeded: TypeAlias = Callable[[Connection, WalkScope, Row], Awaitable[bool]]
_MAX_TRIGGERS = 2_000
"""How many triggers are looked at for a version; where there are more, it stays until the next sweep."""

LIST_OLD = sql("""
    SELECT v.id, v.created_at, (
        SELECT n.created_at FROM workflow_versions AS n
        WHERE n.environment_id = v.environment_id AND n.workflow_id = v.workflow_id AND n.number > v.number
        ORDER BY n.number LIMIT 1
    ) AS replaced_at, (
        SELECT w.version_id FROM workflows AS w WHERE w.environment_id = v.environment_id AND w.id = v.workflow_id
    ) AS current_id
    FROM workflow_versions AS v
    WHERE v.environment_id = :environment_id AND v.id > :after AND v.id <= :oldest AND v.moved IS NULL
    ORDER BY v.id LIMIT :limit
""")
LIST_MOVED = sql("""
    SELECT v.id, v.created_at FROM workflow_versions AS v
    WHERE v.environment_id = :environment_id AND v.id > :after AND v.id <= :oldest AND v.moved IS NOT NULL
    ORDER BY v.id LIMIT :limit
""")
# Runs that go on with a version were started before it was made, apart from those whose triggers waited in a backlog.
COUNT_RUNS = sql("""
    SELECT count(*) AS looked_at, COALESCE(sum(CASE WHEN n.version_id = :version_id THEN 1 ELSE 0 END), 0) AS own
    FROM (
        SELECT version_id FROM notifications
        WHERE environment_id = :environment_id AND id <= :last ORDER BY id LIMIT :limit
    ) AS n
""")
COUNT_TRIGGERS = sql("""
    SELECT count(*) AS looked_at, COALESCE(sum(CASE WHEN t.version_id = :version_id THEN 1 ELSE 0 END), 0) AS own
    FROM (
        SELECT version_id FROM triggers
        WHERE environment_id = :environment_id AND id >= :first AND id <= :last ORDER BY id LIMIT :limit
    ) AS t
""")
DELETE_VERSIONS = sql("DELETE FROM workflow_versions WHERE environment_id = :environment_id AND id {any:ids}")
DELETE_NOTES = sql("DELETE FROM workflow_version_notes WHERE environment_id = :environment_id AND id {any:ids}")
DUE = due_query("workflow_versions AS t WHERE TRUE")


async def choose_replaced(
    db: Connection, scope: WalkScope, after: bytes, limit: int, *, listing: Query, may_be_needed: MayBeNeeded
) -> WalkPage:
    """The next page of versions, whose rows tell when they were replaced."""
    oldest, horizon = scope.oldest_id(DataKind.WORKFLOW_VERSIONS), scope.horizon(DataKind.WORKFLOW_VERSIONS)
    rows = await db.fetch(listing, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
    unneeded = [
        row
        for row in rows
        if row["replaced_at"] is not None and row["replaced_at"] <= horizon and not await may_be_needed(db, scope, row)
    ]
    return page_of(rows, unneeded, limit, end=oldest)


async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    return await choose_replaced(db, scope, after, limit, listing=LIST_OLD, may_be_needed=_may_be_needed)


async def _may_be_needed(db: Connection, scope: WalkScope, version: Row) -> bool:
    if version["current_id"] == version["id"]:
        return True
    row = await db.fetch_one(
        COUNT_TRIGGERS,
        environment_id=scope.environment_id,
        version_id=version["id"],
        first=first_id(Millis(version["created_at"] - CLOCK_TOLERANCE)),
        last=last_id(Millis(version["replaced_at"] + CLOCK_TOLERANCE)),
        limit=_MAX_TRIGGERS,
    )
    return row is None or row["own"] > 0 or row["looked_at"] >= _MAX_TRIGGERS


async def choose_moved(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    """The next page of versions that nobody saved, and with which no run goes on any more."""
    oldest = scope.oldest_id(DataKind.WORKFLOW_VERSIONS)
    rows = await db.fetch(LIST_MOVED, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
    unneeded = [row for row in rows if not await _has_runs(db, scope, row)]
    return page_of(rows, unneeded, limit, end=oldest)


async def _has_runs(db: Connection, scope: WalkScope, version: Row) -> bool:
    row = await db.fetch_one(
        COUNT_RUNS,
        environment_id=scope.environment_id,
        version_id=version["id"],
        last=last_id(Millis(version["created_at"] + DAY)),
        limit=_MAX_TRIGGERS,
    )
    return row is None or row["own"] > 0 or row["looked_at"] >= _MAX_TRIGGERS


async def delete(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
    ids = [row["id"] for row in rows]
    await db.execute(DELETE_NOTES, environment_id=scope.environment_id, ids=ids)
    return Deleted(await db.execute(DELETE_VERSIONS, environment_id=scope.environment_id, ids=ids))


WALK = Walk(
    name="workflow versions",
    kind=DataKind.WORKFLOW_VERSIONS,
    horizon_of=(DataKind.WORKFLOW_VERSIONS,),
    choose=choose,
    delete=delete,
    due=DUE,
    page_size=50,
)
MOVED_WALK = Walk(
    name="moved workflow versions",
    kind=DataKind.WORKFLOW_VERSIONS,
    horizon_of=(DataKind.WORKFLOW_VERSIONS,),
    choose=choose_moved,
    delete=delete,
    due=DUE,
    page_size=50,
)
