"""What waits in the store: how much of each kind, and since when. Every statement has a bounded cost.

Counting stops at a limit, and rows are found in the order of an index, so that a million waiting rows cost no more than
the limit. Environments and endpoints that have something waiting are found by loose index scans.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Query, sql
from clarion.db.queue_plans import distinct_environments, distinct_pairs, due_environments, prefer_index_scans
from clarion.ids import EnvironmentId, id_millis

MAX_COUNTED = 10_000


class Queue(StrEnum):
    """Who takes what waits."""

    LANE = "lane"
    """Lanes: triggers and recipients without a run yet, and runs that are due."""
    SEND = "send"
    """Senders: messages that are due at a provider."""
    WEBHOOK = "webhook"
    """Webhooks: events that are due at an endpoint."""


class QueueBacklog(Struct, frozen=True, kw_only=True):
    """What waits in one queue and could be worked on now."""

    count: int = 0
    """At most `MAX_COUNTED`."""
    since: Millis | None = None
    """When the oldest of it was due."""

    @property
    def is_capped(self) -> bool:
        return self.count >= MAX_COUNTED

    def seconds(self, now: Millis) -> float:
        return 0.0 if self.since is None else max(0, now - self.since) / 1000


_PRIORITIES = "priorities (priority) AS (VALUES (0), (1), (2), (3))"
_CHANNELS = "channels (type) AS (VALUES ('email'), ('sms'), ('chat'), ('push'), ('tool'), ('http_request'))"
_ONE = ":environment_id"


def _count(rows: str, order: str) -> str:
    return f"(SELECT COUNT(*) FROM (SELECT 1 FROM {rows} ORDER BY {order} LIMIT :limit) AS counted)"


def _first(column: str, rows: str, order: str) -> str:
    return f"(SELECT {column} FROM {rows} ORDER BY {order} LIMIT 1)"


def _trigger_columns(state: str, environment: str) -> str:
    rows = f"triggers WHERE environment_id = {environment} AND state = '{state}' AND priority = p.priority"
    return f"{_count(rows, 'id')} AS count, {_first('created_at', rows, 'id')} AS since"


def _part_columns(environment: str) -> str:
    rows = f"trigger_parts WHERE environment_id = {environment} AND priority = p.priority"
    return f"{_count(rows, 'trigger_id, id')} AS count, {_first('trigger_id', rows, 'trigger_id, id')} AS trigger_id"


def _run_columns(environment: str) -> str:
    rows = f"jobs WHERE environment_id = {environment} AND queue = 1 AND due_at <= :now"
    return f"{_count(rows, 'due_at, id')} AS count, {_first('due_at', rows, 'due_at, id')} AS since"


def _send_columns(environment: str) -> str:
    # Sends in flight are due when their lease ends, so they do not count.
    rows = (
        f"jobs WHERE environment_id = {environment} AND queue = 2 AND type = c.type AND priority = p.priority "
        "AND due_at <= :now"
    )
    return f"{_count(rows, 'due_at, id')} AS count, {_first('due_at', rows, 'due_at, id')} AS since"


def _delivery_columns() -> str:
    rows = (
        "webhook_deliveries AS d WHERE d.environment_id = e.environment_id AND d.endpoint_id = e.id "
        "AND d.status = 'queued' AND d.due_at <= :now"
    )
    return f"{_count(rows, 'd.due_at, d.id')} AS count, {_first('d.due_at', rows, 'd.due_at, d.id')} AS since"


def _trigger_query(state: str) -> Query:
    return sql(f"""
        WITH RECURSIVE {distinct_environments("waiting", f"triggers WHERE state = '{state}'")}, {_PRIORITIES}
        SELECT {_trigger_columns(state, "e.id")}
        FROM waiting AS e CROSS JOIN priorities AS p WHERE e.id IS NOT NULL
    """)


def _own_trigger_query(state: str) -> Query:
    return sql(f"WITH {_PRIORITIES} SELECT {_trigger_columns(state, _ONE)} FROM priorities AS p")


QUEUED_TRIGGERS = _trigger_query("queued")
SPLITTING_TRIGGERS = _trigger_query("splitting")
PARTS = sql(f"""
    WITH RECURSIVE {distinct_environments("waiting", "trigger_parts WHERE lane >= 0")}, {_PRIORITIES}
    SELECT {_part_columns("e.id")} FROM waiting AS e CROSS JOIN priorities AS p WHERE e.id IS NOT NULL
""")
DUE_RUNS = sql(f"""
    WITH RECURSIVE {due_environments("due", "jobs WHERE queue = 1")}
    SELECT {_run_columns("e.id")} FROM due AS e
""")
DUE_SENDS = sql(f"""
    WITH RECURSIVE {distinct_environments("waiting", "jobs WHERE queue = 2")}, {_PRIORITIES}, {_CHANNELS}
    SELECT {_send_columns("e.id")}
    FROM waiting AS e CROSS JOIN priorities AS p CROSS JOIN channels AS c WHERE e.id IS NOT NULL
""")
# Claimed sends are due when their lease ends; those that wait for another attempt are due later, too.
SENDS_UNDER_WAY = sql(f"""
    WITH RECURSIVE {distinct_environments("waiting", "jobs WHERE queue = 2")}, {_PRIORITIES}, {_CHANNELS}
    SELECT (
        SELECT COUNT(*) FROM (
            SELECT status FROM jobs
            WHERE environment_id = e.id AND queue = 2 AND type = c.type AND priority = p.priority AND due_at > :now
            ORDER BY due_at, id LIMIT :limit
        ) AS later WHERE status = 'running'
    ) AS count
    FROM waiting AS e CROSS JOIN priorities AS p CROSS JOIN channels AS c WHERE e.id IS NOT NULL
""")
DUE_DELIVERIES = sql(f"""
    WITH RECURSIVE
    {distinct_environments("queued", "webhook_deliveries WHERE status = 'queued'")},
    {distinct_pairs("waiting", "queued", "endpoint_id", "webhook_deliveries WHERE status = 'queued'")}
    SELECT {_delivery_columns()} FROM waiting AS w
    JOIN webhook_endpoints AS e ON e.environment_id = w.environment_id AND e.id = w.id AND e.active
""")

OWN_QUEUED_TRIGGERS = _own_trigger_query("queued")
OWN_SPLITTING_TRIGGERS = _own_trigger_query("splitting")
OWN_PARTS = sql(f"WITH {_PRIORITIES} SELECT {_part_columns(_ONE)} FROM priorities AS p")
OWN_DUE_RUNS = sql(f"SELECT {_run_columns(_ONE)}")
OWN_DUE_SENDS = sql(f"""
    WITH {_PRIORITIES}, {_CHANNELS} SELECT {_send_columns(_ONE)} FROM priorities AS p CROSS JOIN channels AS c
""")
OWN_DUE_DELIVERIES = sql(f"""
    SELECT {_delivery_columns()} FROM webhook_endpoints AS e WHERE e.environment_id = :environment_id AND e.active
""")


async def read_backlog(db: Connection, now: Millis) -> dict[Queue, QueueBacklog]:
    """What waits in each queue at this moment, in all environments together."""
    await prefer_index_scans(db)
    limits = {"limit": MAX_COUNTED}
    due = {"limit": MAX_COUNTED, "now": now}
    lanes = [
        *await db.fetch(QUEUED_TRIGGERS, **limits),
        *await db.fetch(SPLITTING_TRIGGERS, **limits),
        *await db.fetch(DUE_RUNS, **due),
        *map(_part_row, await db.fetch(PARTS, **limits)),
    ]
    return {
        Queue.LANE: _add_up(lanes, MAX_COUNTED),
        Queue.SEND: _add_up(await db.fetch(DUE_SENDS, **due), MAX_COUNTED),
        Queue.WEBHOOK: _add_up(await db.fetch(DUE_DELIVERIES, **due), MAX_COUNTED),
    }


async def count_sends_under_way(db: Connection, now: Millis) -> int:
    """How many messages are at their providers at this moment, up to `MAX_COUNTED`."""
    await prefer_index_scans(db)
    count: int = sum(row["count"] for row in await db.fetch(SENDS_UNDER_WAY, now=now, limit=MAX_COUNTED))
    return min(count, MAX_COUNTED)


async def read_own_backlog(
    db: Connection, environment_id: EnvironmentId, now: Millis, *, limit: int
) -> dict[Queue, QueueBacklog]:
    """What waits in each queue of one environment, counted up to `limit`."""
    await prefer_index_scans(db)
    own = {"environment_id": environment_id, "limit": limit}
    due = {**own, "now": now}
    lanes = [
        *await db.fetch(OWN_QUEUED_TRIGGERS, **own),
        *await db.fetch(OWN_SPLITTING_TRIGGERS, **own),
        *await db.fetch(OWN_DUE_RUNS, **due),
        *map(_part_row, await db.fetch(OWN_PARTS, **own)),
    ]
    return {
        Queue.LANE: _add_up(lanes, limit),
        Queue.SEND: _add_up(await db.fetch(OWN_DUE_SENDS, **due), limit),
        Queue.WEBHOOK: _add_up(await db.fetch(OWN_DUE_DELIVERIES, **due), limit),
    }


def _part_row(row: Row) -> Row:
    return {"count": row["count"], "since": _moment_of(row)}


def _moment_of(row: Row) -> Millis | None:
    return None if row["trigger_id"] is None else id_millis(row["trigger_id"])


def _add_up(rows: Iterable[Row], limit: int) -> QueueBacklog:
    waiting = [row for row in rows if row["count"]]
    count = sum(row["count"] for row in waiting)
    return QueueBacklog(count=min(count, limit), since=min((row["since"] for row in waiting), default=None))
