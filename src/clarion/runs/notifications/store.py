"""SQL of triggered events."""

from collections.abc import Iterable, Sequence
from typing import Any

from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.http.pages import list_newest_rows
from clarion.ids import EnvironmentId, JobId, NotificationId, TriggerId, find_id, id_text
from clarion.jobs.details import read_details
from clarion.jobs.store import add_payloads
from clarion.jsontext import json_value
from clarion.runs.notifications.filters import COLUMNS
from clarion.runs.notifications.model import EventJob, EventOrigin, Notification, NotificationDetails
from clarion.subscribers.store import list_subscribers_by_id
from clarion.triggers.transactions import list_transaction_keys
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

GET_NOTIFICATION = sql(f"""
    SELECT {COLUMNS} FROM notifications AS t WHERE t.environment_id = :environment_id AND t.id = :id
""")
LIST_ORIGINS = sql("""
    SELECT id, transaction_key, payload, overrides, warnings FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids}
""")
# Leaves out the job of the trigger itself, which is no step of the workflow.
LIST_JOBS = sql("""
    SELECT id, notification_id, step, type, status, provider_id, digest, details, updated_at FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:ids} AND type <> 'trigger'
    ORDER BY notification_id, step
""")


async def get_notification(
    db: Connection, environment_id: EnvironmentId, notification_id: NotificationId
) -> Notification:
    row = await db.fetch_one(GET_NOTIFICATION, environment_id=environment_id, id=notification_id)
    if row is None:
        raise NotFound("Notification", id_text(notification_id))
    return _notification(row)


async def list_notifications(
    db: Connection, listing: Listing, *, page: int, limit: int
) -> tuple[list[Notification], bool]:
    """Return one page, newest first, and whether there are more; it counts nothing."""
    found = await list_newest_rows(db, listing, page=page, limit=limit)
    return [_notification(row) for row in found.rows], found.has_more


async def list_events(
    db: Connection, environment_id: EnvironmentId, notifications: Sequence[Notification]
) -> list[NotificationDetails]:
    """Load everything that belongs to the given runs, with one query for each kind of record."""
    if not notifications:
        return []
    origins = await _list_origins(db, environment_id, [one.trigger_id for one in notifications])
    recipients = await list_subscribers_by_id(db, environment_id, [one.subscriber_id for one in notifications])
    workflows = await list_workflows_by_id(db, environment_id, [one.workflow_id for one in notifications])
    versions = await list_versions_by_id(db, environment_id, [one.version_id for one in notifications])
    jobs = await _list_jobs(db, environment_id, [one.id for one in notifications])
    return [
        NotificationDetails(
            notification=one,
            origin=origins[one.trigger_id],
            subscriber=recipients[one.subscriber_id],
            workflow=workflows[one.workflow_id],
            version=versions[one.version_id],
            jobs=jobs.get(one.id, []),
        )
        for one in notifications
    ]


async def _list_origins(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[TriggerId]
) -> dict[TriggerId, EventOrigin]:
    rows = await db.fetch(LIST_ORIGINS, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {
        row["id"]: EventOrigin(
            transaction_key=row["transaction_key"],
            payload=json_value(row["payload"]),
            overrides=json_value(row["overrides"]),
            warnings=json_value(row["warnings"]) or [],
        )
        for row in rows
    }


async def _list_jobs(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[NotificationId]
) -> dict[NotificationId, list[EventJob]]:
    """List the jobs of each run, in step order."""
    found: dict[NotificationId, list[EventJob]] = {}
    events = []
    for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(ids)):
        job = _job(row)
        found.setdefault(row["notification_id"], []).append(job)
        events += (job.digest or {}).get("events", ())
    if events:
        await add_payloads(db, environment_id, events)
        await _add_transactions(db, environment_id, events)
    return found


async def _add_transactions(db: Connection, environment_id: EnvironmentId, events: Sequence[dict[str, Any]]) -> None:
    """Add the transactions of the events of digests, by which their own runs are found."""
    ids = {TriggerId(found) for one in events if (found := find_id(one["id"])) is not None}
    keys = await list_transaction_keys(db, environment_id, ids)
    for one in events:
        key = keys.get(TriggerId(find_id(one["id"]) or b""))
        if key is not None:
            one["transactionId"] = key


def _notification(row: Row) -> Notification:
    values = dict(row)
    values["recipient"] = json_value(values["recipient"])
    values["topics"] = json_value(values["topics"]) or []
    return Notification(**values)


def _job(row: Row) -> EventJob:
    return EventJob(
        **{
            **dict(row),
            "type": StepType(row["type"]),
            "status": JobStatus(row["status"]),
            "digest": json_value(row["digest"]),
            "details": read_details(JobId(row["id"]), row["details"]),
        }
    )
