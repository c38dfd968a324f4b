"""Writing what a unit of work decided, in one statement for each kind of row."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.records import Job, Message, Run
from clarion.ids import EnvironmentId
from clarion.jsontext import json_text
from clarion.notifications.model import step_mask

INSERT_NOTIFICATION = sql("""
    INSERT INTO notifications (
        environment_id, id, trigger_id, workflow_id, version_id, subscriber_id, step_types, recipient, topics,
        digested_into, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :trigger_id, :workflow_id, :version_id, :subscriber_id, :step_types, :recipient, :topics,
        :digested_into, :now, :now
    )
""")
POINT_TO_DIGEST = sql("""
    UPDATE notifications SET digested_into = :digested_into, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
INSERT_JOB = sql("""
    INSERT INTO jobs (
        environment_id, id, notification_id, step, type, status, provider_id, digest, details, due_at, attempt,
        runnable, outputs, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :notification_id, :step, :type, :status, :provider_id, :digest, :details, :due_at,
        :attempt, :runnable, :outputs, :now, :now
    )
""")
UPDATE_JOB = sql("""
    UPDATE jobs
    SET status = :status, provider_id = :provider_id, digest = :digest, details = :details, due_at = :due_at,
        attempt = :attempt, runnable = :runnable, outputs = :outputs, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
INSERT_MESSAGE = sql("""
    INSERT INTO messages (
        environment_id, id, notification_id, job_id, trigger_id, workflow_id, step_id, subscriber_id, channel,
        provider_id, status, content, subject, title, email, phone, webhook_url, device_tokens, cta, avatar, data,
        severity, seen, read, archived, delivered_at, error_text, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :notification_id, :job_id, :trigger_id, :workflow_id, :step_id, :subscriber_id, :channel,
        :provider_id, :status, :content, :subject, :title, :email, :phone, :webhook_url, :device_tokens, :cta, :avatar,
        :data, :severity, FALSE, FALSE, FALSE, :delivered_at, :error_text, :now, :now
    )
""")


async def write_runs(db: Connection, environment_id: EnvironmentId, runs: Sequence[Run], now: Millis) -> None:
    """Everything that is new or changed of the given runs."""
    started = [run for run in runs if run.is_new]
    await _many(db, INSERT_NOTIFICATION, [_notification_row(environment_id, run, now) for run in started])
    merged = [run for run in runs if not run.is_new and run.digested_into is not None]
    await _many(
        db,
        POINT_TO_DIGEST,
        [
            {"environment_id": environment_id, "id": run.id, "digested_into": run.digested_into, "now": now}
            for run in merged
        ],
    )
    await _many(
        db,
        INSERT_JOB,
        [_job_row(environment_id, job, now) | _job_origin(run, job) for run in started for job in run.jobs],
    )
    await _many(
        db,
        UPDATE_JOB,
        [_job_row(environment_id, job, now) for run in runs if not run.is_new for job in run.jobs if job.changed],
    )
    await _many(
        db, INSERT_MESSAGE, [_message_row(environment_id, run, one, now) for run in runs for one in run.messages]
    )


async def _many(db: Connection, query: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        await db.execute_many(query, rows)


def _notification_row(environment_id: EnvironmentId, run: Run, now: Millis) -> dict[str, Any]:
    return {
        "environment_id": environment_id,
        "id": run.id,
        "trigger_id": run.trigger.id,
        "workflow_id": run.workflow.id,
        "version_id": run.version.id,
        "subscriber_id": run.subscriber.id,
        "step_types": step_mask(step.type for step in run.version.steps if step.active),
        "recipient": _json(run.recipient),
        "topics": _json(run.topics or None),
        "digested_into": run.digested_into,
        "now": now,
    }


def _job_row(environment_id: EnvironmentId, job: Job, now: Millis) -> dict[str, Any]:
    return {
        "environment_id": environment_id,
        "id": job.id,
        "status": job.status,
        "provider_id": job.provider_id,
        "digest": _json(job.digest),
        "details": json_text(job.details),
        "due_at": job.due_at,
        "attempt": job.attempt,
        "runnable": job.runnable,
        "outputs": _json(job.outputs),
        "now": now,
    }


def _job_origin(run: Run, job: Job) -> dict[str, Any]:
    return {"notification_id": run.id, "step": job.step, "type": run.step_of(job).type}


def _message_row(environment_id: EnvironmentId, run: Run, message: Message, now: Millis) -> dict[str, Any]:
    return {
        "environment_id": environment_id,
        "id": message.id,
        "notification_id": run.id,
        "job_id": message.job_id,
        "trigger_id": run.trigger.id,
        "workflow_id": run.workflow.id,
        "step_id": message.step_id,
        "subscriber_id": run.subscriber.id,
        "channel": message.channel,
        "provider_id": message.provider_id,
        "status": message.status,
        "content": message.content,
        "subject": message.subject,
        "title": message.title,
        "email": message.email,
        "phone": message.phone,
        "webhook_url": message.webhook_url,
        "device_tokens": _json(message.device_tokens),
        "cta": _json(message.cta),
        "avatar": message.avatar,
        "data": _json(message.data),
        "severity": message.severity,
        "delivered_at": None if message.delivered_at is None else json_text([message.delivered_at]),
        "error_text": message.error_text,
        "now": now,
    }


def _json(value: Any) -> str | None:
    return None if value is None else json_text(value)
