"""Changes of webhook endpoints in the audit log."""

from typing import Any

from clarion.audit.model import SERVICE, Action, Author, Change, Target, TargetType
from clarion.audit.recording import record_change
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.http.masking import mask_url
from clarion.ids import EnvironmentId, WebhookEndpointId, id_text
from clarion.secret import Secret
from clarion.webhooks.model import Endpoint


async def record_endpoint(
    db: Connection,
    action: Action,
    author: Author,
    now: Millis,
    *,
    before: Endpoint | None = None,
    after: Endpoint | None = None,
) -> None:
    """Record a change of an endpoint, unless nothing differs."""
    found = after or before
    if found is None:
        raise TypeError("A change has an endpoint before or after it")
    change = Change(
        action=action,
        target=Target(type=TargetType.WEBHOOK_ENDPOINT, id=id_text(found.id), name=found.description),
        before=None if before is None else _describe(before),
        after=None if after is None else _describe(after),
    )
    await record_change(db, found.environment_id, change, author, now)


async def record_disabled(
    db: Connection, environment_id: EnvironmentId, endpoint_id: WebhookEndpointId, reason: str, now: Millis
) -> None:
    """Record that Clarion disabled an endpoint, because it is gone or has failed for days."""
    change = Change(
        action=Action.WEBHOOK_ENDPOINT_UPDATE,
        target=Target(type=TargetType.WEBHOOK_ENDPOINT, id=id_text(endpoint_id)),
        before={"active": True, "disabledReason": None},
        after={"active": False, "disabledReason": reason},
    )
    await record_change(db, environment_id, change, Author(actor=SERVICE), now)


def _describe(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "host": mask_url(endpoint.url),
        "url": Secret(endpoint.url),
        "description": endpoint.description,
        "eventTypes": sorted(endpoint.events),
        "active": endpoint.active,
        "disabledReason": endpoint.disabled_reason,
        "secret": endpoint.secret,
    }
