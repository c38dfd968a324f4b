"""Checks of what is stored: rows whose owner is gone, and rules that hold in a store without pending work.

Without `full`, owners are looked for among the newest rows of each environment only. The rules hold whatever was
killed before.
"""

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import Query, sql
from clarion.environments.model import Environment
from clarion.ids import EnvironmentId
from clarion.monitoring.doctor.model import Finding, fine, warning
from clarion.vocabulary import count_text

SAMPLE = 2_000
_ALL = 2**62


class Reference(Struct, frozen=True):
    """A column that names a row of another table."""

    table: str
    column: str
    owner: str
    owner_column: str = "id"
    order: str = "id DESC"
    condition: str = "TRUE"
    """Which rows of the table need their owner."""

    @property
    def query(self) -> Query:
        return sql(f"""
            SELECT count(*) AS n FROM (
                SELECT {self.column} AS owner_id FROM {self.table}
                WHERE environment_id = :environment_id AND {self.condition}
                ORDER BY {self.order} LIMIT :limit
            ) AS rows_of
            WHERE NOT EXISTS (
                SELECT 1 FROM {self.owner} AS o
                WHERE o.environment_id = :environment_id AND o.{self.owner_column} = rows_of.owner_id
            )
        """)


REFERENCES = (
    Reference("jobs", "notification_id", "notifications"),
    Reference("notifications", "trigger_id", "triggers"),
    Reference("notifications", "subscriber_id", "subscribers"),
    Reference("notifications", "version_id", "workflow_versions"),
    Reference("messages", "subscriber_id", "subscribers"),
    Reference("messages", "trigger_id", "triggers"),
    # In-app messages and those of the outbox may outlive their runs.
    Reference(
        "messages",
        "job_id",
        "jobs",
        condition="channel <> 'in_app' AND COALESCE(provider_id, '') NOT IN ('svc-email', 'svc-sms')",
    ),
    Reference("trigger_parts", "trigger_id", "triggers"),
    Reference("trigger_attachments", "hash", "attachments", "hash", "trigger_id DESC"),
    Reference("digest_events", "window_id", "digest_windows", order="window_id"),
    Reference("digest_events", "job_id", "jobs", order="window_id"),
    Reference("http_requests", "job_id", "jobs", order="job_id DESC"),
    Reference("http_answers", "trigger_id", "triggers", order="trigger_id DESC"),
    Reference("digest_windows", "leader_id", "jobs", condition="leader_id IS NOT NULL"),
    Reference("topic_subscriptions", "topic_id", "topics"),
    Reference("topic_subscriptions", "subscriber_id", "subscribers"),
    Reference("subscriber_channels", "subscriber_id", "subscribers", order="subscriber_id DESC"),
    Reference("preferences", "subscriber_id", "subscribers", order="subscriber_id DESC"),
    Reference("context_preferences", "subscriber_id", "subscribers", order="subscriber_id DESC"),
    Reference("workflows", "version_id", "workflow_versions"),
    Reference("layouts", "version_id", "layout_versions"),
    Reference("layout_versions", "layout_id", "layouts"),
    Reference("channel_connections", "subscriber_id", "subscribers", condition="subscriber_id IS NOT NULL"),
    Reference("channel_endpoints", "subscriber_id", "subscribers"),
    Reference("chat_links", "subscriber_id", "subscribers", order="digest", condition="subscriber_id IS NOT NULL"),
    Reference("channel_endpoints", "connection_id", "channel_connections", condition="connection_id IS NOT NULL"),
    Reference("workflow_version_notes", "id", "workflow_versions"),
    Reference("webhook_event_people", "event_id", "webhook_events", order="event_id DESC"),
    Reference("webhook_deliveries", "event_id", "webhook_events", condition="status = 'queued'"),
    Reference("schedule_runs", "schedule_id", "schedules", order="schedule_id, moment"),
)


async def check_orphans(db: Connection, environments: list[Environment], *, full: bool) -> list[Finding]:
    limit = _ALL if full else SAMPLE
    findings = [finding for one in environments for finding in await _check_environment(db, one, limit)]
    extent = "any table" if full else f"the newest {SAMPLE} rows of each table"
    return findings or [fine("orphans", f"No row of {extent} lacks its owner.")]


async def count_orphans(db: Connection, environment_id: EnvironmentId, reference: Reference, limit: int = _ALL) -> int:
    row = await db.fetch_one(reference.query, environment_id=environment_id, limit=limit)
    return 0 if row is None else int(row["n"])


async def _check_environment(db: Connection, environment: Environment, limit: int) -> list[Finding]:
    findings = []
    for reference in REFERENCES:
        if count := await count_orphans(db, environment.id, reference, limit):
            owner = reference.owner.replace("_", " ")
            of_table = f"of {reference.table}"
            rows = count_text(count, f"row {of_table} belongs", f"rows {of_table} belong")
            findings.append(
                warning(
                    "orphans",
                    f"In {environment.name}, {rows} to {owner} that do not exist.",
                    "They take space and do nothing. Rows were deleted by hand, or the store was damaged; if "
                    "neither is so, please report it. A backup of before has the owners.",
                )
            )
    return findings


_VIOLATIONS = {
    "accepted triggers that were never expanded": """
        SELECT count(*) AS n FROM triggers WHERE state IN ('queued', 'splitting', 'canceling')
    """,
    "parts of triggers that were never claimed": "SELECT count(*) AS n FROM trigger_parts",
    "triggers that failed": "SELECT count(*) AS n FROM triggers WHERE state = 'failed'",
    "jobs without a final status": """
        SELECT count(*) AS n FROM jobs WHERE status IN ('pending', 'queued', 'running', 'delayed')
    """,
    "runs that are stored as running or waiting": "SELECT count(*) AS n FROM notifications WHERE status IN (1, 2)",
    "jobs that are still in a queue": "SELECT count(*) AS n FROM jobs WHERE queue IS NOT NULL",
    "subscribers with two runs of one trigger": """
        SELECT count(*) AS n FROM (
            SELECT 1 FROM notifications GROUP BY trigger_id, subscriber_id HAVING count(*) > 1
        ) AS twice
    """,
    "triggers with neither a run nor a message that outlived it": """
        SELECT count(*) AS n FROM triggers AS t WHERE t.state = 'done' AND NOT EXISTS (
            SELECT 1 FROM notifications AS r WHERE r.environment_id = t.environment_id AND r.trigger_id = t.id
        ) AND NOT EXISTS (
            SELECT 1 FROM messages AS m WHERE m.environment_id = t.environment_id AND m.trigger_id = t.id)
    """,
    "in-app jobs without exactly one message": """
        SELECT count(*) AS n FROM jobs AS j LEFT JOIN (
            SELECT environment_id, job_id, count(*) AS messages FROM messages GROUP BY environment_id, job_id
        ) AS m ON m.environment_id = j.environment_id AND m.job_id = j.id
        WHERE j.type = 'in_app' AND j.status = 'completed' AND COALESCE(m.messages, 0) <> 1
    """,
    "in-app messages whose run is there and whose job is not complete": """
        SELECT count(*) AS n FROM messages AS m WHERE m.channel = 'in_app' AND EXISTS (
            SELECT 1 FROM notifications AS r
            WHERE r.environment_id = m.environment_id AND r.id = m.notification_id
        ) AND NOT EXISTS (
            SELECT 1 FROM jobs AS j
            WHERE j.environment_id = m.environment_id AND j.id = m.job_id AND j.status = 'completed')
    """,
    "digest windows that are open": "SELECT count(*) AS n FROM digest_windows WHERE leader_id IS NOT NULL",
    "digest events that are in no window or in two": """
        SELECT count(*) AS n FROM jobs AS j WHERE j.type = 'digest' AND j.status IN ('completed', 'merged') AND 1 <> (
            SELECT count(*) FROM digest_events AS e WHERE e.environment_id = j.environment_id AND e.job_id = j.id)
    """,
}


async def find_broken(db: Connection) -> dict[str, int]:
    """Return every broken rule with the number of violations."""
    broken = {}
    for rule, text in _VIOLATIONS.items():
        row = await db.fetch_one(sql(text))
        if row is None or row["n"]:
            broken[rule] = -1 if row is None else row["n"]
    return broken
