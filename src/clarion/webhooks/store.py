"""SQL of endpoints, events and deliveries; secrets are encrypted on writing and decrypted on reading."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from clarion.clock import Millis
from clarion.db.listing import Listing, add_lengths
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.db.sealed import SealedColumn
from clarion.errors import NotFound
from clarion.ids import (
    EnvironmentId,
    MessageId,
    WebhookDeliveryId,
    WebhookEndpointId,
    WebhookEventId,
    first_id,
    id_text,
    last_id,
    new_id,
)
from clarion.jsontext import json_text, json_value
from clarion.vault import Vault
from clarion.webhooks.model import Delivery, DeliveryStatus, Endpoint, EventType, SigningSecret

_SECRETS = msgspec.json.Decoder(tuple[SigningSecret, ...])

ENDPOINT_COLUMNS = """
    environment_id, id, url, description, events, secret, active, disabled_reason, failing_since, created_at, updated_at
"""
_INSERT_ENDPOINT = """
    INSERT INTO webhook_endpoints (
        environment_id, id, url, description, events, secret, active, disabled_reason, failing_since, created_at,
        updated_at
    ) VALUES (
        :environment_id, :id, :url, :description, :events, :secret, :active, :disabled_reason, :failing_since,
        :created_at, :updated_at
    )
"""
INSERT_ENDPOINT = sql(_INSERT_ENDPOINT)
ENSURE_ENDPOINT = sql(_INSERT_ENDPOINT + " ON CONFLICT (environment_id, id) DO NOTHING")
UPDATE_ENDPOINT = sql("""
    UPDATE webhook_endpoints
    SET url = :url, description = :description, events = :events, secret = :secret, active = :active,
        disabled_reason = :disabled_reason, failing_since = :failing_since, updated_at = :updated_at
    WHERE environment_id = :environment_id AND id = :id
""")
FIND_ENDPOINT = sql(f"""
    SELECT {ENDPOINT_COLUMNS} FROM webhook_endpoints
    WHERE environment_id = :environment_id AND id = :id
""")
FIND_ENDPOINT_FOR_UPDATE = sql(f"""
    SELECT {ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE environment_id = :environment_id AND id = :id {{for_update}}
""")
LIST_ENDPOINTS = sql(f"""
    SELECT {ENDPOINT_COLUMNS} FROM webhook_endpoints
    WHERE environment_id = :environment_id ORDER BY id
""")
LIST_LISTENERS = sql("""
    SELECT id, events FROM webhook_endpoints
    WHERE environment_id = :environment_id AND active AND id <> :environment_id
""")
DELETE_ENDPOINT = sql("DELETE FROM webhook_endpoints WHERE environment_id = :environment_id AND id = :id")

SEALED = SealedColumn("webhook_endpoints", "secret")
list_samples = SEALED.list_samples
reencrypt_secrets = SEALED.reencrypt

EVENTS = Insert("webhook_events", "environment_id", "id", "type", "payload", "created_at")
CALLBACKS = Insert("webhook_events", "environment_id", "id", "type", "payload", "created_at", "url")
EVENT_PEOPLE = Insert("webhook_event_people", "environment_id", "subscriber_id", "event_id")
DELIVERIES = Insert(
    "webhook_deliveries",
    *("environment_id", "id", "endpoint_id", "event_id", "status", "attempt", "due_at"),
    *("response_status", "error_text", "created_at", "updated_at", "attempt_log"),
)
LIST_MESSAGES = sql("""
    SELECT m.id, m.notification_id, m.job_id, m.workflow_id, m.subscriber_id, m.channel, m.provider_id, m.status,
        m.seen, m.read, m.error_text, m.created_at, m.updated_at,
        g.transaction_key, w.key AS workflow_key, s.key AS subscriber_key
    FROM messages AS m
    JOIN triggers AS g ON g.environment_id = m.environment_id AND g.id = m.trigger_id
    JOIN workflows AS w ON w.environment_id = m.environment_id AND w.id = m.workflow_id
    JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id
    WHERE m.environment_id = :environment_id AND m.id {any:ids}
""")

_COLUMNS = """
    t.environment_id, t.id, t.endpoint_id, t.event_id, e.type, e.payload, t.status, t.attempt, t.due_at,
    t.response_status, t.error_text, t.created_at, t.updated_at, t.attempt_log, e.url
"""
_SOURCE = """
    webhook_deliveries AS t
    JOIN webhook_events AS e ON e.environment_id = t.environment_id AND e.id = t.event_id
"""
FIND_DELIVERY = sql(f"""
    SELECT {_COLUMNS} FROM {_SOURCE}
    WHERE t.environment_id = :environment_id AND t.endpoint_id = :endpoint_id AND t.id = :id
""")
# Skips queued deliveries, which may be claimed: they would be sent twice at the same time.
REPLAY_DELIVERY = sql("""
    UPDATE webhook_deliveries SET status = 'queued', attempt = 0, due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND endpoint_id = :endpoint_id AND id = :id AND status <> 'queued'
""")
# As a subquery of the UPDATE, PostgreSQL may run it several times and change more rows than the limit.
REPLAY_DELIVERIES = sql("""
    WITH old AS MATERIALIZED (
        SELECT id FROM webhook_deliveries
        WHERE environment_id = :environment_id AND endpoint_id = :endpoint_id AND id > :after
        AND status {any:statuses}
        ORDER BY id LIMIT :limit {for_update}
    )
    UPDATE webhook_deliveries SET status = 'queued', attempt = 0, due_at = :now, updated_at = :now
    WHERE environment_id = :environment_id AND id IN (SELECT id FROM old)
    RETURNING id
""")


async def insert_endpoint(db: Connection, endpoint: Endpoint, vault: Vault) -> None:
    await db.execute(INSERT_ENDPOINT, created_at=endpoint.created_at, **_stored(endpoint, vault))


async def ensure_endpoint(db: Connection, endpoint: Endpoint, vault: Vault) -> None:
    """Insert the endpoint, unless it exists."""
    await db.execute(ENSURE_ENDPOINT, created_at=endpoint.created_at, **_stored(endpoint, vault))


async def update_endpoint(db: Connection, endpoint: Endpoint, vault: Vault) -> None:
    await db.execute(UPDATE_ENDPOINT, **_stored(endpoint, vault))


async def get_endpoint(
    db: Connection,
    environment_id: EnvironmentId,
    endpoint_id: WebhookEndpointId,
    vault: Vault,
    *,
    for_update: bool = False,
) -> Endpoint:
    """Return the endpoint; `for_update` locks its row."""
    query = FIND_ENDPOINT_FOR_UPDATE if for_update else FIND_ENDPOINT
    row = await db.fetch_one(query, environment_id=environment_id, id=endpoint_id)
    if row is None:
        raise NotFound("WebhookEndpoint", id_text(endpoint_id))
    return endpoint_of(row, vault)


async def list_endpoints(db: Connection, environment_id: EnvironmentId, vault: Vault) -> list[Endpoint]:
    """List the endpoints of the environment, oldest first."""
    return [endpoint_of(row, vault) for row in await db.fetch(LIST_ENDPOINTS, environment_id=environment_id)]


async def list_listeners(
    db: Connection, environment_id: EnvironmentId
) -> dict[WebhookEndpointId, frozenset[EventType]]:
    """Return the event types of each active endpoint of the environment."""
    rows = await db.fetch(LIST_LISTENERS, environment_id=environment_id)
    return {row["id"]: _events_of(row["events"]) for row in rows}


async def delete_endpoint(db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId) -> None:
    """Delete the endpoint; its deliveries, which may be many, are deleted when they expire."""
    if not await db.execute(DELETE_ENDPOINT, environment_id=environment_id, id=endpoint_id):
        raise NotFound("WebhookEndpoint", id_text(endpoint_id))


async def list_message_rows(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[MessageId]
) -> dict[MessageId, Row]:
    """Return the data of message events, by message id."""
    rows = await db.fetch(LIST_MESSAGES, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {MessageId(row["id"]): row for row in rows}


def event_row(
    environment_id: EnvironmentId, event_id: WebhookEventId, kind: EventType, payload: str, now: Millis
) -> tuple[Any, ...]:
    return environment_id, event_id, kind, payload, now


def queued_row(
    environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, event_id: WebhookEventId, now: Millis
) -> tuple[Any, ...]:
    """Return the row of a delivery that is due at once."""
    delivery_id = new_id(now)
    return environment_id, delivery_id, endpoint_id, event_id, DeliveryStatus.QUEUED, 0, now, None, None, now, now, None


def delivery_row(delivery: Delivery) -> tuple[Any, ...]:
    return (
        delivery.environment_id,
        delivery.id,
        delivery.endpoint_id,
        delivery.event_id,
        delivery.status,
        delivery.attempt,
        delivery.due_at,
        delivery.response_status,
        delivery.error_text,
        delivery.created_at,
        delivery.updated_at,
        delivery.attempt_log,
    )


async def insert_events(
    db: Connection,
    events: Sequence[tuple[Any, ...]],
    deliveries: Sequence[tuple[Any, ...]],
    people: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Insert events with their deliveries, and whom they are about."""
    if events:
        await db.insert_many(EVENTS, events)
        await db.insert_many(DELIVERIES, deliveries)
    if people:
        await db.insert_many(EVENT_PEOPLE, people)


async def insert_callback(
    db: Connection, event: tuple[Any, ...], delivery: tuple[Any, ...], people: tuple[Any, ...]
) -> None:
    """Insert an event with a URL of its own, and its delivery."""
    await db.insert_many(CALLBACKS, [event])
    await db.insert_many(DELIVERIES, [delivery])
    await db.insert_many(EVENT_PEOPLE, [people])


def filter_deliveries(
    environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, status: DeliveryStatus | None
) -> Listing:
    """List the deliveries of an endpoint, all or those of one status."""
    parameters: dict[str, Any] = {"environment_id": environment_id, "endpoint_id": endpoint_id}
    where = "t.environment_id = :environment_id AND t.endpoint_id = :endpoint_id"
    if status is not None:
        parameters["status"] = status
        where += " AND t.status = :status"
    weight = add_lengths("e.payload", "t.error_text", "t.attempt_log")
    return Listing(columns=_COLUMNS, source=_SOURCE, where=where, parameters=parameters, weight=weight)


async def get_delivery(
    db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, delivery_id: WebhookDeliveryId
) -> Delivery:
    row = await db.fetch_one(FIND_DELIVERY, environment_id=environment_id, endpoint_id=endpoint_id, id=delivery_id)
    if row is None:
        raise NotFound("WebhookDelivery", id_text(delivery_id))
    return delivery_of(row)


async def replay_delivery(db: Connection, delivery: Delivery, now: Millis) -> None:
    """Queue a finished delivery again; a queued one stays as it is."""
    await db.execute(
        REPLAY_DELIVERY,
        environment_id=delivery.environment_id,
        endpoint_id=delivery.endpoint_id,
        id=delivery.id,
        now=now,
    )


async def replay_deliveries(
    db: Connection, endpoint: Endpoint, *, after: bytes, statuses: Sequence[DeliveryStatus], limit: int, now: Millis
) -> list[WebhookDeliveryId]:
    """Queue up to `limit` finished deliveries with ids above `after` again, the oldest first; returns them in order."""
    rows = await db.fetch(
        REPLAY_DELIVERIES,
        environment_id=endpoint.environment_id,
        endpoint_id=endpoint.id,
        after=after,
        statuses=list(statuses),
        limit=limit,
        now=now,
    )
    return sorted(WebhookDeliveryId(row["id"]) for row in rows)


def first_delivery(since: Millis) -> bytes:
    """Return an id just below those of all deliveries since the moment."""
    return last_id(Millis(since - 1)) if since > 0 else first_id(Millis(0))


def endpoint_of(row: Row, vault: Vault) -> Endpoint:
    values = dict(row)
    sealed = values.pop("secret")
    opened = vault.open(sealed, context=row["environment_id"] + row["id"])
    return Endpoint(
        **values | {"events": _events_of(row["events"]), "active": bool(row["active"])},
        secrets=_SECRETS.decode(opened),
    )


def delivery_of(row: Row) -> Delivery:
    return Delivery(
        **{**dict(row), "type": EventType(row["type"]), "status": DeliveryStatus(row["status"])},
    )


def _events_of(text: str) -> frozenset[EventType]:
    """Decode event types, ignoring names that this version does not know."""
    known = EventType._value2member_map_
    return frozenset(EventType(one) for one in json_value(text) if one in known)


def _stored(endpoint: Endpoint, vault: Vault) -> Mapping[str, Any]:
    # The context binds an envelope to its row: copied to another row it cannot be decrypted.
    context = endpoint.environment_id + endpoint.id
    return {
        "environment_id": endpoint.environment_id,
        "id": endpoint.id,
        "url": endpoint.url,
        "description": endpoint.description,
        "events": json_text(sorted(endpoint.events)),
        "secret": vault.seal(json_text(endpoint.secrets), context=context),
        "active": endpoint.active,
        "disabled_reason": endpoint.disabled_reason,
        "failing_since": endpoint.failing_since,
        "updated_at": endpoint.updated_at,
    }
