"""Records that nothing needs once they are old, each in a table of its own.

The audit log, counts, and events of webhooks with their deliveries, which are retried for less time than they are kept.
Stored responses of idempotency keys and digests of receipts are in the order of time over all environments: a walk goes
up to the shortest retention of any environment, and leaves the rows of those that keep them for longer.
"""

from collections.abc import Sequence

from clarion.clock import DAY, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.environments.options import DataKind
from clarion.ids import first_id, id_millis, last_id
from clarion.retention.walks import Deleted, Walk, WalkPage, WalkScope, due_query, page_of

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
COUNTS = (
    _make_walk("integration_counts", DataKind.AUDIT),
    _make_walk("mail_reactions", DataKind.AUDIT),
)
# Deliveries first: one without its event fails, and an event without deliveries is of no use.
WEBHOOKS = (
    _make_walk("webhook_deliveries", DataKind.WEBHOOKS),
    _make_walk("webhook_events", DataKind.WEBHOOKS, DELETE_EVENT_PEOPLE),
)


LIST_OLD_RESPONSES = sql("""
    SELECT id, environment_id FROM idempotency_keys WHERE id > :after AND id <= :oldest ORDER BY id LIMIT :limit
""")
DELETE_RESPONSES = sql("DELETE FROM idempotency_keys WHERE id {any:ids}")
FIND_END_OF_PAGE = sql("""
    SELECT environment_id, received_at FROM receipts
    WHERE received_at >= :after AND received_at <= :oldest ORDER BY received_at LIMIT 1 OFFSET :limit
""")
LIST_OLD_RECEIPTS = sql("""
    SELECT environment_id, digest, received_at FROM receipts WHERE received_at >= :after AND received_at <= :oldest
""")
DELETE_RECEIPTS = sql("DELETE FROM receipts WHERE environment_id = :environment_id AND digest {any:digests}")


async def choose_responses(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    oldest = last_id(_latest_horizon(scope, DataKind.IDEMPOTENCY))
    rows = await db.fetch(LIST_OLD_RESPONSES, after=after, oldest=oldest, limit=limit)
    old = [row for row in rows if row["id"] <= last_id(_horizon(scope, row, DataKind.IDEMPOTENCY))]
    return page_of(rows, old, limit, end=oldest)


async def delete_responses(db: Connection, _: WalkScope, rows: Sequence[Row]) -> Deleted:
    return Deleted(await db.execute(DELETE_RESPONSES, ids=[row["id"] for row in rows]))


async def choose_receipts(db: Connection, scope: WalkScope, after: bytes, limit: int) -> WalkPage:
    """Their position is a moment: a page has all receipts of its last moment, which may be more than `limit`."""
    since, oldest = id_millis(after), _latest_horizon(scope, DataKind.RECEIPTS)
    next_page = await db.fetch_one(FIND_END_OF_PAGE, after=since, oldest=oldest, limit=limit)
    last = oldest if next_page is None else Millis(next_page["received_at"])
    rows = await db.fetch(LIST_OLD_RECEIPTS, after=since, oldest=last)
    old = [row for row in rows if row["received_at"] <= _horizon(scope, row, DataKind.RECEIPTS)]
    return WalkPage(rows=old, last=first_id(Millis(last + 1)), is_last=next_page is None)


async def delete_receipts(db: Connection, _: WalkScope, rows: Sequence[Row]) -> Deleted:
    digests: dict[bytes, list[bytes]] = {}
    for row in rows:
        digests.setdefault(row["environment_id"], []).append(row["digest"])
    count = 0
    for environment_id, own in digests.items():
        count += await db.execute(DELETE_RECEIPTS, environment_id=environment_id, digests=own)
    return Deleted(count)


def _horizon(scope: WalkScope, row: Row, kind: DataKind) -> Millis:
    return _before(scope, scope.days_in(row["environment_id"], kind))


def _latest_horizon(scope: WalkScope, kind: DataKind) -> Millis:
    return _before(scope, min([scope.days[kind], *(days[kind] for days in scope.by_environment.values())]))


def _before(scope: WalkScope, days: int) -> Millis:
    return Millis(max(scope.now - days * DAY, 0))


RESPONSES = Walk(
    name="idempotency keys",
    kind=DataKind.IDEMPOTENCY,
    horizon_of=(DataKind.IDEMPOTENCY,),
    choose=choose_responses,
    delete=delete_responses,
)
RECEIPTS = Walk(
    name="receipts",
    kind=DataKind.RECEIPTS,
    horizon_of=(DataKind.RECEIPTS,),
    choose=choose_receipts,
    delete=delete_receipts,
)
