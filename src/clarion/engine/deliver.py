"""Senders: jobs that need a provider are claimed under a lease, carried outside any transaction, and recorded.

A claim raises the job's `attempt` and moves `due_at` behind the lease, so that a worker that dies gives its jobs back
by itself; a worker that lives renews the lease while it sends. One that comes too late all the same finds another
attempt number and records nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from clarion.clock import SECOND, Millis
from clarion.conditions import decide_filters
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.engine.load import load_runs
from clarion.engine.records import Job, Run, note, variables_of
from clarion.engine.retry import next_attempt_at
from clarion.environments.lanes import follow_indexes
from clarion.ids import EnvironmentId, JobId, MessageId, NotificationId, id_text
from clarion.integrations.model import Integration, failover_key
from clarion.integrations.store import list_integrations
from clarion.messages.model import Message
from clarion.messages.store import COLUMNS as MESSAGE_COLUMNS
from clarion.messages.store import message_of
from clarion.notifications.model import DetailStatus
from clarion.providers.base import FailureKind, Outgoing, SendFailure
from clarion.providers.sending import Carrier
from clarion.vault import Vault
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
    RETURNING id, notification_id
""")
RENEW_LEASES = sql("""
    UPDATE jobs SET due_at = :lease_until
    WHERE environment_id = :environment_id AND id {any:job_ids} AND status = 'running'
""")
LIST_MESSAGES = sql(f"""
    SELECT {MESSAGE_COLUMNS} FROM messages AS t
    WHERE t.environment_id = :environment_id AND t.job_id {{any:job_ids}} ORDER BY t.id
""")


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of one message."""

    message_id: MessageId
    status: MessageStatus
    provider_id: str | None
    error_text: str | None = None


@dataclass(slots=True, kw_only=True)
class Parcel:
    """A claimed job with all that carrying it takes, and what became of it."""

    run: Run
    job: Job
    messages: list[Message]
    integrations: list[Integration]
    outcomes: list[Outcome] = field(default_factory=list)


async def claim_sends(
    db: Connection, environment_id: EnvironmentId, vault: Vault, *, most: int, now: Millis
) -> list[Parcel]:
    """Take up to `most` jobs for this worker alone, with what they need."""
    await follow_indexes(db)
    rows = await db.fetch(CLAIM_SENDS, environment_id=environment_id, now=now, lease_until=now + LEASE, most=most)
    if not rows:
        return []
    claimed = {JobId(row["id"]): NotificationId(row["notification_id"]) for row in rows}
    runs = {run.id: run for run in await load_runs(db, environment_id, claimed.values())}
    messages: dict[JobId, list[Message]] = {}
    for row in await db.fetch(LIST_MESSAGES, environment_id=environment_id, job_ids=list(claimed)):
        messages.setdefault(JobId(row["job_id"]), []).append(message_of(row))
    integrations = await list_integrations(db, environment_id, vault)
    return [
        Parcel(
            run=runs[run_id],
            job=next(job for job in runs[run_id].jobs if job.id == job_id),
            messages=messages.get(job_id, []),
            integrations=integrations,
        )
        for job_id, run_id in claimed.items()
        if run_id in runs
    ]


async def renew_leases(db: Connection, environment_id: EnvironmentId, parcels: Sequence[Parcel], now: Millis) -> None:
    """Keep jobs whose sends are under way from being taken by another worker."""
    ids = [parcel.job.id for parcel in parcels]
    await db.execute(RENEW_LEASES, environment_id=environment_id, job_ids=ids, lease_until=now + LEASE)


async def carry(parcel: Parcel, carrier: Carrier, now: Millis) -> Parcel:
    """Hand the messages of a job to their providers and decide what the job comes to."""
    job = parcel.job
    failures = [await _carry_message(parcel, message, carrier, now) for message in parcel.messages]
    job.changed = True
    if any(failure is None for failure in failures):
        job.status, job.due_at, job.runnable = JobStatus.COMPLETED, None, None
        job.outputs = {}
        return parcel
    waiting = [one for one in failures if one is not None and one.kind in _TRY_AGAIN]
    due_at = next_attempt_at(job.attempt, waiting[0], now) if waiting else None
    if due_at is None:
        job.status, job.due_at, job.runnable = JobStatus.FAILED, None, None
    else:
        job.status, job.due_at = JobStatus.QUEUED, due_at
        if waiting[0].kind is FailureKind.RATE_LIMITED:
            # Being asked to come back later is not an attempt that failed.
            job.attempt -= 1
    return parcel


_TRY_AGAIN = frozenset({FailureKind.RETRYABLE, FailureKind.RATE_LIMITED})


async def _carry_message(parcel: Parcel, message: Message, carrier: Carrier, now: Millis) -> SendFailure | None:
    """Try the integrations of a message in turn; returns the failure that counts, or None when it went out."""
    job = parcel.job
    candidates = choose_integrations(parcel, message)
    if not candidates:
        text = "Subscriber does not have an active integration"
        note(job, now, DetailStatus.FAILED, text, raw={"channel": message.channel, "providerId": message.provider_id})
        parcel.outcomes.append(_outcome(message, MessageStatus.WARNING, message.provider_id, text))
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
        parcel.outcomes.append(_outcome(message, MessageStatus.SENT, integration.provider_id, None))
        return None
    parcel.outcomes.append(_outcome(message, MessageStatus.ERROR, job.provider_id, str(failure)))
    return failure


def choose_integrations(parcel: Parcel, message: Message) -> list[Integration]:
    """The active integrations that may carry a message, in the order they are tried."""
    fitting = [one for one in parcel.integrations if one.active and one.channel == message.channel]
    if message.channel in _BY_ENTRY:
        return sorted((one for one in fitting if one.provider_id == message.provider_id), key=failover_key)[:1]
    variables = variables_of(parcel.run)
    fitting = [one for one in fitting if decide_filters(one.conditions, variables).passed]
    wanted = _override(parcel, message).get("integrationIdentifier")
    if wanted:
        return [one for one in fitting if one.identifier == wanted]
    return sorted(fitting, key=failover_key)


def _override(parcel: Parcel, message: Message) -> dict[str, object]:
    found = (parcel.run.trigger.overrides or {}).get(message.channel)
    return found if isinstance(found, dict) else {}


def provider_overrides(parcel: Parcel, message: Message, provider_id: str) -> dict[str, object]:
    """What the trigger wants of the provider: for the step before for the provider before for the channel."""
    overrides = parcel.run.trigger.overrides or {}
    steps = overrides.get("steps")
    step = steps.get(parcel.run.step_of(parcel.job).step_id) if isinstance(steps, dict) else None
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


def _outcome(message: Message, status: MessageStatus, provider_id: str | None, error: str | None) -> Outcome:
    return Outcome(message_id=message.id, status=status, provider_id=provider_id, error_text=error)
