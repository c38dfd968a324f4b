"""SQL of slim rows: runs by their ids, with what a list shows of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, NotificationId
from clarion.jobs.details import DetailCode
from clarion.jobs.model import JobQueue
from clarion.runs.model import RunRow, RunStep, RunWait, WaitReason
from clarion.runs.status import decide_from_facts, read_fact
from clarion.vocabulary import JobStatus, RunStatus, StepType

LIST_RUNS = sql("""
    SELECT n.id, n.created_at, n.updated_at, n.digested_into, n.workflow_id, g.transaction_key,
        s.key AS subscriber_key, s.first_name, s.last_name, w.key AS workflow_key, w.name AS workflow_name
    FROM notifications AS n
    JOIN triggers AS g ON g.environment_id = n.environment_id AND g.id = n.trigger_id
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    WHERE n.environment_id = :environment_id AND n.id {any:ids}
""")
# The details of a job are only needed to tell why it waits.
LIST_JOBS = sql("""
    SELECT notification_id, step, type, status, queue, attempt, put_off_since, dead_at, due_at, provider_id,
        CASE WHEN status = 'delayed' AND queue = 1 THEN details END AS details
    FROM jobs WHERE environment_id = :environment_id AND notification_id {any:ids} AND type <> 'trigger'
    ORDER BY notification_id, step
""")


async def list_run_rows(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[NotificationId]
) -> dict[NotificationId, RunRow]:
    """Those of the runs that exist. Their status is the one that their jobs have."""
    if not ids:
        return {}
    jobs: dict[NotificationId, list[Row]] = {}
    for job in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(ids)):
        jobs.setdefault(job["notification_id"], []).append(job)
    rows = await db.fetch(LIST_RUNS, environment_id=environment_id, ids=list(ids))
    return {row["id"]: _run_row(row, jobs.get(row["id"], ())) for row in rows}


def _run_row(row: Row, jobs: Iterable[Row]) -> RunRow:
    jobs = list(jobs)
    status = decide_from_facts(map(read_fact, jobs))
    return RunRow(
        id=row["id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        transaction_key=row["transaction_key"],
        subscriber_key=row["subscriber_key"],
        subscriber_name=" ".join(filter(None, (row["first_name"], row["last_name"]))) or None,
        workflow_id=row["workflow_id"],
        workflow_key=row["workflow_key"],
        workflow_name=row["workflow_name"],
        status=status,
        wait=_find_wait(jobs) if status is RunStatus.WAITING else None,
        merged_into=row["digested_into"],
        steps=tuple(
            RunStep(type=StepType(job["type"]), status=JobStatus(job["status"]), provider_id=job["provider_id"])
            for job in jobs
        ),
    )


def _find_wait(jobs: Iterable[Row]) -> RunWait | None:
    """What the run waits for: of several jobs that wait, the one that goes on first."""
    waiting = [job for job in jobs if read_fact(job) == "waiting" and job["due_at"] is not None]
    first: Any = min(waiting, key=lambda job: int(job["due_at"]), default=None)
    return None if first is None else RunWait(until=Millis(first["due_at"]), reason=_reason(first))


def _reason(job: Row) -> WaitReason:
    if job["queue"] == JobQueue.SEND:
        return WaitReason.RATE_LIMIT if job["status"] == JobStatus.DELAYED else WaitReason.RETRY
    if job["details"] and DetailCode.EXTENDED_TO_SCHEDULE.text in job["details"]:
        return WaitReason.SCHEDULE
    return WaitReason.DIGEST if job["type"] == StepType.DIGEST else WaitReason.DELAY
