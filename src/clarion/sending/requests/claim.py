"""Claims of HTTP steps whose request is due: under the lease of sends, within the shares and circuits of their hosts.

Nothing is called here: the requests that are taken are made when this unit of work is over.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.requests import list_requests, open_request
from clarion.errors import SettingsError
from clarion.ids import EnvironmentId, JobId, TriggerId, WebhookEndpointId
from clarion.jobs import sends as sends_store
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, JobQueue, Priority
from clarion.jobs.sends import PostponedSend
from clarion.runs.status import settle_run_statuses
from clarion.sending.claim import DEFERRED_FOR, enter_claim
from clarion.sending.places import Places, Room
from clarion.sending.requests.hosts import (
    HEALTHY,
    MAX_NEXT_LOOK,
    MAX_REST,
    CallShares,
    HostHealth,
    begin_trials,
    list_hosts,
)
from clarion.sending.requests.model import ClaimedRequest
from clarion.sending.stopped import add_runs, drop_stopped
from clarion.triggers.model import TriggerState
from clarion.vault import Vault
from clarion.vocabulary import JobStatus, StepType
from clarion.webhooks.callbacks import ensure_callback_endpoint
from clarion.webhooks.store import get_endpoint
from clarion.workflows.http_requests import HttpRequest
from clarion.workflows.store import list_versions_by_id

LIST_RUNS = sql("""
    SELECT id, trigger_id, version_id FROM notifications WHERE environment_id = :environment_id AND id {any:ids}
""")
LIST_STOPPED = sql("""
    SELECT id, state, expires_at FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids}
    AND (expires_at IS NOT NULL OR state IN ('canceled', 'canceling'))
""")


class RequestClaim(Struct, frozen=True):
    requests: list[ClaimedRequest]
    """Taken by this worker alone."""
    has_found: bool
    """Whether any job was due, to be done or to wait."""
    is_full: bool = False
    """Whether more may be taken as soon as one that is in flight ends."""
    expired: int = 0
    """Those whose lease another worker let lapse."""


async def claim_requests(
    db: Connection, room: Room, vault: Vault, places: Places, *, lease: Millis, now: Millis
) -> RequestClaim:
    """Take jobs that are due, as many as there is room for; those that have to wait for their host are put back."""
    environment_id = room.queue.environment_id
    await enter_claim(db, environment_id)
    kind = StepType.HTTP_REQUEST
    rows = await sends_store.list_due_sends(db, environment_id, kind, room.priorities, limit=room.limit, now=now)
    rows = [row for row in rows if row["status"] != JobStatus.RUNNING or not places.has(row["id"])]
    if not rows:
        return RequestClaim([], has_found=False)
    lease_until = Millis(now + lease)
    claimed = await _load(db, environment_id, rows, vault, lease_until, now)
    claimed = await drop_stopped(db, environment_id, claimed, now)
    free, waiting = await _check_hosts(db, environment_id, claimed, now)
    shares = CallShares(places.count_by_host(environment_id))
    going = [one for one in free if shares.take(one.host)]
    deferred = [one.job.id for one in free if one not in going]
    await sends_store.defer(db, environment_id, deferred, until=Millis(now + DEFERRED_FOR))
    await sends_store.claim(db, environment_id, [one.job.id for one in going], lease_until=lease_until, now=now)
    await _add_keys(db, environment_id, going, vault, now)
    changed = {row["notification_id"] for row in rows if _has_waited(row)} | {one.notification_id for one in waiting}
    await settle_run_statuses(db, environment_id, changed, now)
    expired = sum(row["status"] == JobStatus.RUNNING for row in rows)
    return RequestClaim(going, has_found=True, is_full=bool(deferred), expired=expired)


def _has_waited(row: Row) -> bool:
    is_retry = row["attempt"] % ATTEMPTS_PER_DRIVE > 0 or row["put_off_since"] is not None
    return row["status"] == JobStatus.DELAYED or is_retry


async def _load(
    db: Connection, environment_id: EnvironmentId, rows: Sequence[Row], vault: Vault, lease_until: Millis, now: Millis
) -> list[ClaimedRequest]:
    run_ids = list({row["notification_id"] for row in rows})
    runs = {row["id"]: row for row in await db.fetch(LIST_RUNS, environment_id=environment_id, ids=run_ids)}
    versions = await list_versions_by_id(db, environment_id, [run["version_id"] for run in runs.values()])
    stored = {row["job_id"]: row for row in await list_requests(db, environment_id, [row["id"] for row in rows])}
    claimed = []
    for row in rows:
        run = runs[row["notification_id"]]
        own = stored.get(row["id"])
        request = ClaimedRequest(
            environment_id=environment_id,
            notification_id=row["notification_id"],
            trigger_id=run["trigger_id"],
            job=_job(row),
            step=versions[run["version_id"]].steps[row["step"]],
            claimed_attempt=row["attempt"] + 1,
            lease_until=lease_until,
            host="" if own is None else own["host"],
            request=None if own is None else _open(environment_id, own, vault),
            waited_until=row["waited_until"],
            put_off_since=row["put_off_since"],
        )
        claimed.append(request)
    await _add_triggers(db, environment_id, claimed, now)
    return claimed


def _job(row: Row) -> Job:
    return Job(
        id=row["id"],
        step=row["step"],
        status=JobStatus.RUNNING,
        queue=JobQueue.SEND,
        attempt=row["attempt"] + 1,
        priority=Priority(row["priority"]),
    )


def _open(environment_id: EnvironmentId, row: Row, vault: Vault) -> HttpRequest | None:
    try:
        return open_request(environment_id, row, vault)
    except SettingsError:
        # The key is not among those of this process; the log of its start says so.
        return None


async def _add_triggers(
    db: Connection, environment_id: EnvironmentId, claimed: Sequence[ClaimedRequest], now: Millis
) -> None:
    ids: list[TriggerId] = list({one.trigger_id for one in claimed})
    rows = {row["id"]: row for row in await db.fetch(LIST_STOPPED, environment_id=environment_id, ids=ids)}
    for request in claimed:
        trigger = rows.get(request.trigger_id)
        if trigger is not None:
            request.is_canceled, request.expires_at = TriggerState(trigger["state"]).is_canceled, trigger["expires_at"]
    await add_runs(db, environment_id, [one for one in claimed if one.is_canceled or one.is_expired(now)])


async def _check_hosts(
    db: Connection, environment_id: EnvironmentId, claimed: Sequence[ClaimedRequest], now: Millis
) -> tuple[list[ClaimedRequest], list[ClaimedRequest]]:
    """Return those whose hosts may be called, and those that wait."""
    health = await list_hosts(db, environment_id, [one.host for one in claimed])
    half_open = [host for host, own in health.items() if own.circuit.is_half_open(now) and own.wait_until(now) is None]
    trials = await begin_trials(db, environment_id, half_open, now)
    tried = dict(trials)
    free, waiting = [], list[tuple[ClaimedRequest, HostHealth]]()
    for request in claimed:
        own = health.get(request.host, HEALTHY)
        request.is_host_known = request.host in health
        if request.host in tried:
            del tried[request.host]
            request.is_trial = True
            free.append(request)
        elif _waits(request, trials.get(request.host, own), now):
            waiting.append((request, trials.get(request.host, own)))
        else:
            free.append(request)
    await _wait(db, environment_id, waiting, now)
    return free, [one for one, _ in waiting]


def _waits(request: ClaimedRequest, health: HostHealth, now: Millis) -> bool:
    has_rested = request.put_off_since is not None and now - request.put_off_since >= MAX_REST
    return health.wait_until(now) is not None and not has_rested


async def _wait(
    db: Connection,
    environment_id: EnvironmentId,
    waiting: Sequence[tuple[ClaimedRequest, HostHealth]],
    now: Millis,
) -> None:
    """Put jobs back; each says once why it waits, and looks again every few seconds."""
    first = [_postpone(one, health, now) for one, health in waiting if one.put_off_since is None]
    again = [one.job.id for one, _ in waiting if one.put_off_since is not None]
    await sends_store.wait(db, environment_id, first, now)
    await sends_store.defer(db, environment_id, again, until=Millis(now + MAX_NEXT_LOOK))


def _postpone(request: ClaimedRequest, health: HostHealth, now: Millis) -> PostponedSend:
    until = health.wait_until(now) or now
    raw: dict[str, Any] = {"host": request.host, "until": until, "failures": health.circuit.failures}
    return PostponedSend(
        job_id=JobId(request.job.id),
        until=Millis(min(until, now + MAX_NEXT_LOOK)),
        put_off_since=now,
        reason=ExecutionDetail.of(DetailCode.WAITS_FOR_HOST, now, raw=raw),
    )


async def _add_keys(
    db: Connection, environment_id: EnvironmentId, claimed: Sequence[ClaimedRequest], vault: Vault, now: Millis
) -> None:
    """Add the keys that requests are signed with: those of the environment's reply callbacks."""
    if not claimed:
        return
    keys = await get_signing_keys(db, environment_id, vault, now)
    for one in claimed:
        one.signing_keys = keys


async def get_signing_keys(db: Connection, environment_id: EnvironmentId, vault: Vault, now: Millis) -> list[bytes]:
    """Return the keys of the endpoint that stands for what steps post, which is made if it does not exist."""
    await ensure_callback_endpoint(db, environment_id, vault, now)
    endpoint = await get_endpoint(db, environment_id, WebhookEndpointId(environment_id), vault)
    return endpoint.signing_keys(now)
