"""Claims due deliveries under a lease and records their results; they are posted outside any transaction.

A claim increments `attempt` and moves `due_at` to the end of the lease, so that the deliveries of a dead worker become
due again. A worker that records too late finds another attempt number and records nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.audit.model import SERVICE, Action, AuditTarget, Author, Change, TargetType
from clarion.audit.recording import record_change
from clarion.clock import SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.queue_plans import distinct_environments, distinct_pairs, prefer_index_scans
from clarion.environments.configuration import raise_configuration_version
from clarion.ids import EnvironmentId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, id_text
from clarion.vault import Vault
from clarion.webhooks.callbacks import HostShares, choose_callbacks
from clarion.webhooks.model import (
    DISABLE_AFTER,
    DeliveryAttempt,
    DeliveryStatus,
    Endpoint,
    append_to_log,
    next_attempt_at,
)
from clarion.webhooks.store import ENDPOINT_COLUMNS, endpoint_of

Place = tuple[EnvironmentId, WebhookEndpointId]

LEASE = Millis(60 * SECOND)
"""Longer than the timeout of a receiver, with enough time to write the result."""

GONE = "The receiver answered 410 Gone: it wants no more events"
FAILED_FOR_DAYS = "The receiver took no event for five days"
EXPIRED = DeliveryAttempt(error="The event is older than events are kept")
"""The failed attempt of a delivery whose event is no longer stored."""

# Takes the first delivery in index order: with EXISTS, PostgreSQL would read the table until it finds a due one.
LIST_DUE_ENDPOINTS = sql(f"""
    WITH RECURSIVE
    {distinct_environments("queued", "webhook_deliveries WHERE status = 'queued'")},
    {distinct_pairs("waiting", "queued", "endpoint_id", "webhook_deliveries WHERE status = 'queued'")}
    SELECT e.environment_id, e.id FROM waiting AS w
    JOIN webhook_endpoints AS e ON e.environment_id = w.environment_id AND e.id = w.id
    WHERE e.active AND (
        SELECT d.due_at FROM webhook_deliveries AS d
        WHERE d.environment_id = e.environment_id AND d.endpoint_id = e.id AND d.status = 'queued'
        ORDER BY d.due_at LIMIT 1
    ) <= :now
    ORDER BY e.environment_id, e.id
""")
FIND_ACTIVE_ENDPOINT = sql(f"""
    SELECT {ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE environment_id = :environment_id AND id = :id AND active
""")
_IS_DUE = "environment_id = :environment_id AND endpoint_id = :endpoint_id AND status = 'queued' AND due_at <= :now"
# As a subquery of the UPDATE, PostgreSQL may run it several times and change more rows than the limit.
_CLAIM_DUE = """
    UPDATE webhook_deliveries SET attempt = attempt + 1, due_at = :lease_until
    WHERE environment_id = :environment_id AND id IN (SELECT id FROM due)
    RETURNING id, event_id, attempt
"""
CLAIM_DELIVERIES = sql(f"""
    WITH due AS MATERIALIZED (
        SELECT id FROM webhook_deliveries WHERE {_IS_DUE} ORDER BY due_at, id LIMIT :limit {{skip_locked}}
    ) {_CLAIM_DUE}
""")
CLAIM_CHOSEN = sql(f"""
    WITH due AS MATERIALIZED (
        SELECT id FROM webhook_deliveries WHERE {_IS_DUE} AND id {{any:ids}} ORDER BY id {{skip_locked}}
    ) {_CLAIM_DUE}
""")
LIST_PAYLOADS = sql("""
    SELECT id, payload, url FROM webhook_events WHERE environment_id = :environment_id AND id {any:ids}
""")
LIST_ATTEMPTS = sql("""
    SELECT id, attempt, attempt_log FROM webhook_deliveries
    WHERE environment_id = :environment_id AND id {any:ids} AND status = 'queued' {for_update}
""")
RECORD_DELIVERY = sql("""
    UPDATE webhook_deliveries
    SET status = :status, due_at = :due_at, response_status = :response_status, error_text = :error_text,
        attempt_log = :attempt_log, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
MARK_WORKING = sql("""
    UPDATE webhook_endpoints SET failing_since = NULL
    WHERE environment_id = :environment_id AND id = :id AND failing_since IS NOT NULL
""")
MARK_FAILING = sql("""
    UPDATE webhook_endpoints SET failing_since = :now
    WHERE environment_id = :environment_id AND id = :id AND failing_since IS NULL
""")
DISABLE = sql("""
    UPDATE webhook_endpoints SET active = FALSE, disabled_reason = :reason, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id AND active AND failing_since <= :failing_since
""")


class ClaimedDelivery(Struct, kw_only=True, eq=False):
    """A delivery that this worker has claimed; compared by identity."""

    endpoint: Endpoint
    id: WebhookDeliveryId
    event_id: WebhookEventId
    number: int
    """Of the attempt."""
    payload: str | None
    """None if the event is no longer stored."""
    url: str | None = None
    """Where it goes instead of the URL of the endpoint."""
    attempt: DeliveryAttempt | None = None
    """What came of posting it; None until then."""

    @property
    def environment_id(self) -> EnvironmentId:
        return self.endpoint.environment_id


async def list_due_endpoints(db: Connection, now: Millis) -> list[Place]:
    """List the endpoints of all environments that have due deliveries."""
    return [(row["environment_id"], row["id"]) for row in await db.fetch(LIST_DUE_ENDPOINTS, now=now)]


async def claim_deliveries(
    db: Connection, place: Place, vault: Vault, *, limit: int, now: Millis
) -> list[ClaimedDelivery]:
    """Claim up to `limit` due deliveries of an endpoint for this worker."""
    endpoint = await _find_active_endpoint(db, place, vault)
    if endpoint is None:
        return []
    await prefer_index_scans(db)
    rows = await db.fetch(CLAIM_DELIVERIES, limit=limit, **_claim_values(place, now))
    return await _make_claimed(db, endpoint, rows)


async def claim_callbacks(
    db: Connection, place: Place, vault: Vault, hosts: HostShares, *, limit: int, now: Millis
) -> tuple[list[ClaimedDelivery], bool]:
    """The same of the endpoint of reply callbacks, by hosts; also returns whether a host has no room for others."""
    endpoint = await _find_active_endpoint(db, place, vault)
    if endpoint is None:
        return [], False
    await prefer_index_scans(db)
    chosen = await choose_callbacks(db, endpoint.environment_id, hosts, limit=limit, now=now)
    rows = await db.fetch(CLAIM_CHOSEN, ids=chosen.ids, **_claim_values(place, now)) if chosen.ids else ()
    return await _make_claimed(db, endpoint, rows), chosen.leaves_some


async def _find_active_endpoint(db: Connection, place: Place, vault: Vault) -> Endpoint | None:
    row = await db.fetch_one(FIND_ACTIVE_ENDPOINT, environment_id=place[0], id=place[1])
    return None if row is None else endpoint_of(row, vault)


def _claim_values(place: Place, now: Millis) -> dict[str, Any]:
    return {"environment_id": place[0], "endpoint_id": place[1], "now": now, "lease_until": now + LEASE}


async def _make_claimed(db: Connection, endpoint: Endpoint, rows: Sequence[Row]) -> list[ClaimedDelivery]:
    event_ids = list({row["event_id"] for row in rows})
    environment_id = endpoint.environment_id
    events = await db.fetch(LIST_PAYLOADS, environment_id=environment_id, ids=event_ids) if rows else ()
    stored = {row["id"]: (row["payload"], row["url"]) for row in events}
    claimed = []
    for row in rows:
        payload, url = stored.get(row["event_id"], (None, None))
        claimed.append(
            ClaimedDelivery(
                endpoint=endpoint,
                id=row["id"],
                event_id=row["event_id"],
                number=row["attempt"],
                payload=payload,
                url=url,
            )
        )
    return claimed


async def record_attempts(
    db: Connection, environment_id: EnvironmentId, deliveries: Sequence[ClaimedDelivery], now: Millis
) -> None:
    """Record the results of attempts, and update their endpoints."""
    ids = sorted(delivery.id for delivery in deliveries)
    rows = await db.fetch(LIST_ATTEMPTS, environment_id=environment_id, ids=ids)
    stored = {row["id"]: row for row in rows}
    ours = {
        delivery: delivery.attempt
        for delivery in deliveries
        if delivery.attempt and delivery.id in stored and stored[delivery.id]["attempt"] == delivery.number
    }
    if not ours:
        return
    logs = {one: append_to_log(stored[one.id]["attempt_log"], attempt, now) for one, attempt in ours.items()}
    recorded = [{**_row(one, attempt, now), "attempt_log": logs[one]} for one, attempt in ours.items()]
    await db.execute_many(RECORD_DELIVERY, recorded)
    by_endpoint: defaultdict[WebhookEndpointId, list[DeliveryAttempt]] = defaultdict(list)
    for delivery, attempt in ours.items():
        if delivery.payload is not None and not delivery.endpoint.takes_callbacks:
            by_endpoint[delivery.endpoint.id].append(attempt)
    disabled = 0
    for endpoint_id in sorted(by_endpoint):
        disabled += await _update_endpoint(db, environment_id, endpoint_id, by_endpoint[endpoint_id], now)
    if disabled:
        # After all endpoints: everyone locks endpoints before the environment.
        await raise_configuration_version(db, environment_id)


async def _update_endpoint(
    db: Connection,
    environment_id: EnvironmentId,
    endpoint_id: WebhookEndpointId,
    attempts: Sequence[DeliveryAttempt],
    now: Millis,
) -> int:
    """Record that the endpoint works or fails, and disable it if it is gone or fails for too long.

    Returns how many endpoints it disabled.
    """
    bound: dict[str, Any] = {"environment_id": environment_id, "id": endpoint_id}
    reasons: list[str] = []
    if any(one.is_success for one in attempts):
        await db.execute(MARK_WORKING, **bound)
    else:
        await db.execute(MARK_FAILING, **bound, now=now)
        long_ago = now - DISABLE_AFTER
        if await db.execute(DISABLE, **bound, reason=FAILED_FOR_DAYS, failing_since=long_ago, now=now):
            reasons.append(FAILED_FOR_DAYS)
    if any(one.is_gone for one in attempts):
        await db.execute(MARK_FAILING, **bound, now=now)
        if await db.execute(DISABLE, **bound, reason=GONE, failing_since=now, now=now):
            reasons.append(GONE)
    for reason in reasons:
        await _record_disabled(db, environment_id, endpoint_id, reason, now)
    return len(reasons)


async def _record_disabled(
    db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, reason: str, now: Millis
) -> None:
    change = Change(
        action=Action.WEBHOOK_ENDPOINT_UPDATE,
        target=AuditTarget(type=TargetType.WEBHOOK_ENDPOINT, id=id_text(endpoint_id)),
        before={"active": True, "disabledReason": None},
        after={"active": False, "disabledReason": reason},
    )
    await record_change(db, environment_id, change, Author(actor=SERVICE), now)


def _row(delivery: ClaimedDelivery, attempt: DeliveryAttempt, now: Millis) -> dict[str, Any]:
    due_at = None
    status = DeliveryStatus.DELIVERED if attempt.is_success else DeliveryStatus.FAILED
    if not attempt.is_success and delivery.payload is not None:
        due_at = next_attempt_at(delivery.number, attempt, now)
        status = DeliveryStatus.FAILED if due_at is None else DeliveryStatus.QUEUED
    return {
        "environment_id": delivery.environment_id,
        "id": delivery.id,
        "status": status,
        "due_at": due_at,
        "response_status": attempt.status,
        "error_text": attempt.error,
        "now": now,
    }
