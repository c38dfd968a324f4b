"""Rules that hold in a store without pending work, whatever was killed before."""

from clarion.db.port import Connection
from clarion.db.query import sql

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
