"""SQL of channel credentials: a subscriber's device tokens and webhook addresses, by integration."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, IntegrationId, SubscriberId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.model import MAX_DEVICE_TOKENS, ChannelEntry, Subscriber

Merge = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]

# Leaves out the entries of deleted integrations.
LIST_CHANNELS = sql("""
    SELECT c.subscriber_id, c.provider_id, c.integration_id, c.credentials, i.identifier AS integration_identifier
    FROM subscriber_channels AS c
    JOIN integrations AS i ON i.environment_id = c.environment_id AND i.id = c.integration_id
    WHERE c.environment_id = :environment_id AND c.subscriber_id {any:subscriber_ids} AND i.deleted_at IS NULL
    ORDER BY c.created_at, c.integration_id
""")
FIND_INTEGRATION_BY_IDENTIFIER = sql("""
    SELECT id FROM integrations
    WHERE environment_id = :environment_id AND provider_id = :provider_id AND identifier = :identifier
    AND active AND deleted_at IS NULL
""")
FIND_NEWEST_INTEGRATION = sql("""
    SELECT id FROM integrations
    WHERE environment_id = :environment_id AND provider_id = :provider_id AND active AND deleted_at IS NULL
    ORDER BY id DESC LIMIT 1
""")
FIND_CREDENTIALS = sql("""
    SELECT credentials FROM subscriber_channels
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND integration_id = :integration_id
""")
UPSERT_CREDENTIALS = sql("""
    INSERT INTO subscriber_channels (
        environment_id, subscriber_id, integration_id, provider_id, credentials, created_at
    ) VALUES (:environment_id, :subscriber_id, :integration_id, :provider_id, :credentials, :now)
    ON CONFLICT (environment_id, subscriber_id, integration_id) DO UPDATE SET credentials = :credentials
""")
DELETE_CREDENTIALS = sql("""
    DELETE FROM subscriber_channels
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND provider_id = :provider_id
""")
MARK_SUBSCRIBER_CHANGED = sql("""
    UPDATE subscribers SET version = version + 1, updated_at = :now
    WHERE environment_id = :environment_id AND id = :subscriber_id
""")

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


async def list_channels(
    db: Connection, environment_id: EnvironmentId, subscriber_ids: Sequence[SubscriberId]
) -> dict[SubscriberId, list[ChannelEntry]]:
    """Return the channel entries of several subscribers, by subscriber."""
    entries: dict[SubscriberId, list[ChannelEntry]] = {}
    if subscriber_ids:
        rows = await db.fetch(LIST_CHANNELS, environment_id=environment_id, subscriber_ids=list(subscriber_ids))
        for row in rows:
            entries.setdefault(SubscriberId(row["subscriber_id"]), []).append(_channel_entry(row))
    return entries


class IntegrationReference(Struct, frozen=True, kw_only=True):
    """Names an integration of a provider; without an identifier it is the newest active one."""

    provider_id: str
    integration_identifier: str | None


async def merge_credentials(
    db: Connection,
    subscriber: Subscriber,
    reference: IntegrationReference,
    supplied: Mapping[str, Any],
    *,
    merge: Merge,
    now: Millis,
) -> None:
    """Merge credentials into the entry of one integration; the caller has locked the subscriber's row."""
    integration_id = await _choose_integration(db, subscriber, reference)
    scope = {
        "environment_id": subscriber.environment_id,
        "subscriber_id": subscriber.id,
        "integration_id": integration_id,
    }
    row = await db.fetch_one(FIND_CREDENTIALS, **scope)
    stored = json_value(row["credentials"]) if row else {}
    merged = merge(stored, supplied)
    if len(merged.get("deviceTokens", ())) > MAX_DEVICE_TOKENS:
        raise Invalid.field(
            "credentials.deviceTokens",
            f"would make {len(merged['deviceTokens'])} tokens for this integration; the most is {MAX_DEVICE_TOKENS}",
        )
    if row is None or merged != stored:
        await db.execute(
            UPSERT_CREDENTIALS, **scope, provider_id=reference.provider_id, credentials=json_text(merged), now=now
        )
        await _mark_changed(db, subscriber, now)


async def delete_credentials(db: Connection, subscriber: Subscriber, provider_id: str, now: Millis) -> None:
    """Remove the subscriber's entries of the provider, if there are any."""
    removed = await db.execute(
        DELETE_CREDENTIALS,
        environment_id=subscriber.environment_id,
        subscriber_id=subscriber.id,
        provider_id=provider_id,
    )
    if removed:
        await _mark_changed(db, subscriber, now)


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


async def _choose_integration(db: Connection, subscriber: Subscriber, reference: IntegrationReference) -> IntegrationId:
    provider_id, identifier = reference.provider_id, reference.integration_identifier
    scope = {"environment_id": subscriber.environment_id, "provider_id": provider_id}
    if identifier is None:
        row = await db.fetch_one(FIND_NEWEST_INTEGRATION, **scope)
        if row is None:
            raise Invalid.field(
                "providerId",
                f"has no active integration in this environment; create one for '{provider_id}'",
                provider_id,
            )
    else:
        row = await db.fetch_one(FIND_INTEGRATION_BY_IDENTIFIER, **scope, identifier=identifier)
        if row is None:
            raise Invalid.field(
                "integrationIdentifier",
                f"names no active integration of '{provider_id}' in this environment",
                identifier,
            )
    return IntegrationId(row["id"])


async def _mark_changed(db: Connection, subscriber: Subscriber, now: Millis) -> None:
    await db.execute(
        MARK_SUBSCRIBER_CHANGED, environment_id=subscriber.environment_id, subscriber_id=subscriber.id, now=now
    )


def _channel_entry(row: Row) -> ChannelEntry:
    return ChannelEntry(
        provider_id=row["provider_id"],
        integration_id=row["integration_id"],
        integration_identifier=row["integration_identifier"],
        credentials=json_value(row["credentials"]),
    )
