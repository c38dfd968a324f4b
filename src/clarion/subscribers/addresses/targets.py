"""Where chat and tool steps send to: the endpoints of people, and what a provider needs to reach each of them."""

import logging
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import find_moment
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import SettingsError
from clarion.ids import EndpointId, EnvironmentId, IntegrationId, SubscriberId
from clarion.jsontext import json_value
from clarion.subscribers.addresses.model import EndpointType
from clarion.subscribers.model import ChannelEntry, ExpiringToken
from clarion.vault import Vault
from clarion.vocabulary import Channel

log = logging.getLogger(__name__)

LIST_ENDPOINTS = sql("""
    SELECT t.id, t.subscriber_id, t.context_keys, i.provider_id, i.channel
    FROM channel_endpoints AS t
    JOIN integrations AS i ON i.environment_id = t.environment_id AND i.id = t.integration_id
    WHERE t.environment_id = :environment_id AND t.subscriber_id {any:subscriber_ids}
    AND i.active AND i.deleted_at IS NULL AND i.channel IN ('chat', 'tool')
    ORDER BY t.id
""")
FIND_ENDPOINT = sql("""
    SELECT id FROM channel_endpoints
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND integration_id = :integration_id
    ORDER BY id LIMIT 1
""")
LIST_TARGETS = sql("""
    SELECT t.environment_id, t.id, t.identifier, t.type, t.endpoint, t.integration_id, i.provider_id,
        i.identifier AS integration_identifier, c.id AS connection_id, c.auth, c.workspace
    FROM channel_endpoints AS t
    JOIN integrations AS i ON i.environment_id = t.environment_id AND i.id = t.integration_id
    LEFT JOIN channel_connections AS c ON c.environment_id = t.environment_id AND c.id = t.connection_id
    WHERE t.environment_id = :environment_id AND t.id {any:ids} AND i.deleted_at IS NULL
""")


class EndpointPlace(Struct, frozen=True):
    """An endpoint as a step sees it: nothing of it is decrypted before a message is sent."""

    id: EndpointId
    provider_id: str
    context_keys: tuple[str, ...]
    channel: Channel


class EndpointTarget(Struct, frozen=True, kw_only=True):
    """An endpoint that a message goes to, with the token of its connection."""

    entry: ChannelEntry
    webhook_url: str | None = None
    phone: str | None = None


async def list_places(
    db: Connection, environment_id: EnvironmentId, subscriber_ids: Sequence[SubscriberId]
) -> dict[SubscriberId, list[EndpointPlace]]:
    """The endpoints at active chat and tool integrations of several people, by person, oldest first."""
    places: dict[SubscriberId, list[EndpointPlace]] = {}
    if subscriber_ids:
        rows = await db.fetch(LIST_ENDPOINTS, environment_id=environment_id, subscriber_ids=list(subscriber_ids))
        for row in rows:
            keys = tuple(json_value(row["context_keys"]))
            place = EndpointPlace(row["id"], row["provider_id"], keys, Channel(row["channel"]))
            places.setdefault(SubscriberId(row["subscriber_id"]), []).append(place)
    return places


async def list_targets(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[EndpointId], vault: Vault
) -> dict[EndpointId, EndpointTarget]:
    """Decrypt the endpoints that messages go to; those that were deleted, or cannot be opened, are left out."""
    rows = await db.fetch(LIST_TARGETS, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    targets = {}
    for row in rows:
        try:
            endpoint, auth = _open(row, vault)
        except SettingsError as problem:
            # One that this process has no key for stops its own message, and not the others of the claim.
            log.warning("channel endpoint '%s' cannot be opened: %s", row["identifier"], problem)
            continue
        credentials = _credentials(EndpointType(row["type"]), endpoint) | _of_connection(row, auth)
        entry = ChannelEntry(
            provider_id=row["provider_id"],
            integration_id=row["integration_id"],
            integration_identifier=row["integration_identifier"],
            credentials=credentials,
            endpoint_identifier=row["identifier"],
            expiring_token=_find_expiring(row, auth),
        )
        url = endpoint.get("url")
        targets[EndpointId(row["id"])] = EndpointTarget(entry=entry, webhook_url=url, phone=endpoint.get("phoneNumber"))
    return targets


async def find_target(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_id: SubscriberId,
    integration_id: IntegrationId,
    vault: Vault,
) -> EndpointTarget | None:
    """Decrypt the oldest endpoint of a person at an integration, for a test message."""
    row = await db.fetch_one(
        FIND_ENDPOINT, environment_id=environment_id, subscriber_id=subscriber_id, integration_id=integration_id
    )
    if row is None:
        return None
    endpoint_id = EndpointId(row["id"])
    return (await list_targets(db, environment_id, [endpoint_id], vault)).get(endpoint_id)


def _open(row: Row, vault: Vault) -> tuple[dict[str, Any], dict[str, str] | None]:
    """The address, and the tokens of the connection; raises SettingsError."""
    endpoint = json_value(vault.open(row["endpoint"], context=row["environment_id"] + row["id"]))
    if row["auth"] is None:
        return endpoint, None
    return endpoint, json_value(vault.open(row["auth"], context=row["environment_id"] + row["connection_id"]))


def _of_connection(row: Row, auth: dict[str, str] | None) -> dict[str, str]:
    if auth is None:
        return {}
    return {"accessToken": auth["accessToken"], "workspaceId": json_value(row["workspace"])["id"]}


def _find_expiring(row: Row, auth: dict[str, str] | None) -> ExpiringToken | None:
    if auth is None or "refreshToken" not in auth:
        return None
    expires_at = find_moment(auth.get("expiresAt") or "")
    if expires_at is None:
        return None
    return ExpiringToken(
        environment_id=row["environment_id"], connection_id=row["connection_id"], expires_at=expires_at
    )


def _credentials(kind: EndpointType, endpoint: dict[str, Any]) -> dict[str, Any]:
    """The address under the names that providers read."""
    if kind is EndpointType.SLACK_CHANNEL:
        return {"channel": endpoint["channelId"]}
    if kind in (EndpointType.SLACK_USER, EndpointType.LINE_USER):
        return {"channel": endpoint["userId"]}
    if kind is EndpointType.TELEGRAM_CHAT:
        return {"channel": endpoint["chatId"]}
    return {name: value for name, value in endpoint.items() if name != "url"} | {"endpointType": kind}
