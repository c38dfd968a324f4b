"""Claims: jobs that need a provider are taken under a lease, with everything that carrying them takes.

A claim raises the job's `attempt` and moves `due_at` behind the lease, so that a worker that dies gives its jobs back
by itself; a worker that lives renews the lease while it sends. Jobs that have to wait for an integration are put back
as they were: `delayed` until the moment that they were promised.
"""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from clarion.clock import SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.load import load_runs
from clarion.engine.records import TAKEN_BY_SENDER, Job
from clarion.engine.sending.model import BY_ENTRY, ClaimedSend, OutgoingMessage
from clarion.engine.sending.planning import plan_sends
from clarion.engine.sending.webhook_context import add_contexts
from clarion.environments.lanes import prefer_index_scans
from clarion.ids import EnvironmentId, JobId, SubscriberId, TriggerId
from clarion.integrations.cache import IntegrationCache
from clarion.integrations.model import Integration
from clarion.jsontext import json_text, json_value
from clarion.notifications.model import APPENDED_DETAIL, DetailStatus, ExecutionDetail
from clarion.subscribers.channels import list_channels
from clarion.subscribers.model import ChannelEntry
from clarion.suppressions.store import list_suppressed
from clarion.vocabulary import Channel, JobStatus

LEASE = Millis(30 * SECOND)

LIST_DUE = sql("""
    SELECT id, notification_id, step, provider_id, attempt, status, put_off_since FROM jobs
    WHERE environment_id = :environment_id AND runnable = 2 AND due_at <= :now
    ORDER BY due_at, id LIMIT :limit {skip_locked}
""")
TAKE_JOBS = sql("""
    UPDATE jobs SET status = 'running', attempt = attempt + 1, due_at = :lease_until, updated_at = :now
    WHERE environment_id = :environment_id AND id {any:ids}
""")
POSTPONE_JOB = sql(f"""
    UPDATE jobs SET status = 'delayed', due_at = :due_at, updated_at = :now, details = {APPENDED_DETAIL}
    {{each: environment_id uuid, id uuid, due_at bigint, detail text}}
    WHERE environment_id = :environment_id AND id = :id
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
    SELECT job_id, trigger_id, subscriber_id, id, channel, provider_id, integration_id, error_id, content, subject,
        title, email, phone, webhook_url, device_tokens, data
    FROM messages WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
""")
LIST_OVERRIDES = sql("""
    SELECT id, overrides FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND overrides IS NOT NULL
""")


class Claim(NamedTuple):
    sends: list[ClaimedSend]
    """To be carried by this worker alone."""
    has_found: bool
    """Whether any job was due, be it to be carried or to wait."""


async def claim_sends(
    db: Connection, environment_id: EnvironmentId, integrations: IntegrationCache, *, limit: int, now: Millis
) -> Claim:
    """Take up to `most` jobs that are due; those that have to wait for an integration are put back."""
    await prefer_index_scans(db)
    rows = await db.fetch(LIST_DUE, environment_id=environment_id, now=now, limit=limit)
    if not rows:
        return Claim([], has_found=False)
    opened = await integrations.list(db, environment_id)
    sends = [_claimed_send(environment_id, row, opened) for row in rows]
    await _load(db, environment_id, sends)
    planned = await plan_sends(db, environment_id, sends, now)
    going = [send for send, wait in planned if not wait]
    if going:
        ids = [send.job.id for send in going]
        await db.execute(TAKE_JOBS, environment_id=environment_id, ids=ids, lease_until=now + LEASE, now=now)
    waiting = [_postponed(send, wait, now) for send, wait in planned if wait]
    if waiting:
        await db.execute_many(POSTPONE_JOB, waiting)
    return Claim(going, has_found=True)


async def renew_leases(db: Connection, sends: Iterable[ClaimedSend], now: Millis) -> None:
    """Keep jobs whose sends are under way from being taken by another worker."""
    jobs: dict[EnvironmentId, list[JobId]] = {}
    for send in sends:
        jobs.setdefault(send.environment_id, []).append(send.job.id)
    for environment_id, ids in jobs.items():
        await db.execute(RENEW_LEASES, environment_id=environment_id, job_ids=ids, lease_until=now + LEASE)


def _claimed_send(environment_id: EnvironmentId, row: Row, integrations: Sequence[Integration]) -> ClaimedSend:
    attempt = row["attempt"] + 1
    job = Job(
        id=row["id"],
        step=row["step"],
        status=JobStatus.RUNNING,
        provider_id=row["provider_id"],
        runnable=TAKEN_BY_SENDER,
        attempt=attempt,
    )
    return ClaimedSend(
        environment_id=environment_id,
        notification_id=row["notification_id"],
        job=job,
        claimed_attempt=attempt,
        integrations=integrations,
        has_turn=row["status"] == JobStatus.DELAYED,
        put_off_since=row["put_off_since"],
    )


async def _load(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    by_job = {send.job.id: send for send in sends}
    rows = await db.fetch(LIST_MESSAGES, environment_id=environment_id, job_ids=list(by_job))
    overrides = await _list_overrides(db, environment_id, {row["trigger_id"] for row in rows})
    for row in sorted(rows, key=itemgetter("id")):
        send = by_job[row["job_id"]]
        send.messages.append(_message(row))
        send.overrides = overrides.get(row["trigger_id"], {})
    await _add_runs(db, environment_id, [send for send in sends if send.needs_run])
    await _add_entries(db, environment_id, sends)
    await _add_suppressed(db, environment_id, sends)
    await add_contexts(db, environment_id, sends)


def _message(row: Row) -> OutgoingMessage:
    return OutgoingMessage(
        id=row["id"],
        trigger_id=row["trigger_id"],
        subscriber_id=row["subscriber_id"],
        channel=Channel(row["channel"]),
        provider_id=row["provider_id"],
        integration_id=row["integration_id"],
        error_id=row["error_id"],
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


async def _add_runs(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    runs = {run.id: run for run in await load_runs(db, environment_id, [one.notification_id for one in sends])}
    for send in sends:
        send.run = runs.get(send.notification_id)


async def _add_entries(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """What each person has at the provider of a chat or push message."""
    asking = [(send, one) for send in sends for one in send.messages if one.channel in BY_ENTRY]
    people = list(dict.fromkeys(message.subscriber_id for _, message in asking))
    channels = await list_channels(db, environment_id, people)
    for send, message in asking:
        entry = _find_entry(channels, message)
        if entry is not None:
            send.entries[message.id] = entry


def _find_entry(channels: dict[SubscriberId, list[ChannelEntry]], message: OutgoingMessage) -> ChannelEntry | None:
    """The entry that the message was made for: of several at one provider, the one with its address."""
    found = [one for one in channels.get(message.subscriber_id, ()) if one.provider_id == message.provider_id]
    tokens = set(message.device_tokens or ())
    its_own = [
        one
        for one in found
        if one.credentials.get("webhookUrl") == message.webhook_url
        and (not tokens or not tokens.isdisjoint(one.credentials.get("deviceTokens") or ()))
    ]
    return next(iter(its_own or found), None)


async def _add_suppressed(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    addressed = [(send, one, one.address) for send in sends for one in send.messages if one.address]
    found = await list_suppressed(
        db, environment_id, {(one.channel, address) for _, one, address in addressed if address}
    )
    if found:
        for send, message, address in addressed:
            reason = found.get((message.channel, address or ""))
            if reason is not None:
                send.suppressed[message.id] = reason


def _postponed(send: ClaimedSend, wait: int, now: Millis) -> dict[str, Any]:
    names = sorted({route.integrations[0].identifier for route in send.planned.values()})
    detail = ExecutionDetail(
        at=now,
        status=DetailStatus.PENDING,
        detail="Waits for its turn at the integration",
        raw={"integrations": names, "milliseconds": wait},
    )
    return {
        "environment_id": send.environment_id,
        "id": send.job.id,
        "due_at": now + wait,
        "detail": json_text(detail),
        "now": now,
    }
