"""Records that nothing needs once they are old: the audit log, counts, and events of webhooks with their deliveries.

Deliveries are retried for less time than they are kept.
"""

from collections.abc import Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.environments.options import DataKind
from clarion.retention.progress import due_query
from clarion.retention.scope import Deleted, Walk, WalkPage, WalkScope, page_of

DELETE_EVENT_PEOPLE = sql("""
    DELETE FROM webhook_event_people WHERE environment_id = :environment_id AND event_id {any:ids}
""")


def _make_walk(table: str, kind: DataKind, delete_parts: Query | None = None) -> Walk:
    """A walk that deletes all old rows of a table, and before them what `delete_parts` deletes by their ids."""
    list_old = sql(f"""
        SELECT id FROM {table}
        WHERE environment_id = :environment_id AND id > :after AND id <= :oldest ORDER BY id LIMIT :limit
    """)
    delete_by_id = sql(f"DELETE FROM {table} WHERE environment_id = :environment_id AND id {{any:ids}}")

    async def choose(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
        oldest = scope.oldest_id(kind)
        rows = await db.fetch(list_old, environment_id=scope.environment_id, after=after, oldest=oldest, limit=limit)
        return page_of(rows, rows, limit, end=oldest)

    async def delete(db: Connection, scope: WalkScope, rows: Sequence[Row]) -> Deleted:
        ids = [row["id"] for row in rows]
        if delete_parts is not None:
            await db.execute(delete_parts, environment_id=scope.environment_id, ids=ids)
        return Deleted(await db.execute(delete_by_id, environment_id=scope.environment_id, ids=ids))

    name = table.replace("_", " ")
    due = due_query(f"{table} AS t WHERE TRUE")
    return Walk(name=name, kind=kind, horizon_of=(kind,), choose=choose, delete=delete, due=due)


AUDIT = _make_walk("audit_entries", DataKind.AUDIT)
COUNTS = _make_walk("integration_counts", DataKind.AUDIT)
# Deliveries first: one without its event fails, and an event without deliveries is of no use.
WEBHOOKS = (
    _make_walk("webhook_deliveries", DataKind.WEBHOOKS),
    _make_walk("webhook_events", DataKind.WEBHOOKS, DELETE_EVENT_PEOPLE),
)
