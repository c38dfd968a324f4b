"""Subscribers and their channel credentials as records: how credentials merge, and what callers see of a person."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.http.caller import Caller
from clarion.ids import ConnectionId, EnvironmentId, IntegrationId, SubscriberId, SubscriberKey
from clarion.vocabulary import Scope

MAX_DEVICE_TOKENS = 100

CONTACT_FIELDS = ("first_name", "last_name", "email", "phone", "avatar", "locale", "timezone", "data")

_NOTHING = dict.fromkeys((*CONTACT_FIELDS, "schedule", "is_online", "last_online_at"))


class Subscriber(Struct, frozen=True):
    environment_id: EnvironmentId
    id: SubscriberId
    key: SubscriberKey
    first_name: str | None
    last_name: str | None
    email: str | None
    phone: str | None
    avatar: str | None
    locale: str | None
    timezone: str | None
    data: dict[str, Any] | None
    schedule: dict[str, Any] | None
    is_online: bool | None
    last_online_at: Millis | None
    version: int
    created_at: Millis
    updated_at: Millis


class ExpiringToken(Struct, frozen=True, kw_only=True):
    """The access token of a connection that ends, and can be renewed."""

    environment_id: EnvironmentId
    connection_id: ConnectionId
    expires_at: Millis


class ChannelEntry(Struct, frozen=True, kw_only=True):
    """A subscriber's credentials for one integration: device tokens, a webhook address."""

    provider_id: str
    integration_id: IntegrationId
    integration_identifier: str
    credentials: dict[str, Any]
    endpoint_identifier: str | None = None
    """Of a channel endpoint; None for credentials that are stored with the person."""
    expiring_token: ExpiringToken | None = None
    """Of the connection of an endpoint; None if its token does not end, or cannot be renewed."""


def append_credentials(stored: Mapping[str, Any], supplied: Mapping[str, Any]) -> dict[str, Any]:
    """Append new device tokens to the stored ones, overwrite other supplied members and keep the rest."""
    merged = {**stored, **supplied}
    if "deviceTokens" in supplied:
        tokens = [*stored.get("deviceTokens", ()), *supplied["deviceTokens"]]
        merged["deviceTokens"] = list(dict.fromkeys(tokens))
    return merged


def replace_credentials(_stored: Mapping[str, Any], supplied: Mapping[str, Any]) -> dict[str, Any]:
    """Return the supplied credentials alone, with duplicate device tokens removed."""
    replaced = dict(supplied)
    if "deviceTokens" in supplied:
        replaced["deviceTokens"] = list(dict.fromkeys(supplied["deviceTokens"]))
    return replaced


def changed_fields(subscriber: Subscriber, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the wanted values that differ from the stored ones."""
    return {name: value for name, value in wanted.items() if getattr(subscriber, name) != value}


def shown_to(caller: Caller, subscriber: Subscriber) -> Subscriber:
    """The person as the caller may see them: without the scope that reads subscribers, by their ids alone.

    A session is the person's own.
    """
    if caller.session is not None or caller.has_scope(Scope.SUBSCRIBERS_READ):
        return subscriber
    return replace(subscriber, **_NOTHING)
