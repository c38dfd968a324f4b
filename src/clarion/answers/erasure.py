"""Makes the answers of erased people anonymous: the runs of others, which they answered, go on with them."""

from typing import Any, Final

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.model import Subscriber

FORGET_WHO: Final = sql("""
    UPDATE answers SET subscriber_id = NULL WHERE (environment_id, notification_id, step_id) IN (
        SELECT environment_id, notification_id, step_id FROM answers
        WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id LIMIT :limit
    )
    RETURNING notification_id
""")
LIST_JOBS_THAT_ASKED: Final = sql("""
    SELECT id, outputs, details FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:run_ids} AND type = 'ask'
    ORDER BY notification_id, step {for_update}
""")
UPDATE_JOBS: Final = sql("""
    UPDATE jobs SET outputs = :outputs, details = :details
    {each: environment_id uuid, id uuid, outputs text, details text}
    WHERE environment_id = :environment_id AND id = :id
""")


async def forget_answers(db: Connection, person: Subscriber, limit: int) -> int:
    """Forget who gave up to `limit` answers; returns how many."""
    scope = {"environment_id": person.environment_id}
    rows = await db.fetch(FORGET_WHO, **scope, subscriber_id=person.id, limit=limit)
    if rows:
        jobs = await db.fetch(LIST_JOBS_THAT_ASKED, **scope, run_ids=sorted({row["notification_id"] for row in rows}))
        await _forget_in_jobs(db, person, [dict(job) for job in jobs])
    return len(rows)


async def _forget_in_jobs(db: Connection, person: Subscriber, jobs: list[dict[str, Any]]) -> None:
    environment_id: EnvironmentId = person.environment_id
    changed = []
    for job in jobs:
        outputs, details = json_value(job["outputs"]), json_value(job["details"])
        if not isinstance(outputs, dict) or outputs.get("by") != person.key:
            continue
        for detail in details:
            if isinstance(detail.get("raw"), dict) and detail["raw"].get("by") == person.key:
                detail["raw"]["by"] = None
        texts = {"outputs": json_text(outputs | {"by": None}), "details": json_text(details)}
        changed.append({"environment_id": environment_id, "id": job["id"], **texts})
    if changed:
        await db.execute_many(UPDATE_JOBS, changed)
