"""Webhooks: endpoints, their deliveries, and replays."""

from typing import Any

from msgspec import UnsetType

from clarion.audit.model import Action
from clarion.audit.recording import record_request
from clarion.clock import iso_text
from clarion.db.port import Connection
from clarion.errors import Invalid
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.pages import CursorPage, list_cursor_page
from clarion.http.wire import changes_of
from clarion.ids import WebhookDeliveryId, WebhookEndpointId, WebhookEventId, id_text, new_id
from clarion.providers.definition.result import SendFailure
from clarion.vocabulary import Scope
from clarion.webhooks import actions, store
from clarion.webhooks.callbacks import OF_CALLBACKS
from clarion.webhooks.events import make_payload
from clarion.webhooks.model import EVENT_DESCRIPTIONS, Delivery, Endpoint, EventType
from clarion.webhooks.posting import post_event
from clarion.webhooks.wire import (
    DeliveriesQuery,
    DeliveryOut,
    EndpointIn,
    EndpointOut,
    EndpointPatch,
    EndpointSecretOut,
    EndpointUrl,
    EventTypeInfoOut,
    NewEndpointOut,
    ReplayIn,
    ReplayResultOut,
)


@operation("GET", "/v1/webhooks/event-types", scope=Scope.WEBHOOKS_READ)
async def list_event_types(_: Call) -> list[EventTypeInfoOut]:
    """List the events that endpoints can listen to."""
    return [EventTypeInfoOut(type=one, description=EVENT_DESCRIPTIONS[one]) for one in EventType]


async def _check_new_url(call: DetachedCall, body: EndpointIn) -> None:
    await _check_url(call, body.url)


@operation(
    "POST", "/v1/webhooks/endpoints", scope=Scope.WEBHOOKS_WRITE, status=201, body=EndpointIn, precheck=_check_new_url
)
async def create_webhook_endpoint(call: Call, body: EndpointIn) -> NewEndpointOut:
    """Create an endpoint; the answer is the only place that shows its secret."""
    fields = {
        "url": str(body.url),
        "description": None if body.description is None else str(body.description),
        "events": frozenset(body.event_types),
        "active": body.active,
    }
    made = await actions.create_endpoint(call.db, call.environment_id, fields, vault=call.services.vault, now=call.now)
    await record_request(call, Action.WEBHOOK_ENDPOINT_CREATE, after=made)
    return NewEndpointOut.of(made)


@operation("GET", "/v1/webhooks/endpoints", scope=Scope.WEBHOOKS_READ)
async def list_webhook_endpoints(call: Call) -> list[EndpointOut]:
    """List the endpoints of the environment, oldest first."""
    found = await store.list_endpoints(call.db, call.environment_id, call.services.vault)
    return [_show(call, endpoint) for endpoint in found]


@operation("GET", "/v1/webhooks/endpoints/{endpointId}", scope=Scope.WEBHOOKS_READ)
async def get_webhook_endpoint(call: Call, endpoint_id: WebhookEndpointId) -> EndpointOut:
    """Retrieve an endpoint, without its secret."""
    return _show(call, await _get_endpoint(call, endpoint_id))


async def _check_changed_url(call: DetachedCall, _: WebhookEndpointId, body: EndpointPatch) -> None:
    if not isinstance(body.url, UnsetType):
        await _check_url(call, body.url)


@operation(
    "PATCH",
    "/v1/webhooks/endpoints/{endpointId}",
    scope=Scope.WEBHOOKS_WRITE,
    body=EndpointPatch,
    precheck=_check_changed_url,
)
async def update_webhook_endpoint(call: Call, endpoint_id: WebhookEndpointId, body: EndpointPatch) -> EndpointOut:
    """Change the supplied fields; an endpoint that is made active again gets its queued deliveries."""
    fields: dict[str, Any] = changes_of(body, "active")
    fields |= {name: _text(value) for name, value in changes_of(body, "url", "description").items()}
    if not isinstance(body.event_types, UnsetType):
        fields["events"] = frozenset(body.event_types)
    before = await _get_endpoint(call, endpoint_id, for_update=True)
    changed = await actions.update_endpoint(
        call.db, call.environment_id, endpoint_id, fields, vault=call.services.vault, now=call.now
    )
    await record_request(call, Action.WEBHOOK_ENDPOINT_UPDATE, before=before, after=changed)
    return EndpointOut.of(changed)


@operation("DELETE", "/v1/webhooks/endpoints/{endpointId}", scope=Scope.WEBHOOKS_WRITE, status=204)
async def delete_webhook_endpoint(call: Call, endpoint_id: WebhookEndpointId) -> None:
    """Delete an endpoint; its queued deliveries are not sent."""
    before = await _get_endpoint(call, endpoint_id, for_update=True)
    await actions.delete_endpoint(call.db, call.environment_id, endpoint_id)
    await record_request(call, Action.WEBHOOK_ENDPOINT_DELETE, before=before)


@operation("POST", "/v1/webhooks/endpoints/{endpointId}/rotate-secret", scope=Scope.WEBHOOKS_WRITE)
async def rotate_webhook_secret(call: Call, endpoint_id: WebhookEndpointId) -> EndpointSecretOut:
    """Give an endpoint a new secret, shown only here; for 24 hours the previous one signs as well."""
    before = await _get_endpoint(call, endpoint_id, for_update=True)
    changed = await actions.rotate_secret(
        call.db, call.environment_id, endpoint_id, vault=call.services.vault, now=call.now
    )
    await record_request(call, Action.WEBHOOK_ENDPOINT_ROTATE_SECRET, before=before, after=changed)
    until = changed.secrets[1].until or call.now
    return EndpointSecretOut(secret=changed.secret.reveal(), previous_until=iso_text(until))


@operation("POST", "/v1/webhooks/endpoints/{endpointId}/test", scope=Scope.WEBHOOKS_WRITE, transaction=Transaction.NONE)
async def try_webhook_endpoint(call: DetachedCall, endpoint_id: WebhookEndpointId) -> DeliveryOut:
    """Send a test event to an endpoint at once, active or not, and return the receiver's response."""

    async def find(db: Connection) -> Endpoint:
        return await store.get_endpoint(db, call.environment_id, endpoint_id, call.services.vault)

    endpoint = await call.database.read(find)
    if endpoint.takes_callbacks:
        raise Invalid.field("endpointId", f"has nothing to be tested: {OF_CALLBACKS}", id_text(endpoint_id))
    now = call.now
    event_id = WebhookEventId(new_id(now))
    payload = make_payload(EventType.ENDPOINT_TEST, {"_endpointId": id_text(endpoint.id)}, now)
    attempt = await post_event(call.services.gateway, endpoint, event_id, payload, now)

    async def record(db: Connection) -> Delivery:
        return await actions.insert_test_delivery(db, endpoint, event_id, payload, attempt, now)

    return DeliveryOut.of(await call.database.transaction(record))


@operation(
    "GET",
    "/v1/webhooks/endpoints/{endpointId}/deliveries",
    scope=Scope.WEBHOOKS_READ,
    query=DeliveriesQuery,
    transaction=Transaction.SCAN,
)
async def list_webhook_deliveries(
    call: Call, endpoint_id: WebhookEndpointId, query: DeliveriesQuery
) -> CursorPage[DeliveryOut]:
    """List the deliveries of an endpoint, with their attempts and the receiver's last response."""
    await _get_endpoint(call, endpoint_id)
    listing = store.filter_deliveries(call.environment_id, endpoint_id, query.status)
    return await list_cursor_page(call.db, listing, query, lambda row: _show_delivery(call, store.delivery_of(row)))


@operation("GET", "/v1/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}", scope=Scope.WEBHOOKS_READ)
async def get_webhook_delivery(
    call: Call, endpoint_id: WebhookEndpointId, delivery_id: WebhookDeliveryId
) -> DeliveryOut:
    """Retrieve a delivery with its attempts."""
    await _get_endpoint(call, endpoint_id)
    return _show_delivery(call, await store.get_delivery(call.db, call.environment_id, endpoint_id, delivery_id))


@operation("POST", "/v1/webhooks/endpoints/{endpointId}/deliveries/{deliveryId}/replay", scope=Scope.WEBHOOKS_WRITE)
async def replay_webhook_delivery(
    call: Call, endpoint_id: WebhookEndpointId, delivery_id: WebhookDeliveryId
) -> DeliveryOut:
    """Deliver an event again under the same `webhook-id`; a queued delivery stays as it is."""
    await _get_endpoint(call, endpoint_id)
    delivery = await store.get_delivery(call.db, call.environment_id, endpoint_id, delivery_id)
    await store.replay_delivery(call.db, delivery, call.now)
    return _show_delivery(call, await store.get_delivery(call.db, call.environment_id, endpoint_id, delivery_id))


@operation("POST", "/v1/webhooks/endpoints/{endpointId}/replay", scope=Scope.WEBHOOKS_WRITE, body=ReplayIn)
async def replay_webhook_deliveries(call: Call, endpoint_id: WebhookEndpointId, body: ReplayIn) -> ReplayResultOut:
    """Deliver all events since a moment again, a thousand per call, the oldest first."""
    endpoint = await _get_endpoint(call, endpoint_id)
    start = store.first_delivery(body.since.moment)
    start = start if body.after is None else max(start, body.after.id)
    replayed, has_more = await actions.replay_since(call.db, endpoint, after=start, status=body.status, now=call.now)
    if not replayed:
        return ReplayResultOut(replayed=0, has_more=False)
    return ReplayResultOut(replayed=len(replayed), has_more=has_more, last=id_text(replayed[-1]))


async def _check_url(call: DetachedCall, url: EndpointUrl) -> None:
    try:
        await call.services.gateway.check_url(str(url))
    except SendFailure as failure:
        raise Invalid.field("url", f"cannot be sent to: {failure.message}", str(url)) from None


def _show(call: Call, endpoint: Endpoint) -> EndpointOut:
    shown = EndpointOut.of(endpoint)
    return shown if call.caller.has_scope(Scope.WEBHOOKS_WRITE) else shown.masked()


def _show_delivery(call: Call, delivery: Delivery) -> DeliveryOut:
    shown = DeliveryOut.of(delivery)
    shown = shown if call.caller.has_scope(Scope.EVENTS_READ) else shown.without_trigger()
    return shown if call.caller.has_scope(Scope.WEBHOOKS_WRITE) else shown.masked()


async def _get_endpoint(call: Call, endpoint_id: WebhookEndpointId, *, for_update: bool = False) -> Endpoint:
    vault = call.services.vault
    return await store.get_endpoint(call.db, call.environment_id, endpoint_id, vault, for_update=for_update)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
