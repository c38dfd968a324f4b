"""Functions that insert rows for tests. Everything has a default, so that a test names only what it is about."""

import itertools
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.ids import (
    JobId,
    MessageId,
    NotificationId,
    SubscriberKey,
    TransactionKey,
    TriggerId,
    WorkflowId,
    WorkflowKey,
    WorkflowVersionId,
    id_text,
    new_id,
)
from clarion.jobs.details import ExecutionDetail
from clarion.jsontext import json_text
from clarion.runs.notifications.model import step_mask
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import upsert_subscriber
from clarion.vocabulary import Channel, JobStatus, MessageStatus, Severity, StepType
from clarion.workflows.model import PreferenceLayer, Step, Workflow, WorkflowVersion
from clarion.workflows.store import insert_workflow, list_versions_by_id

NOW = Millis(1_767_225_600_000)  # 2026-01-01T00:00:00Z, the time of the `clock` fixture

_numbers = itertools.count(1)


class MadeTrigger(Struct, frozen=True, kw_only=True):
    id: TriggerId
    transaction: TransactionKey
    workflow: Workflow


class MadeNotification(Struct, frozen=True, kw_only=True):
    id: NotificationId
    trigger: MadeTrigger
    subscriber: Subscriber


class MadeJob(Struct, frozen=True, kw_only=True):
    id: JobId
    notification: MadeNotification


class MadeMessage(Struct, frozen=True, kw_only=True):
    id: MessageId
    job: MadeJob

    @property
    def text(self) -> str:
        """The id in the form of the API."""
        return id_text(self.id)


async def make_subscriber(
    database: Database, environment: Environment, key: str = "ada", *, now: Millis = NOW, **fields: Any
) -> Subscriber:
    """Insert or update the subscriber with this key."""

    async def upsert(db: Connection) -> Subscriber:
        subscriber, _ = await upsert_subscriber(db, environment.id, SubscriberKey(key), fields, now)
        return subscriber

    return await database.transaction(upsert)


def make_step(kind: StepType, number: int = 0, **controls: Any) -> Step:
    return Step(
        id=id_text(new_id(NOW)), step_id=f"{kind}-{number}", name=f"Step {number}", type=kind, controls=controls
    )


async def make_workflow(
    database: Database,
    environment: Environment,
    *,
    key: str | None = None,
    name: str = "Welcome",
    steps: Sequence[StepType | Step] = (StepType.IN_APP,),
    active: bool = True,
    tags: Sequence[str] = (),
    severity: Severity = Severity.NONE,
    default_preference: PreferenceLayer | None = None,
    user_preference: PreferenceLayer | None = None,
    now: Millis = NOW,
) -> Workflow:
    version = WorkflowVersion(
        environment_id=environment.id,
        id=WorkflowVersionId(new_id(now)),
        workflow_id=WorkflowId(new_id(now)),
        number=1,
        steps=[
            step if isinstance(step, Step) else make_step(step, number) for number, step in enumerate(steps, start=1)
        ],
        payload_schema=None,
        validate_payload=False,
        created_at=now,
    )
    workflow = Workflow(
        environment_id=environment.id,
        id=version.workflow_id,
        key=WorkflowKey(key or f"workflow-{next(_numbers)}"),
        name=name,
        description=None,
        active=active,
        tags=list(tags),
        severity=severity,
        default_preference=default_preference,
        user_preference=user_preference,
        version_id=version.id,
        created_at=now,
        updated_at=now,
    )
    inserted = await database.transaction(lambda db: insert_workflow(db, workflow, version))
    assert inserted, f"a workflow '{workflow.key}' exists already"
    return workflow


async def steps_of(database: Database, workflow: Workflow) -> list[Step]:
    """Return the steps of the workflow's current version."""
    versions = await database.read(
        lambda db: list_versions_by_id(db, workflow.environment_id, [workflow.version_id]),
    )
    return versions[workflow.version_id].steps


async def make_trigger(
    database: Database,
    environment: Environment,
    *,
    workflow: Workflow | None = None,
    transaction: str | None = None,
    payload: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
    now: Millis = NOW,
) -> MadeTrigger:
    made = MadeTrigger(
        id=TriggerId(new_id(now)),
        transaction=TransactionKey(transaction or f"transaction-{next(_numbers)}"),
        workflow=workflow or await make_workflow(database, environment),
    )
    await _insert(
        database,
        "triggers",
        environment_id=environment.id,
        id=made.id,
        transaction_key=made.transaction,
        workflow_id=made.workflow.id,
        version_id=made.workflow.version_id,
        payload=json_text(payload or {}),
        overrides=None if overrides is None else json_text(overrides),
        created_at=now,
    )
    return made


async def make_notification(
    database: Database,
    environment: Environment,
    *,
    trigger: MadeTrigger | None = None,
    subscriber: Subscriber | None = None,
    recipient: Any = None,
    topics: Sequence[dict[str, str]] | None = None,
    digested_into: NotificationId | None = None,
    now: Millis = NOW,
) -> MadeNotification:
    """Insert a run without jobs; its step types are those of the workflow."""
    made = MadeNotification(
        id=NotificationId(new_id(now)),
        trigger=trigger or await make_trigger(database, environment, now=now),
        subscriber=subscriber or await make_subscriber(database, environment),
    )
    steps = await steps_of(database, made.trigger.workflow)
    await _insert(
        database,
        "notifications",
        environment_id=environment.id,
        id=made.id,
        trigger_id=made.trigger.id,
        workflow_id=made.trigger.workflow.id,
        version_id=made.trigger.workflow.version_id,
        subscriber_id=made.subscriber.id,
        step_types=step_mask(step.type for step in steps),
        recipient=None if recipient is None else json_text(recipient),
        topics=None if topics is None else json_text(topics),
        digested_into=digested_into,
        created_at=now,
        updated_at=now,
    )
    return made


async def make_job(
    database: Database,
    environment: Environment,
    *,
    notification: MadeNotification | None = None,
    step: int = 0,
    kind: StepType = StepType.IN_APP,
    status: JobStatus = JobStatus.COMPLETED,
    provider_id: str | None = None,
    digest: dict[str, Any] | None = None,
    details: Sequence[ExecutionDetail] = (),
    now: Millis = NOW,
) -> MadeJob:
    made = MadeJob(
        id=JobId(new_id(now)), notification=notification or await make_notification(database, environment, now=now)
    )
    await _insert(
        database,
        "jobs",
        environment_id=environment.id,
        id=made.id,
        notification_id=made.notification.id,
        step=step,
        type=kind,
        status=status,
        provider_id=provider_id,
        digest=None if digest is None else json_text(digest),
        details=json_text(details),
        created_at=now,
        updated_at=now,
    )
    return made


async def make_message(
    database: Database,
    environment: Environment,
    *,
    subscriber: Subscriber | None = None,
    job: MadeJob | None = None,
    transaction: str | None = None,
    payload: dict[str, Any] | None = None,
    channel: Channel = Channel.IN_APP,
    now: Millis = NOW,
    **columns: Any,
) -> MadeMessage:
    """Insert a message and, unless a job is given, its run; `columns` are stored as they are, JSON as text."""
    if job is None:
        trigger = await make_trigger(database, environment, transaction=transaction, payload=payload, now=now)
        run = await make_notification(database, environment, trigger=trigger, subscriber=subscriber, now=now)
        job = await make_job(database, environment, notification=run, now=now)
    made = MadeMessage(id=MessageId(new_id(now)), job=job)
    trigger = job.notification.trigger
    values: dict[str, Any] = {
        "environment_id": environment.id,
        "id": made.id,
        "notification_id": job.notification.id,
        "job_id": job.id,
        "trigger_id": trigger.id,
        "workflow_id": trigger.workflow.id,
        "step_id": new_id(now),
        "subscriber_id": job.notification.subscriber.id,
        "channel": channel,
        "status": MessageStatus.SENT,
        "content": "Hello",
        "severity": Severity.NONE,
        "seen": False,
        "read": False,
        "archived": False,
        "position": made.id,
        "created_at": now,
        "updated_at": now,
    }
    await _insert(database, "messages", **(values | columns))
    return made


async def _insert(database: Database, table: str, /, **values: Any) -> None:
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    query = sql(f"INSERT INTO {table} ({names}) VALUES ({marks})")
    await database.transaction(lambda db: db.execute(query, **values))
