"""SQL of explanations: everything that is stored of one run, found by indexes alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.contexts.model import Contexts, keys_of, stored_keys
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.queue_plans import prefer_index_scans
from clarion.explain.model import find_channel, name_of
from clarion.explain.segment_store import SegmentWay, list_segment_ways
from clarion.explain.trigger_store import TriggerFacts, find_facts, find_near_key
from clarion.ids import (
    EnvironmentId,
    JobId,
    MessageId,
    NotificationId,
    SubscriberKey,
    first_id,
    last_id,
)
from clarion.jobs.details import DetailCode, ExecutionDetail, code_of, decode_details, in_time_order
from clarion.jobs.model import JobQueue
from clarion.jsontext import json_value
from clarion.preferences.model import GLOBAL
from clarion.runs.notifications.model import Notification
from clarion.runs.notifications.store import get_notification
from clarion.sending.suppressions.model import Suppression
from clarion.sending.suppressions.store import find_suppression
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import list_subscribers_by_id
from clarion.triggers.model import Trigger
from clarion.triggers.store import list_triggers_by_id
from clarion.vocabulary import Channel, JobStatus, MessageStatus, StepType
from clarion.waits.model import EventWait
from clarion.waits.store import list_waits_of_jobs
from clarion.workflows.model import Step, Workflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

LIST_JOBS = sql("""
    SELECT id, step, type, status, details, due_at, queue, dead_at FROM jobs
    WHERE environment_id = :environment_id AND notification_id = :notification_id ORDER BY step
""")
_MESSAGE = """
    id, job_id, channel, status, email, phone, delivery, seen_at, read_at, archived_at, snoozed_until, error_id
"""
LIST_MESSAGES = sql(f"""
    SELECT {_MESSAGE} FROM messages
    WHERE environment_id = :environment_id AND job_id {{any:job_ids}} AND channel <> 'in_app'
""")
# In-app messages have no index by job: they are found by the person and the moment, and by the trigger if they have
# another place since they came back from a snooze.
# Ordered like its index: without statistics, PostgreSQL would read all in-app messages of the environment.
_IN_APP = f"""
    SELECT * FROM (
        SELECT {_MESSAGE} FROM messages
        WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND channel = 'in_app'
        AND archived = %s AND position >= :first AND position <= :last ORDER BY position LIMIT :limit
    ) AS %s WHERE job_id {{any:job_ids}}
"""
LIST_IN_APP_MESSAGES = sql(f"{_IN_APP % ('FALSE', 'kept')} UNION ALL {_IN_APP % ('TRUE', 'archived')}")
# Compared in pairs, so that SQLite walks the index of triggers and not the primary key.
LIST_MOVED_MESSAGES = sql(f"""
    SELECT * FROM (
        SELECT {_MESSAGE} FROM messages
        WHERE environment_id = :environment_id
        AND (trigger_id, id) >= (:trigger_id, :first) AND (trigger_id, id) <= (:trigger_id, :last)
        ORDER BY trigger_id, id LIMIT :limit
    ) AS moved WHERE job_id {{any:job_ids}}
""")
LIST_SWITCHES = sql("""
    SELECT workflow_id, channel, updated_at FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND workflow_id {any:workflow_ids}
""")

LIST_SWITCHES_IN_CONTEXT = sql("""
    SELECT workflow_id, channel, updated_at FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND context_keys = :contexts
    AND workflow_id {any:workflow_ids}
""")

_MAX_IN_APP = 1_000
"""Of a person within the moments of one run."""
_MAX_OF_TRIGGER = 5_000
"""Of a trigger for many people from the moment of one run on; a unit of work makes far fewer at one moment."""
_ID_DRIFT = Millis(2 * SECOND)
"""Ids that are made in the same millisecond run ahead of the clock."""


class StoredJob(Struct, frozen=True, kw_only=True):
    id: JobId
    step: int
    type: StepType
    status: JobStatus
    details: list[ExecutionDetail]
    due_at: Millis | None
    queue: JobQueue | None
    dead_at: Millis | None
    """When its last attempt failed; None where there is nothing to redrive."""

    @property
    def has_deleted_message(self) -> bool:
        """Whether it is recorded that its message was deleted."""
        return any(code_of(one) == DetailCode.MESSAGE_DELETED for one in self.details)


class StoredMessage(Struct, frozen=True, kw_only=True):
    id: MessageId
    job_id: JobId
    channel: Channel
    status: MessageStatus
    email: str | None
    phone: str | None
    delivery: dict[str, Any] | None
    """What receipts told, each kind with its moment."""
    seen_at: Millis | None
    read_at: Millis | None
    archived_at: Millis | None
    snoozed_until: Millis | None
    error_id: str | None


class PreferenceSwitch(Struct, frozen=True, kw_only=True):
    """A channel that a person switched on or off, in one workflow or in all, and when they did so last."""

    is_global: bool
    is_in_context: bool
    """Whether it holds in the contexts of the run alone."""
    channel: Channel
    updated_at: Millis


class StoredRun(Struct, frozen=True, kw_only=True):
    """A run with all that is stored of it; what is None was deleted."""

    notification: Notification
    trigger: Trigger | None
    workflow: Workflow | None
    version: WorkflowVersion | None
    subscriber: Subscriber | None
    jobs: list[StoredJob]
    messages: list[StoredMessage]
    switches: list[PreferenceSwitch]
    facts: TriggerFacts
    near_key: str | None
    """Where the trigger created the person: a key that theirs may be a misspelling of."""
    suppressions: list[Suppression]
    """Of the addresses of its messages that were suppressed then, if they still are."""
    segments: Sequence[SegmentWay]
    """Of the trigger."""
    waits: Mapping[JobId, EventWait] = {}
    """What its steps wait for now."""

    @property
    def subscriber_key(self) -> SubscriberKey:
        if self.subscriber is not None:
            return self.subscriber.key
        recipient = self.notification.recipient
        return SubscriberKey(str(recipient.get("subscriberId", "")) if isinstance(recipient, dict) else "")

    @property
    def name(self) -> str:
        """Of the person."""
        return name_of(self.subscriber, self.subscriber_key)

    @property
    def has_created_person(self) -> bool:
        """Whether nobody had the person's key when the trigger was accepted."""
        return _has_created(self.trigger, self.subscriber)

    @property
    def was_critical(self) -> bool:
        """Whether the workflow was critical when it was triggered."""
        return self.trigger is not None and self.trigger.priority.is_critical

    def step_of(self, job: StoredJob) -> Step | None:
        if self.version is None or job.step >= len(self.version.steps):
            return None
        return self.version.steps[job.step]

    def messages_of(self, job: StoredJob) -> list[StoredMessage]:
        return [one for one in self.messages if one.job_id == job.id]


async def get_run(db: Connection, environment_id: EnvironmentId, notification_id: NotificationId) -> StoredRun:
    """Load a run; raises NotFound."""
    notification = await get_notification(db, environment_id, notification_id)
    triggers = await list_triggers_by_id(db, environment_id, [notification.trigger_id])
    workflows = await list_workflows_by_id(db, environment_id, [notification.workflow_id])
    versions = await list_versions_by_id(db, environment_id, [notification.version_id])
    people = await list_subscribers_by_id(db, environment_id, [notification.subscriber_id])
    jobs = await _list_jobs(db, environment_id, notification_id)
    messages = await _list_messages(db, notification, jobs)
    trigger, person = triggers.get(notification.trigger_id), people.get(notification.subscriber_id)
    return StoredRun(
        notification=notification,
        trigger=trigger,
        workflow=workflows.get(notification.workflow_id),
        version=versions.get(notification.version_id),
        subscriber=person,
        jobs=jobs,
        messages=messages,
        switches=await _list_switches(db, notification, {} if trigger is None else trigger.contexts or {}),
        facts=TriggerFacts() if trigger is None else await find_facts(db, trigger),
        near_key=await _find_near_key(db, trigger, person),
        suppressions=await _list_suppressions(db, environment_id, messages),
        waits=await _list_waits(db, environment_id, jobs),
        segments=() if trigger is None or person is None else await list_segment_ways(db, trigger, person),
    )


async def _list_waits(
    db: Connection, environment_id: EnvironmentId, jobs: Sequence[StoredJob]
) -> Mapping[JobId, EventWait]:
    waiting = [job.id for job in jobs if job.type is StepType.WAIT_FOR and job.status is JobStatus.DELAYED]
    return await list_waits_of_jobs(db, environment_id, waiting)


def _has_created(trigger: Trigger | None, person: Subscriber | None) -> bool:
    """Whether a person is newer than the trigger that names them; ids are in the order of time."""
    if trigger is None or person is None or person.id < trigger.id:
        return False
    return any(one.key == person.key for one in trigger.recipients.people)


async def _find_near_key(db: Connection, trigger: Trigger | None, person: Subscriber | None) -> str | None:
    if trigger is None or person is None or not _has_created(trigger, person):
        return None
    return await find_near_key(db, trigger.environment_id, person.key, before=trigger.id)


async def _list_suppressions(
    db: Connection, environment_id: EnvironmentId, messages: Sequence[StoredMessage]
) -> list[Suppression]:
    suppressions = []
    for message in messages:
        address = message.email if message.channel is Channel.EMAIL else message.phone
        if message.error_id == "suppressed" and address:
            suppressions.append(await find_suppression(db, environment_id, message.channel, address))
    return [one for one in suppressions if one is not None]


async def _list_switches(db: Connection, notification: Notification, contexts: Contexts) -> list[PreferenceSwitch]:
    """What a person has switched in a workflow, and in all workflows; in the contexts of the run or everywhere."""
    scope: dict[str, Any] = {
        "environment_id": notification.environment_id,
        "subscriber_id": notification.subscriber_id,
        "workflow_ids": [GLOBAL, notification.workflow_id],
    }
    rows = [(row, False) for row in await db.fetch(LIST_SWITCHES, **scope)]
    if contexts:
        keys = stored_keys(keys_of(contexts))
        rows += [(row, True) for row in await db.fetch(LIST_SWITCHES_IN_CONTEXT, **scope, contexts=keys)]
    return [
        PreferenceSwitch(
            is_global=row["workflow_id"] == GLOBAL,
            is_in_context=is_in_context,
            channel=Channel(row["channel"]),
            updated_at=row["updated_at"],
        )
        for row, is_in_context in rows
    ]


async def _list_jobs(db: Connection, environment_id: EnvironmentId, notification_id: NotificationId) -> list[StoredJob]:
    rows = await db.fetch(LIST_JOBS, environment_id=environment_id, notification_id=notification_id)
    return [_job(row) for row in rows]


def _job(row: Row) -> StoredJob:
    values = dict(row) | {
        "type": StepType(row["type"]),
        "status": JobStatus(row["status"]),
        "details": in_time_order(decode_details(row["details"])),
        "queue": None if row["queue"] is None else JobQueue(row["queue"]),
    }
    return StoredJob(**values)


async def _list_messages(db: Connection, notification: Notification, jobs: Sequence[StoredJob]) -> list[StoredMessage]:
    environment_id, rows = notification.environment_id, list[Row]()
    sent = [job.id for job in jobs if find_channel(job.type) not in (None, Channel.IN_APP)]
    if sent:
        rows += await db.fetch(LIST_MESSAGES, environment_id=environment_id, job_ids=sent)
    shown = [job for job in jobs if job.type is StepType.IN_APP and job.status is JobStatus.COMPLETED]
    moments = [detail.at for job in shown for detail in job.details]
    if moments:
        await prefer_index_scans(db)
        rows += await db.fetch(
            LIST_IN_APP_MESSAGES,
            environment_id=environment_id,
            subscriber_id=notification.subscriber_id,
            first=first_id(min(moments)),
            last=last_id(Millis(max(moments) + _ID_DRIFT)),
            limit=_MAX_IN_APP,
            job_ids=[job.id for job in shown],
        )
    with_rows = {row["job_id"] for row in rows}
    for job in shown:
        if job.id not in with_rows and not job.has_deleted_message:
            rows += await _list_moved(db, notification, job)
    return [_message(row) for row in sorted(rows, key=lambda row: bytes(row["id"]))]


async def _list_moved(db: Connection, notification: Notification, job: StoredJob) -> Sequence[Row]:
    """The in-app message of a job that has another place in the inbox since it came back from a snooze."""
    moments = [detail.at for detail in job.details]
    return await db.fetch(
        LIST_MOVED_MESSAGES,
        environment_id=notification.environment_id,
        trigger_id=notification.trigger_id,
        first=first_id(min(moments)),
        last=last_id(Millis(max(moments) + _ID_DRIFT)),
        limit=_MAX_OF_TRIGGER,
        job_ids=[job.id],
    )


def _message(row: Row) -> StoredMessage:
    values = dict(row) | {
        "channel": Channel(row["channel"]),
        "status": MessageStatus(row["status"]),
        "delivery": json_value(row["delivery"]),
    }
    return StoredMessage(**values)
