"""Rules that hold in a store: some without pending work, whatever was killed before, and some always."""

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId

_VIOLATIONS = {
    "accepted triggers that were never expanded": """
        SELECT count(*) AS n FROM triggers WHERE state IN ('queued', 'splitting', 'canceling')
    """,
    "parts of triggers that were never claimed": "SELECT count(*) AS n FROM trigger_parts",
    "triggers that failed": "SELECT count(*) AS n FROM triggers WHERE state = 'failed'",
    "jobs without a final status": """
        SELECT count(*) AS n FROM jobs WHERE status IN ('pending', 'queued', 'running', 'delayed')
    """,
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

_OUTBOX = "('svc-email', 'svc-sms')"
# Rows that refer to others which are gone: child, what it refers to, and which of the children.
_REFERENCES = {
    "runs without their trigger": ("notifications", "triggers", "p.id = t.trigger_id", ""),
    "runs without their version": ("notifications", "workflow_versions", "p.id = t.version_id", ""),
    "workflows without their version": ("workflows", "workflow_versions", "p.id = t.version_id", ""),
    "jobs without their run": ("jobs", "notifications", "p.id = t.notification_id", ""),
    "messages without their trigger": ("messages", "triggers", "p.id = t.trigger_id", ""),
    "messages that were sent and have no job": (
        *("messages", "jobs", "p.id = t.job_id"),
        f"AND t.channel <> 'in_app' AND COALESCE(t.provider_id, '') NOT IN {_OUTBOX}",
    ),
    "digest events without their job": ("digest_events", "jobs", "p.id = t.job_id", ""),
    "digest events without their window": ("digest_events", "digest_windows", "p.id = t.window_id", ""),
    "open windows without their leader": (
        "digest_windows",
        "jobs",
        "p.id = t.leader_id",
        "AND t.leader_id IS NOT NULL",
    ),
    "parts without their trigger": ("trigger_parts", "triggers", "p.id = t.trigger_id", ""),
    "deliveries without their event": (
        *("webhook_deliveries", "webhook_events", "p.id = t.event_id"),
        "AND t.status = 'queued'",
    ),
}


async def find_broken(db: Connection) -> dict[str, int]:
    """Return every broken rule with the number of violations; there must be no pending work."""
    found = {}
    for rule, text in _VIOLATIONS.items():
        row = await db.fetch_one(sql(text))
        if row is None or row["n"]:
            found[rule] = -1 if row is None else row["n"]
    return found | await find_orphans(db)


async def find_orphans(db: Connection, environment_id: EnvironmentId | None = None) -> dict[str, int]:
    """Return how many rows refer to others that are gone, in one environment or in all; there may be pending work."""
    found = {}
    of = "TRUE" if environment_id is None else "t.environment_id = :environment_id"
    for rule, (child, parent, link, condition) in _REFERENCES.items():
        counting = sql(f"""
            SELECT count(*) AS n FROM {child} AS t WHERE {of} {condition} AND NOT EXISTS (
                SELECT 1 FROM {parent} AS p WHERE p.environment_id = t.environment_id AND {link})
        """)
        row = await db.fetch_one(counting, **({} if environment_id is None else {"environment_id": environment_id}))
        if row is None or row["n"]:
            found[rule] = -1 if row is None else row["n"]
    return found
