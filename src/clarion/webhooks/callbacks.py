"""Reply callbacks: events with a URL of their own, under the one endpoint of an environment that stands for them all.

They are delivered as other events are: claimed, signed, retried, logged and replayed.
"""

from typing import Any, Final

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, WebhookEndpointId, WebhookEventId, new_id
from clarion.jsontext import json_text
from clarion.vault import Vault
from clarion.webhooks import store
from clarion.webhooks.model import Endpoint, EventType, new_secret

OF_CALLBACKS: Final = "the endpoint stands for the reply callbacks of all steps, which have the URLs"
_DESCRIPTION: Final = "Reply callbacks of steps"

HAS_ENDPOINT = sql(
    "SELECT 1 AS one FROM webhook_endpoints WHERE environment_id = :environment_id AND id = :environment_id"
)


async def ensure_callback_endpoint(db: Connection, environment_id: EnvironmentId, vault: Vault, now: Millis) -> None:
    """Create the endpoint that stands for the reply callbacks of an environment, unless it has one."""
    if await db.fetch_one(HAS_ENDPOINT, environment_id=environment_id) is not None:
        return
    endpoint = Endpoint(
        environment_id=environment_id,
        id=WebhookEndpointId(environment_id),
        url="",
        description=_DESCRIPTION,
        # Processes of an older version take it for one that listens, but nothing happens that is a test.
        events=frozenset({EventType.ENDPOINT_TEST}),
        secrets=(new_secret(),),
        active=True,
        created_at=now,
        updated_at=now,
    )
    await store.ensure_endpoint(db, endpoint, vault)


async def append_callback(
    db: Connection,
    environment_id: EnvironmentId,
    url: str,
    body: dict[str, Any],
    now: Millis,
    *,
    about: SubscriberId,
) -> WebhookEventId:
    """Write a reply callback, which is posted to the URL; `about` is the person who was written to."""
    event_id = WebhookEventId(new_id(now))
    event = store.event_row(environment_id, event_id, EventType.MESSAGE_REPLIED, json_text(body), now)
    delivery = store.queued_row(environment_id, WebhookEndpointId(environment_id), event_id, now)
    await store.insert_callback(db, (*event, url), delivery, (environment_id, about, event_id))
    return event_id
