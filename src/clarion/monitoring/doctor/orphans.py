"""Looks for rows whose owner is gone. Without `full`, for each environment among the newest rows only."""

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
    Reference("digest_windows", "leader_id", "jobs", condition="leader_id IS NOT NULL"),
    Reference("topic_subscriptions", "topic_id", "topics"),
    Reference("topic_subscriptions", "subscriber_id", "subscribers"),
    Reference("subscriber_channels", "subscriber_id", "subscribers", order="subscriber_id DESC"),
    Reference("preferences", "subscriber_id", "subscribers", order="subscriber_id DESC"),
    Reference("workflows", "version_id", "workflow_versions"),
    Reference("workflow_version_notes", "id", "workflow_versions"),
    Reference("webhook_event_people", "event_id", "webhook_events", order="event_id DESC"),
    Reference("webhook_deliveries", "event_id", "webhook_events", condition="status = 'queued'"),
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
