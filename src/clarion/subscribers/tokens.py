"""Removes device tokens that stopped working."""

from collections.abc import Collection, Mapping

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.channels import MARK_SUBSCRIBER_CHANGED

LOCK_SUBSCRIBER = sql("""
    SELECT id FROM subscribers WHERE environment_id = :environment_id AND id = :subscriber_id {for_update}
""")
LIST_ENTRIES = sql("""
    SELECT integration_id, provider_id, credentials FROM subscriber_channels
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
UPDATE_CREDENTIALS = sql("""
    UPDATE subscriber_channels SET credentials = :credentials
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND integration_id = :integration_id
""")


async def remove_device_tokens(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_id: SubscriberId,
    tokens: Mapping[str, Collection[str]],
    now: Millis,
) -> None:
    """Remove the tokens, given by provider, from the subscriber's channel entries."""
    scope = {"environment_id": environment_id, "subscriber_id": subscriber_id}
    await db.fetch_one(LOCK_SUBSCRIBER, **scope)
    has_changed = False
    for row in await db.fetch(LIST_ENTRIES, **scope):
        credentials = json_value(row["credentials"])
        stored = credentials.get("deviceTokens") or []
        remaining = [one for one in stored if one not in tokens.get(row["provider_id"], ())]
        if len(remaining) < len(stored):
            changed = json_text({**credentials, "deviceTokens": remaining})
            await db.execute(UPDATE_CREDENTIALS, **scope, integration_id=row["integration_id"], credentials=changed)
            has_changed = True
    if has_changed:
        await db.execute(MARK_SUBSCRIBER_CHANGED, **scope, now=now)
