"""Senders: jobs that need a provider are claimed under a lease, carried outside any transaction, and recorded.

A claim raises the job's `attempt` and moves `due_at` behind the lease, so that a worker that dies gives its jobs back
by itself; a worker that lives renews the lease while it sends. One that comes too late all the same finds another
attempt number and records nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from clarion.clock import SECOND, Millis
from clarion.conditions import decide_filters
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.load import load_runs
from clarion.engine.records import TAKEN_BY_SENDER, Job, Run, note, variables_of
from clarion.engine.retry import next_attempt_at
from clarion.environments.lanes import follow_indexes
from clarion.ids import EnvironmentId, JobId, MessageId, NotificationId, TriggerId, id_text
from clarion.integrations.model import Integration, failover_key
from clarion.integrations.opened import OpenedIntegrations
from clarion.jsontext import json_value
from clarion.notifications.model import DetailStatus
from clarion.providers.base import FailureKind, Outgoing, SendFailure
from clarion.providers.sending import Carrier
from clarion.vocabulary import Channel, JobStatus, MessageStatus

LEASE = Millis(30 * SECOND)
_BY_ENTRY = frozenset({Channel.CHAT, Channel.PUSH})

CLAIM_SENDS = sql("""
    UPDATE jobs SET status = 'running', attempt = attempt + 1, due_at = :lease_until, updated_at = :now
    WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND runnable = 2 AND due_at <= :now
        ORDER BY due_at, id LIMIT :most {skip_locked}
    )
    RETURNING id, notification_id, step, provider_id, attempt
""")
# Those that are locked are being recorded, and need their lease no longer.
RENEW_LEASES = sql("""
    UPDATE jobs SET due_at = :lease_until
    WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND id {any:job_ids} AND status = 'running' {skip_locked}
    )
""")
# Neither ordered nor joined: either way PostgreSQL would rather walk all messages than look up and sort these few.
LIST_MESSAGES = sql("""
    SELECT job_id, trigger_id, id, channel, provider_id, content, subject, title, email, phone, webhook_url,
        device_tokens, data
    FROM messages WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
""")
LIST_OVERRIDES = sql("""
    SELECT id, overrides FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND overrides IS NOT NULL
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a provider is to be handed of a message."""

    id: MessageId
    channel: Channel
    provider_id: str | None
    content: str
    subject: str | None
    title: str | None
    email: str | None
    phone: str | None
    webhook_url: str | None
    device_tokens: list[str] | None
    data: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a message."""

    status: MessageStatus
    provider_id: str | None
    error_text: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Parcel:
    """A claimed job with all that carrying it takes, and what became of it."""

    environment_id: EnvironmentId
    notification_id: NotificationId
    job: Job
    """Its details are those of this attempt alone."""
    claimed_attempt: int
    integrations: Sequence[Integration]
    messages: list[Message] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    run: Run | None = None
    """Loaded only where an integration's conditions or overrides of a step look at it."""
    outcomes: dict[MessageId, Outcome] = field(default_factory=dict)

    @property
    def needs_run(self) -> bool:
        channels = {message.channel for message in self.messages} - _BY_ENTRY
        return "steps" in self.overrides or any(one.conditions and one.channel in channels for one in self.integrations)


async def claim_sends(
    db: Connection, environment_id: EnvironmentId, integrations: OpenedIntegrations, *, most: int, now: Millis
) -> list[Parcel]:
    """Take up to `most` jobs for this worker alone, with what they need."""
    await follow_indexes(db)
    rows = await db.fetch(CLAIM_SENDS, environment_id=environment_id, now=now, lease_until=now + LEASE, most=most)
    if not rows:
        return []
    opened = await integrations.list(db, environment_id)
    parcels = {JobId(row["id"]): _parcel(environment_id, row, opened) for row in rows}
    messages = await db.fetch(LIST_MESSAGES, environment_id=environment_id, job_ids=list(parcels))
    overrides = await _list_overrides(db, environment_id, {row["trigger_id"] for row in messages})
    for row in sorted(messages, key=itemgetter("id")):
        parcel = parcels[row["job_id"]]
        parcel.messages.append(_message(row))
        parcel.overrides = overrides.get(row["trigger_id"], {})
    await _add_runs(db, environment_id, [parcel for parcel in parcels.values() if parcel.needs_run])
    return list(parcels.values())


async def renew_leases(db: Connection, parcels: Iterable[Parcel], now: Millis) -> None:
    """Keep jobs whose sends are under way from being taken by another worker."""
    jobs: dict[EnvironmentId, list[JobId]] = {}
    for parcel in parcels:
        jobs.setdefault(parcel.environment_id, []).append(parcel.job.id)
    for environment_id, ids in jobs.items():
        await db.execute(RENEW_LEASES, environment_id=environment_id, job_ids=ids, lease_until=now + LEASE)


def _parcel(environment_id: EnvironmentId, row: Row, integrations: Sequence[Integration]) -> Parcel:
    job = Job(
        id=row["id"],
        step=row["step"],
        status=JobStatus.RUNNING,
        provider_id=row["provider_id"],
        runnable=TAKEN_BY_SENDER,
        attempt=row["attempt"],
    )
    return Parcel(
        environment_id=environment_id,
        notification_id=row["notification_id"],
        job=job,
        claimed_attempt=job.attempt,
        integrations=integrations,
    )


def _message(row: Row) -> Message:
    return Message(
        id=row["id"],
        channel=Channel(row["channel"]),
        provider_id=row["provider_id"],
        content=row["content"],
        subject=row["subject"],
        title=row["title"],
        email=row["email"],
        phone=row["phone"],
        webhook_url=row["webhook_url"],
        device_tokens=json_value(row["device_tokens"]),
        data=json_value(row["data"]),
    )


async def _list_overrides(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Iterable[TriggerId]
) -> dict[TriggerId, dict[str, Any]]:
    rows = await db.fetch(LIST_OVERRIDES, environment_id=environment_id, ids=list(trigger_ids))
    return {row["id"]: json_value(row["overrides"]) for row in rows}


async def _add_runs(db: Connection, environment_id: EnvironmentId, parcels: Sequence[Parcel]) -> None:
    runs = {run.id: run for run in await load_runs(db, environment_id, [one.notification_id for one in parcels])}
    for parcel in parcels:
        parcel.run = runs.get(parcel.notification_id)


async def carry(parcel: Parcel, carrier: Carrier, now: Millis) -> None:
    """Hand the messages of a job to their providers and decide what the job comes to."""
    if not parcel.messages:
        note(parcel.job, now, DetailStatus.FAILED, "The message was deleted before it was sent")
    _settle(parcel, [await _carry_message(parcel, message, carrier, now) for message in parcel.messages], now)


def give_up(parcel: Parcel, error: Exception, now: Millis) -> None:
    """Count an attempt that nobody foresaw the failure of as one that may go better the next time."""
    failure = SendFailure(FailureKind.RETRYABLE, f"{type(error).__name__} in Clarion itself")
    note(parcel.job, now, DetailStatus.FAILED, "Unexpected error", raw={"kind": failure.kind, "message": str(failure)})
    _settle(parcel, [failure], now)


def set_aside(parcel: Parcel, now: Millis) -> None:
    """End a job whose results cannot be written down; it would be sent again and again otherwise."""
    parcel.outcomes.clear()
    parcel.job.details.clear()
    note(parcel.job, now, DetailStatus.FAILED, "The outcome could not be recorded")
    parcel.job.status, parcel.job.due_at, parcel.job.runnable = JobStatus.FAILED, None, None


def _settle(parcel: Parcel, failures: Sequence[SendFailure | None], now: Millis) -> None:
    job = parcel.job
    if any(failure is None for failure in failures):
        job.status, job.due_at, job.runnable = JobStatus.COMPLETED, None, None
        job.outputs = {}
        return
    waiting = [one for one in failures if one is not None and one.kind in _TRY_AGAIN]
    due_at = next_attempt_at(job.attempt, waiting[0], now) if waiting else None
    if due_at is None:
        job.status, job.due_at, job.runnable = JobStatus.FAILED, None, None
    else:
        job.status, job.due_at = JobStatus.QUEUED, due_at
        if waiting[0].kind is FailureKind.RATE_LIMITED:
            # Being asked to come back later is not an attempt that failed.
            job.attempt -= 1


_TRY_AGAIN = frozenset({FailureKind.RETRYABLE, FailureKind.RATE_LIMITED})


async def _carry_message(parcel: Parcel, message: Message, carrier: Carrier, now: Millis) -> SendFailure | None:
    """Try the integrations of a message in turn; returns the failure that counts, or None when it went out."""
    job = parcel.job
    candidates = choose_integrations(parcel, message)
    if not candidates:
        text = "Subscriber does not have an active integration"
        note(job, now, DetailStatus.FAILED, text, raw={"channel": message.channel, "providerId": message.provider_id})
        parcel.outcomes[message.id] = _outcome(MessageStatus.WARNING, message.provider_id, text)
        return SendFailure(FailureKind.PERMANENT, text)
    failure: SendFailure | None = None
    for integration in candidates:
        job.provider_id = integration.provider_id
        raw = {"_integrationId": id_text(integration.id), "identifier": integration.identifier}
        note(job, now, DetailStatus.PENDING, "Integration instance selected", raw=raw)
        try:
            sent = await carrier.send(integration.provider_id, _outgoing(parcel, message, integration))
        except SendFailure as error:
            failure = error
            raw_failure = {"kind": error.kind, "message": str(error), "answer": error.raw}
            note(job, now, DetailStatus.FAILED, "Unexpected provider error", raw=raw_failure)
            if error.kind is FailureKind.PERMANENT:
                continue
            break
        note(job, now, DetailStatus.SUCCESS, "Message sent", raw={"id": sent.provider_message_id, "answer": sent.raw})
        parcel.outcomes[message.id] = _outcome(MessageStatus.SENT, integration.provider_id)
        return None
    parcel.outcomes[message.id] = _outcome(MessageStatus.ERROR, job.provider_id, str(failure))
    return failure


def choose_integrations(parcel: Parcel, message: Message) -> list[Integration]:
    """The active integrations that may carry a message, in the order they are tried."""
    fitting = [one for one in parcel.integrations if one.active and one.channel == message.channel]
    if message.channel in _BY_ENTRY:
        return sorted((one for one in fitting if one.provider_id == message.provider_id), key=failover_key)[:1]
    variables = None if parcel.run is None else variables_of(parcel.run)
    fitting = [one for one in fitting if not one.conditions or (variables and _holds(one, variables))]
    wanted = _override(parcel, message).get("integrationIdentifier")
    if wanted:
        return [one for one in fitting if one.identifier == wanted]
    return sorted(fitting, key=failover_key)


def _holds(integration: Integration, variables: dict[str, Any]) -> bool:
    return decide_filters(integration.conditions, variables).passed


def _override(parcel: Parcel, message: Message) -> dict[str, object]:
    found = parcel.overrides.get(message.channel)
    return found if isinstance(found, dict) else {}


def provider_overrides(parcel: Parcel, message: Message, provider_id: str) -> dict[str, object]:
    """What the trigger wants of the provider: for the step before for the provider before for the channel."""
    overrides = parcel.overrides
    if not overrides:
        return {}
    step = _member(overrides.get("steps"), parcel.run.step_of(parcel.job).step_id) if parcel.run else None
    layers = [
        _override(parcel, message),
        overrides.get(provider_id),
        _member(overrides.get("providers"), provider_id),
        _member(_member(step, "providers"), provider_id),
    ]
    merged: dict[str, object] = {}
    for layer in layers:
        if isinstance(layer, dict):
            merged |= layer
    return merged


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _outgoing(parcel: Parcel, message: Message, integration: Integration) -> Outgoing:
    return Outgoing(
        message_id=id_text(message.id),
        channel=message.channel,
        content=message.content,
        subject=message.subject,
        title=message.title,
        email=message.email,
        phone=message.phone,
        webhook_url=message.webhook_url,
        device_tokens=tuple(message.device_tokens or ()),
        data=message.data,
        credentials=integration.credentials,
        overrides=provider_overrides(parcel, message, integration.provider_id),
    )


def _outcome(status: MessageStatus, provider_id: str | None, error: str | None = None) -> Outcome:
    # Servers may answer anything, and no text of PostgreSQL holds this character.
    text = None if error is None else error.replace("\0", "")
    return Outcome(status=status, provider_id=provider_id, error_text=text)
