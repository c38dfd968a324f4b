"""Claims: jobs that need a provider are taken under a lease, with everything that sending them needs.

A claim raises the job's `attempt` and moves `due_at` to the end of the lease, so that the jobs of a dead worker come
due again; a live worker renews the lease while it sends. Jobs that have to wait for an integration are put back:
`delayed` until their turn.

Claims and cancels exclude each other: a claim that began before a cancel is over when the cancel returns.
"""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec.structs import replace

from clarion.clock import SECOND, Millis
from clarion.content.environment import get_environment_content
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import sql
from clarion.db.queue_plans import PREFER_INDEX_SCANS
from clarion.environments.configuration import CONFIGURATION_VERSION, get_configuration_version
from clarion.ids import EnvironmentId, IntegrationId, JobId, NotificationId, SubscriberId, TriggerId, find_id
from clarion.integrations.model import Integration
from clarion.integrations.store import IntegrationCache
from clarion.jobs import sends as sends_store
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, JobQueue, Priority
from clarion.jobs.sends import PostponedSend
from clarion.jsontext import json_value
from clarion.messages.changes import ChangeState
from clarion.runs.status import settle_run_statuses
from clarion.sending.addresses import add_regions, add_suppressed
from clarion.sending.model import BY_ENTRY, ClaimedSend, OutgoingMessage
from clarion.sending.outgoing import add_contexts
from clarion.sending.places import AnySend, IntegrationShares, Places, Room
from clarion.sending.planning import plan_sends
from clarion.sending.stopped import add_runs, drop_stopped
from clarion.subscribers.addresses.targets import list_targets
from clarion.subscribers.channels import list_channels
from clarion.subscribers.model import ChannelEntry
from clarion.tracking.model import decode_tracking
from clarion.triggers.attachments import has_attachments, list_files, put_files
from clarion.triggers.model import TriggerState
from clarion.vault import Vault
from clarion.vocabulary import Channel, JobStatus

LEASE = Millis(30 * SECOND)
DEFERRED_FOR = Millis(SECOND)
"""A send whose integration has its share of places taken lets others of its channel go first for this long."""

# Neither ordered nor joined: either way PostgreSQL would rather walk all messages than look up and sort these few.
LIST_MESSAGES = sql("""
    SELECT job_id, trigger_id, subscriber_id, id, channel, provider_id, integration_id, error_id, content, subject,
        title, email, email_options, phone, webhook_url, endpoint_id, device_tokens, data, provider_message_id,
        retry_at, given_up_at, refused_by, tracking, unsubscribe_url, place, change, former, revision
    FROM messages WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app'
""")
# Apps get the payload with a push message.
LIST_TRIGGERS_WITH_PAYLOAD = sql("""
    SELECT id, overrides, state, expires_at, payload FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids}
""")
LIST_TRIGGERS = sql("""
    SELECT id, overrides, state, expires_at FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids}
    AND (overrides IS NOT NULL OR expires_at IS NOT NULL OR state IN ('canceled', 'canceling'))
""")
_ENTER_CLAIM = sql(f"""
    SELECT {CONFIGURATION_VERSION} AS configuration_version, pg_advisory_xact_lock_shared(:key), {PREFER_INDEX_SCANS}
""")
_WAIT_FOR_CLAIMS = sql("SELECT pg_advisory_xact_lock(:key)")


class SendClaim(NamedTuple):
    sends: list[ClaimedSend]
    """Taken by this worker alone."""
    has_found: bool
    """Whether any job was due, to be sent or to wait."""
    is_full: bool = False
    """Whether more may be taken as soon as one that is in flight ends."""
    expired: int = 0
    """Those whose lease another worker let lapse."""


class _SendTrigger(NamedTuple):
    overrides: dict[str, Any]
    payload: dict[str, Any]
    is_canceled: bool
    expires_at: Millis | None


async def claim_sends(
    db: Connection, room: Room, integrations: IntegrationCache, places: Places, *, lease: Millis, now: Millis
) -> SendClaim:
    """Take jobs that are due, as many as there is room for; those that have to wait for an integration are put back."""
    environment_id, channel = room.queue
    if channel is None:
        raise ValueError("requests of HTTP steps are claimed by `claim_requests`")
    known = await integrations.list(db, environment_id, await enter_claim(db, environment_id))
    shares = IntegrationShares(places.count_by_integration(environment_id), known)
    priorities, limit = shares.limit_room(room)
    if limit <= 0:
        return SendClaim([], has_found=False, is_full=True)
    rows = await sends_store.list_due_sends(db, environment_id, channel, priorities, limit=limit, now=now)
    # One that this process is still sending was not renewed in time: sending it again would send it twice.
    rows = [row for row in rows if row["status"] != JobStatus.RUNNING or not places.has(row["id"])]
    if not rows:
        return SendClaim([], has_found=False)
    # At the version that this statement read: no send uses an integration as it was before its trigger.
    known = await integrations.list(db, environment_id, rows[0]["configuration_version"])
    lease_until = Millis(now + lease)
    sends = [_claimed_send(environment_id, channel, row, known, lease_until) for row in rows]
    await _load(db, environment_id, sends, now)
    await _add_endpoints(db, environment_id, sends, integrations.vault)
    await _add_addresses(db, environment_id, sends)
    sends = await drop_stopped(db, environment_id, sends, now)
    await _add_contents(db, environment_id, sends, integrations, rows[0]["configuration_version"])
    planned = await plan_sends(db, environment_id, sends, now)
    waiting = [_wait(send, wait, now) for send, wait in planned if wait]
    await sends_store.wait(db, environment_id, waiting, now)
    going, deferred = _choose([send for send, wait in planned if not wait], shares)
    await sends_store.defer(db, environment_id, [one.job.id for one in deferred], until=Millis(now + DEFERRED_FOR))
    ids = [send.job.id for send in going]
    await sends_store.claim(db, environment_id, ids, lease_until=lease_until, now=now)
    waits = [one for one, wait in planned if wait]
    await settle_run_statuses(db, environment_id, _list_changed_runs(rows, waits), now)
    expired = sum(row["status"] == JobStatus.RUNNING for row in rows)
    return SendClaim(going, has_found=True, is_full=bool(deferred), expired=expired)


async def enter_claim(db: Connection, environment_id: EnvironmentId) -> int:
    """Begin to claim sends, as any number of workers do at once; returns the version of the configuration."""
    if db.dialect is Dialect.SQLITE or db.is_sandbox:
        return await get_configuration_version(db, environment_id)
    row = await db.fetch_one(_ENTER_CLAIM, environment_id=environment_id, key=_lock_key(environment_id))
    version: int = 0 if row is None else row["configuration_version"]
    return version


async def wait_for_claims(db: Connection, environment_id: EnvironmentId) -> None:
    """Wait until no claim is under way, and let none begin before this unit of work is over."""
    if db.dialect is Dialect.POSTGRES:
        await db.fetch_one(_WAIT_FOR_CLAIMS, key=_lock_key(environment_id))


def _list_changed_runs(rows: Iterable[Row], waits: Iterable[ClaimedSend]) -> set[NotificationId]:
    """The runs that begin or end to wait with this claim; a first attempt leaves them running."""
    waited = (row for row in rows if row["status"] == JobStatus.DELAYED or _is_retry(row))
    return {row["notification_id"] for row in waited} | {one.notification_id for one in waits}


def _is_retry(row: Row) -> bool:
    return row["attempt"] % ATTEMPTS_PER_DRIVE > 0 or row["put_off_since"] is not None


def _choose(sends: Sequence[ClaimedSend], shares: IntegrationShares) -> tuple[list[ClaimedSend], list[ClaimedSend]]:
    """Those whose integrations have room for them, and those that wait for it."""
    going: list[ClaimedSend] = []
    deferred: list[ClaimedSend] = []
    for send in sends:
        first = [route.integrations[0] for route in send.planned.values()]
        if all(shares.has_room(one, send.job.priority) for one in first):
            for one in first:
                shares.take(one)
            going.append(send)
        else:
            deferred.append(send)
    return going, deferred


async def renew_leases(db: Connection, sends: Iterable[AnySend], *, lease: Millis, now: Millis) -> set[JobId]:
    """Keep jobs whose sends are under way from being taken by another worker; returns those that are kept.

    A lease that has lapsed is not renewed: the job may be another worker's already.
    """
    by_environment: dict[EnvironmentId, list[JobId]] = {}
    for send in sends:
        if send.lease_until > now:
            by_environment.setdefault(send.environment_id, []).append(send.job.id)
    renewed: set[JobId] = set()
    for environment_id, ids in by_environment.items():
        renewed |= await sends_store.renew_leases(db, environment_id, ids, lease_until=Millis(now + lease))
    return renewed


def _claimed_send(
    environment_id: EnvironmentId,
    channel: Channel,
    row: Row,
    integrations: Sequence[Integration],
    lease_until: Millis,
) -> ClaimedSend:
    attempt = row["attempt"] + 1
    job = Job(
        id=row["id"],
        step=row["step"],
        status=JobStatus.RUNNING,
        provider_id=row["provider_id"],
        queue=JobQueue.SEND,
        attempt=attempt,
        priority=Priority(row["priority"]),
    )
    return ClaimedSend(
        environment_id=environment_id,
        channel=channel,
        notification_id=row["notification_id"],
        job=job,
        claimed_attempt=attempt,
        lease_until=lease_until,
        integrations=integrations,
        has_turn=row["status"] == JobStatus.DELAYED,
        waited_until=row["waited_until"],
        put_off_since=row["put_off_since"],
        former_dead_at=row["dead_at"],
    )


async def _load(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], now: Millis) -> None:
    by_job = {send.job.id: send for send in sends}
    rows = await db.fetch(LIST_MESSAGES, environment_id=environment_id, job_ids=list(by_job))
    is_push = sends[0].channel is Channel.PUSH
    triggers = await _list_triggers(db, environment_id, {row["trigger_id"] for row in rows}, with_payload=is_push)
    for row in sorted(rows, key=itemgetter("id")):
        send = by_job[row["job_id"]]
        send.add_message(_message(row), now)
        trigger = triggers.get(row["trigger_id"])
        if trigger is not None:
            send.overrides, send.payload = trigger.overrides, trigger.payload
            send.is_canceled, send.expires_at = trigger.is_canceled, trigger.expires_at
    asking = [send for send in sends if send.needs_run or send.is_canceled or send.is_expired(now)]
    await add_runs(db, environment_id, asking)
    await _add_entries(db, environment_id, sends)
    await _add_files(db, environment_id, sends)


async def _add_addresses(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    await add_regions(db, environment_id, sends)
    await add_suppressed(db, environment_id, sends)
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
        email_options=json_value(row["email_options"]),
        phone=row["phone"],
        webhook_url=row["webhook_url"],
        endpoint_id=row["endpoint_id"],
        device_tokens=json_value(row["device_tokens"]),
        data=json_value(row["data"]),
        is_sent=row["provider_message_id"] is not None,
        retry_at=row["retry_at"],
        given_up_at=row["given_up_at"],
        refused_by=_read_ids(row["refused_by"]),
        tracking=None if row["tracking"] is None else decode_tracking(row["tracking"]),
        unsubscribe_url=row["unsubscribe_url"],
        provider_message_id=row["provider_message_id"],
        place=json_value(row["place"]),
        change=None if row["change"] is None else ChangeState(row["change"]),
        former=row["former"],
        revision=row["revision"] or 0,
    )


def _read_ids(text: str | None) -> tuple[IntegrationId, ...]:
    return tuple(IntegrationId(one) for one in map(find_id, json_value(text) or ()) if one is not None)


async def _list_triggers(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Iterable[TriggerId], *, with_payload: bool
) -> dict[TriggerId, _SendTrigger]:
    """What sends need of their triggers: overrides with the files that are attached, and payloads if they are wanted.

    Without payloads, only of those that have overrides, expire or were canceled.
    """
    statement = LIST_TRIGGERS_WITH_PAYLOAD if with_payload else LIST_TRIGGERS
    rows = await db.fetch(statement, environment_id=environment_id, ids=list(trigger_ids))
    overrides = {TriggerId(row["id"]): json_value(row["overrides"]) or {} for row in rows}
    attaching = [trigger_id for trigger_id, own in overrides.items() if has_attachments(own)]
    if attaching:
        files = await list_files(db, environment_id, attaching)
        overrides |= {trigger_id: put_files(overrides[trigger_id], files) for trigger_id in attaching}
    payloads = {row["id"]: json_value(row["payload"]) for row in rows} if with_payload else {}
    return {
        row["id"]: _SendTrigger(
            overrides[row["id"]],
            payloads.get(row["id"], {}),
            TriggerState(row["state"]).is_canceled,
            row["expires_at"],
        )
        for row in rows
    }


async def _add_files(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """Put the files of payloads into the messages that refer to them."""
    attaching = [send for send in sends if any(has_attachments(one.email_options) for one in send.messages)]
    if not attaching:
        return
    files = await list_files(db, environment_id, {one.trigger_id for send in attaching for one in send.messages})
    for send in attaching:
        send.messages = [replace(one, email_options=put_files(one.email_options or {}, files)) for one in send.messages]


async def _add_contents(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], cache: IntegrationCache, version: int
) -> None:
    """What links of tracked messages are signed with."""
    for send in sends:
        if any(one.tracking is not None and one.tracking.is_wanted for one in send.messages):
            send.content = await get_environment_content(db, environment_id, version, cache.vault)


async def _add_entries(db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend]) -> None:
    """What each person has at the provider of a chat or push message."""
    asking = [
        (send, one) for send in sends for one in send.messages if one.channel in BY_ENTRY and one.endpoint_id is None
    ]
    people = list(dict.fromkeys(message.subscriber_id for _, message in asking))
    channels = await list_channels(db, environment_id, people)
    for send, message in asking:
        entry = _find_entry(channels, message)
        if entry is not None:
            send.entries[message.id] = entry


async def _add_endpoints(
    db: Connection, environment_id: EnvironmentId, sends: Sequence[ClaimedSend], vault: Vault
) -> None:
    """What messages to channel endpoints need: the address, and the token of its connection."""
    ids = [one.endpoint_id for send in sends for one in send.messages if one.endpoint_id is not None]
    targets = await list_targets(db, environment_id, ids, vault) if ids else {}
    for send in sends:
        for place, message in enumerate(send.messages):
            target = None if message.endpoint_id is None else targets.get(message.endpoint_id)
            if target is not None:
                send.messages[place] = replace(message, webhook_url=target.webhook_url, phone=target.phone)
                send.entries[message.id] = target.entry


def _find_entry(channels: dict[SubscriberId, list[ChannelEntry]], message: OutgoingMessage) -> ChannelEntry | None:
    """The entry that the message was made for: of several at one provider, the one with its address."""
    of_provider = [
        entry for entry in channels.get(message.subscriber_id, ()) if entry.provider_id == message.provider_id
    ]
    tokens = set(message.device_tokens or ())
    with_address = [
        entry
        for entry in of_provider
        if entry.credentials.get("webhookUrl") == message.webhook_url
        and (not tokens or not tokens.isdisjoint(entry.credentials.get("deviceTokens") or ()))
    ]
    return next(iter(with_address or of_provider), None)


def _wait(send: ClaimedSend, wait: int, now: Millis) -> PostponedSend:
    routes = {route.integrations[0].identifier: route for route in send.planned.values()}
    paused = {name: route.paused_until for name, route in routes.items() if route.paused_until is not None}
    raw = {"integrations": sorted(routes), "milliseconds": wait, "pausedUntil": paused}
    detail = ExecutionDetail.of(DetailCode.WAITS_FOR_TURN, now, raw=raw)
    return PostponedSend(job_id=send.job.id, until=Millis(now + wait), put_off_since=send.put_off_since, reason=detail)


def _lock_key(environment_id: EnvironmentId) -> int:
    # The locks of lanes use the other end of the id.
    return int.from_bytes(environment_id[:4] + environment_id[12:], signed=True)
