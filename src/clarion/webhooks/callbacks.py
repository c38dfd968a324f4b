"""Reply callbacks: events with a URL of their own, under the one endpoint of an environment that stands for them all.

They are delivered as other events are: claimed, signed, retried, logged and replayed. Each host has its share of what
is posted at a time, as each endpoint has, so that a slow one holds up nobody else.
"""

from collections import Counter
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, new_id
from clarion.jsontext import json_text
from clarion.vault import Vault
from clarion.webhooks import store
from clarion.webhooks.model import Endpoint, EventType, new_secret

OF_CALLBACKS: Final = "the endpoint stands for the reply callbacks and requests of all steps, which have the URLs"
_DESCRIPTION: Final = "Reply callbacks and HTTP requests of steps"
_MAX_CANDIDATES: Final = 2_000
"""How far a claim looks past the callbacks of hosts whose share is taken."""

HAS_ENDPOINT = sql(
    "SELECT 1 AS one FROM webhook_endpoints WHERE environment_id = :environment_id AND id = :environment_id"
)

LIST_DUE = sql("""
    SELECT d.id, e.url FROM webhook_deliveries AS d
    LEFT JOIN webhook_events AS e ON e.environment_id = d.environment_id AND e.id = d.event_id
    WHERE d.environment_id = :environment_id AND d.endpoint_id = :environment_id
    AND d.status = 'queued' AND d.due_at <= :now
    ORDER BY d.due_at, d.id LIMIT :limit
""")


class HostShares(NamedTuple):
    """How many callbacks each host may take at a time, and how many it has."""

    share: int
    in_flight: Counter[str]


class ChosenCallbacks(NamedTuple):
    ids: list[WebhookDeliveryId]
    leaves_some: bool
    """Whether others are due that a host has no room for."""


async def choose_callbacks(
    db: Connection, environment_id: EnvironmentId, hosts: HostShares, *, limit: int, now: Millis
) -> ChosenCallbacks:
    """Choose up to `limit` callbacks that are due, the oldest first, of hosts that have room for them."""
    taken = Counter(hosts.in_flight)
    rows = await db.fetch(LIST_DUE, environment_id=environment_id, limit=_MAX_CANDIDATES, now=now)
    ids: list[WebhookDeliveryId] = []
    for row in rows:
        host = host_of(row["url"] or "")
        if len(ids) < limit and taken[host] < hosts.share:
            taken[host] += 1
            ids.append(WebhookDeliveryId(row["id"]))
    return ChosenCallbacks(ids, leaves_some=len(ids) < len(rows))


def host_of(url: str) -> str:
    """The host of a URL with its port, which is a server of its own."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


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
