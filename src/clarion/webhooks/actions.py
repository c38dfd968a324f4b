"""What happens to endpoints: made, changed, tried out, their deliveries sent again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Database
from clarion.environments.store import lock_environment
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, new_id
from clarion.vault import Vault
from clarion.webhooks import store
from clarion.webhooks.model import Attempt, Delivery, DeliveryStatus, Endpoint, EventType, enable, new_secret
from clarion.webhooks.model import rotate_secrets as next_secrets

MAX_ENDPOINTS = 50
"""Each event is written once for every endpoint that wants it, so there are not very many."""
MAX_REPLAYED = 1_000

_RESEALED_TOGETHER = 100


async def create_endpoint(
    db: Connection, environment_id: EnvironmentId, fields: Mapping[str, Any], *, vault: Vault, now: Millis
) -> Endpoint:
    """An endpoint with a secret of its own."""
    await lock_environment(db, environment_id)
    if len(await store.list_endpoints(db, environment_id, vault)) >= MAX_ENDPOINTS:
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
    """Change the given fields; one that is switched on starts anew, and what waited for it goes out."""
    endpoint = await store.get_endpoint(db, environment_id, endpoint_id, vault, hold=True)
    changed = replace(endpoint, **fields)
    if fields.get("active") and not endpoint.active:
        changed = enable(changed)
    if changed == endpoint:
        return endpoint
    changed = replace(changed, updated_at=now)
    await store.update_endpoint(db, changed, vault)
    return changed


async def rotate_secret(
    db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, *, vault: Vault, now: Millis
) -> Endpoint:
    """Give the endpoint a new secret; the one before signs along for a day."""
    endpoint = await store.get_endpoint(db, environment_id, endpoint_id, vault, hold=True)
    changed = replace(endpoint, secrets=next_secrets(endpoint.secrets, now), updated_at=now)
    await store.update_endpoint(db, changed, vault)
    return changed


async def replay_since(
    db: Connection, endpoint: Endpoint, *, after: bytes, status: DeliveryStatus | None, now: Millis
) -> tuple[list[WebhookDeliveryId], bool]:
    """Send deliveries again that have ended, the oldest first; tells also whether there may be more of them."""
    wanted = (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED) if status is None else (status,)
    statuses = [one for one in wanted if one is not DeliveryStatus.QUEUED]
    found = await store.replay_deliveries(db, endpoint, after=after, statuses=statuses, limit=MAX_REPLAYED, now=now)
    return found, len(found) == MAX_REPLAYED


async def append_test(
    db: Connection, endpoint: Endpoint, event_id: WebhookEventId, payload: str, attempt: Attempt, now: Millis
) -> Delivery:
    """Write down a test event that was tried once and is not tried again."""
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
    )
    event = store.event_row(endpoint.environment_id, event_id, delivery.type, payload, now)
    await store.insert_events(db, [event], [store.delivery_row(delivery)])
    return delivery


async def reencrypt_secrets(database: Database, vault: Vault) -> int:
    """Seal with the vault's writing key what is sealed with another; tells how many secrets there were."""
    resealed = 0
    while batch := await database.transaction(lambda db: store.reseal_secrets(db, vault, limit=_RESEALED_TOGETHER)):
        resealed += batch
    return resealed
