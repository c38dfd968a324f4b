"""Create, change and test endpoints, and replay their deliveries."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, id_text, new_id
from clarion.vault import Vault
from clarion.webhooks import store
from clarion.webhooks.callbacks import OF_CALLBACKS
from clarion.webhooks.model import (
    Delivery,
    DeliveryAttempt,
    DeliveryStatus,
    Endpoint,
    EventType,
    append_to_log,
    enable,
    new_secret,
)
from clarion.webhooks.model import rotate_secrets as next_secrets

MAX_ENDPOINTS = 50
"""Per environment: each event is written once for every endpoint that listens to it."""
MAX_REPLAYED = 1_000


async def create_endpoint(
    db: Connection, environment_id: EnvironmentId, fields: Mapping[str, Any], *, vault: Vault, now: Millis
) -> Endpoint:
    """Create an endpoint with a new secret."""
    # The lock of the environment's row also keeps the number of endpoints from changing.
    await raise_configuration_version(db, environment_id)
    existing = await store.list_endpoints(db, environment_id, vault)
    if sum(not one.takes_callbacks for one in existing) >= MAX_ENDPOINTS:
        raise Invalid.field("url", f"is one too many: an environment has at most {MAX_ENDPOINTS} endpoints")
    endpoint = Endpoint(
        environment_id=environment_id,
        id=WebhookEndpointId(new_id(now)),
        url=fields["url"],
        description=fields["description"],
        events=fields["events"],
        secrets=(new_secret(),),
        active=fields["active"],
        created_at=now,
        updated_at=now,
    )
    await store.insert_endpoint(db, endpoint, vault)
    return endpoint


async def update_endpoint(
    db: Connection,
    environment_id: EnvironmentId,
    endpoint_id: WebhookEndpointId,
    fields: Mapping[str, Any],
    *,
    vault: Vault,
    now: Millis,
) -> Endpoint:
    """Change the given fields; enabling an endpoint resets its failures and sends its queued deliveries."""
    endpoint = await store.get_endpoint(db, environment_id, endpoint_id, vault, for_update=True)
    for name, given in (("url", "url"), ("events", "eventTypes")):
        if name in fields and endpoint.takes_callbacks:
            raise Invalid.field(given, f"cannot change: {OF_CALLBACKS}")
    changed = replace(endpoint, **fields)
    if fields.get("active") and not endpoint.active:
        changed = enable(changed)
    if changed == endpoint:
        return endpoint
    changed = replace(changed, updated_at=now)
    await store.update_endpoint(db, changed, vault)
    await raise_configuration_version(db, environment_id)
    return changed


async def rotate_secret(
    db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, *, vault: Vault, now: Millis
) -> Endpoint:
    """Give the endpoint a new secret; the previous one signs as well for a day."""
    endpoint = await store.get_endpoint(db, environment_id, endpoint_id, vault, for_update=True)
    changed = replace(endpoint, secrets=next_secrets(endpoint.secrets, now), updated_at=now)
    await store.update_endpoint(db, changed, vault)
    await raise_configuration_version(db, environment_id)
    return changed


async def delete_endpoint(db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId) -> None:
    """Delete an endpoint; its queued deliveries are not sent."""
    if endpoint_id == WebhookEndpointId(environment_id):
        raise Invalid.field("endpointId", f"cannot be deleted: {OF_CALLBACKS}", id_text(endpoint_id))
    await store.delete_endpoint(db, environment_id, endpoint_id)
    await raise_configuration_version(db, environment_id)


async def replay_since(
    db: Connection, endpoint: Endpoint, *, after: bytes, status: DeliveryStatus | None, now: Millis
) -> tuple[list[WebhookDeliveryId], bool]:
    """Queue finished deliveries again, the oldest first; returns them and whether there may be more."""
    wanted = (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED) if status is None else (status,)
    statuses = [one for one in wanted if one is not DeliveryStatus.QUEUED]
    found = await store.replay_deliveries(db, endpoint, after=after, statuses=statuses, limit=MAX_REPLAYED, now=now)
    return found, len(found) == MAX_REPLAYED


async def insert_test_delivery(
    db: Connection, endpoint: Endpoint, event_id: WebhookEventId, payload: str, attempt: DeliveryAttempt, now: Millis
) -> Delivery:
    """Store a test event with the result of its only attempt."""
    status = DeliveryStatus.DELIVERED if attempt.is_success else DeliveryStatus.FAILED
    delivery = Delivery(
        environment_id=endpoint.environment_id,
        id=WebhookDeliveryId(new_id(now)),
        endpoint_id=endpoint.id,
        event_id=event_id,
        type=EventType.ENDPOINT_TEST,
        payload=payload,
        status=status,
        attempt=1,
        due_at=None,
        response_status=attempt.status,
        error_text=attempt.error,
        created_at=now,
        updated_at=now,
        attempt_log=append_to_log(None, attempt, now),
    )
    event = store.event_row(endpoint.environment_id, event_id, delivery.type, payload, now)
    await store.insert_events(db, [event], [store.delivery_row(delivery)])
    return delivery
