"""Writing what a unit of work decided, in one statement for each kind of row, and the events of webhooks about it."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import Insert, sql
from clarion.engine.records import NewMessage, Run
from clarion.ids import EnvironmentId
from clarion.jobs.store import delete_pending, insert_jobs, update_jobs
from clarion.jsontext import json_text
from clarion.runs.notifications.model import step_mask
from clarion.runs.status import STORED, decide_run_status, settle_run_statuses
from clarion.vocabulary import Channel, MessageStatus
from clarion.waits.message_events import get_awaited
from clarion.webhooks.events import append_message_events, get_listeners
from clarion.webhooks.model import EventType

POINT_TO_DIGEST = sql("""
    UPDATE notifications SET digested_into = :digested_into, updated_at = :now
    {each: environment_id uuid, id uuid, digested_into uuid}
    WHERE environment_id = :environment_id AND id = :id
""")
POINT_TO_VERSION = sql("""
    UPDATE notifications SET version_id = :version_id, step_types = :step_types, updated_at = :now
    {each: environment_id uuid, id uuid, version_id uuid, step_types integer}
    WHERE environment_id = :environment_id AND id = :id
""")


async def write_runs(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], now: Millis) -> None:
    """Everything that is new or changed of the given runs."""
    started = [run for run in runs if run.is_new]
    versions = {run.version.id: run.version for run in started}
    masks = {one.id: step_mask(step.type for step in one.steps if step.active) for one in versions.values()}
    rows = [_notification_row(environment_id, run, masks[run.version.id], now) for run in started]
    await _insert(db, NOTIFICATIONS, rows)
    merged = [run for run in runs if not run.is_new and run.digested_into is not None]
    await _many(
        db,
        POINT_TO_DIGEST,
        [
            {"environment_id": environment_id, "id": run.id, "digested_into": run.digested_into, "now": now}
            for run in merged
        ],
    )
    await _write_moved(db, environment_id, [run for run in runs if run.is_moved], now)
    new_jobs = ((run.id, run.step_of(job).type, job) for run in runs for job in run.jobs if job.is_new)
    await insert_jobs(db, environment_id, new_jobs, now)
    changed = (job for run in runs for job in run.jobs if job.changed and not job.is_new)
    await update_jobs(db, environment_id, changed, now)
    await settle_run_statuses(db, environment_id, (run.id for run in runs if not run.is_new), now)
    await _insert(db, MESSAGES, [_message_row(environment_id, run, one, now) for run in runs for one in run.messages])


async def _write_moved(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], now: Millis) -> None:
    """Of runs that go on with another version: this, and that the jobs of other steps are gone."""
    dropped = [job_id for run in runs for job_id in run.dropped_jobs]
    if dropped:
        await delete_pending(db, environment_id, dropped)
    scope = {"environment_id": environment_id, "now": now}
    masks = {run.version.id: step_mask(step.type for step in run.version.steps if step.active) for run in runs}
    rows = [{**scope, "id": run.id, "version_id": run.version.id, "step_types": masks[run.version.id]} for run in runs]
    await _many(db, POINT_TO_VERSION, rows)


async def _many(db: Connection, query: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        await db.execute_many(query, rows)


async def _insert(db: Connection, into: Insert, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        await db.insert_many(into, rows)


NOTIFICATIONS = Insert(
    "notifications",
    *("environment_id", "id", "trigger_id", "workflow_id", "version_id", "subscriber_id"),
    *("step_types", "recipient", "topics", "digested_into", "created_at", "updated_at", "status"),
)


def _notification_row(environment_id: EnvironmentId, run: Run, step_types: int, now: Millis) -> tuple[Any, ...]:
    return (
        *(environment_id, run.id, run.trigger.id, run.workflow.id, run.version.id, run.subscriber.id),
        *(step_types, _json(run.recipient), _json(run.topics or None), run.digested_into, now, now, _status(run)),
    )


def _status(run: Run) -> int:
    steps = run.version.steps
    return STORED[decide_run_status((steps[job.step].type, job) for job in run.jobs)]


MESSAGES = Insert(
    "messages",
    *("environment_id", "id", "notification_id", "job_id", "trigger_id", "workflow_id", "step_id"),
    *("subscriber_id", "channel", "provider_id", "status", "content", "subject", "title", "email", "phone"),
    *("email_options", "webhook_url", "device_tokens", "cta", "avatar", "data", "severity"),
    *("seen", "read", "archived", "delivered_at", "error_text", "created_at", "updated_at", "position", "context_keys"),
    "endpoint_id",
    *("tracking", "unsubscribe_url"),
)


def _message_row(environment_id: EnvironmentId, run: Run, message: NewMessage, now: Millis) -> tuple[Any, ...]:
    delivered_at = None if message.delivered_at is None else json_text([message.delivered_at])
    return (
        *(environment_id, message.id, run.id, message.job_id, run.trigger.id, run.workflow.id, message.step_id),
        *(run.subscriber.id, message.channel, message.provider_id, message.status, message.content, message.subject),
        *(message.title, message.email, message.phone, _json(message.email_options), message.webhook_url),
        *(_json(message.device_tokens), _json(message.cta), message.avatar, _json(message.data), message.severity),
        *(False, False, False, delivered_at, message.error_text, now, now, message.id),
        run.trigger.context_keys,
        message.endpoint_id,
        *(_json(message.tracking), message.unsubscribe_url),
    )


def _json(value: Any) -> str | None:
    return None if value is None else json_text(value)


async def emit_run_events(
    db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], version: int, now: Millis
) -> None:
    """Write events about messages that are in the inbox now, and about those that have no address to go to.

    `version` is that of the environment's configuration.
    """
    listeners = await get_listeners(db, environment_id, version)
    if not listeners and not await get_awaited(db, environment_id, version):
        return
    events = [
        (EventType.MESSAGE_SENT if message.channel is Channel.IN_APP else EventType.MESSAGE_FAILED, message.id)
        for run in runs
        for message in run.messages
        if message.channel is Channel.IN_APP or message.status is MessageStatus.WARNING
    ]
    await append_message_events(db, environment_id, events, now, listeners=listeners)
