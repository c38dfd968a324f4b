"""Connections and endpoints as records: who they belong to, and what callers see of their secrets."""

import secrets
import string
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.http.masking import mask_url
from clarion.ids import ConnectionId, EndpointId, EnvironmentId, IntegrationId, SubscriberId, SubscriberKey
from clarion.providers.definition.fields import MASK
from clarion.vocabulary import Channel

MAX_ENDPOINTS = 100
"""Of one person: each of them is a message of each chat step."""
_RANDOM_CHARACTERS = 12
_ALPHABET = string.ascii_letters + string.digits
_URL = "url"
_HEADERS = "headers"
_SECRET = frozenset({"routingKey", "apiKey", "authToken"})
_SHOWN_OF_AUTH = frozenset({"expiresAt", "refreshTokenExpiresAt"})


class ConnectionMode(StrEnum):
    SUBSCRIBER = "subscriber"
    """The connection belongs to one person."""
    SHARED = "shared"
    """The connection belongs to a context, for all people in it."""


class EndpointType(StrEnum):
    SLACK_CHANNEL = "slack_channel"
    SLACK_USER = "slack_user"
    WEBHOOK = "webhook"
    PHONE = "phone"
    MS_TEAMS_CHANNEL = "ms_teams_channel"
    MS_TEAMS_USER = "ms_teams_user"
    TELEGRAM_CHAT = "telegram_chat"
    WEBEX_ROOM = "webex_room"
    WEBEX_PERSON = "webex_person"
    LINE_USER = "line_user"
    PAGERDUTY_SERVICE = "pagerduty_service"
    OPSGENIE_INTEGRATION = "opsgenie_integration"
    GRAFANA_ONCALL_INTEGRATION = "grafana_oncall_integration"
    TOOL_WEBHOOK = "tool_webhook"


class AddressIntegration(Struct, frozen=True, kw_only=True):
    """The integration of a connection or endpoint, without its credentials."""

    id: IntegrationId
    identifier: str
    provider_id: str
    channel: Channel


class ConnectionTrouble(Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a connection has no token that works."""

    at: Millis
    message: str
    needs_consent: bool
    """Whether the workspace has to be connected again."""


class ChannelConnection(Struct, frozen=True, kw_only=True):
    """The authorisation of a workspace, of one person or shared by a context."""

    environment_id: EnvironmentId
    id: ConnectionId
    identifier: str
    integration: AddressIntegration
    subscriber_id: SubscriberId | None
    subscriber_key: SubscriberKey | None
    context_keys: tuple[str, ...]
    workspace: dict[str, str]
    auth: dict[str, str]
    trouble: ConnectionTrouble | None = None
    created_at: Millis
    updated_at: Millis


class ChannelEndpoint(Struct, frozen=True, kw_only=True):
    """An address of a person at an integration."""

    environment_id: EnvironmentId
    id: EndpointId
    identifier: str
    integration: AddressIntegration
    connection_id: ConnectionId | None
    connection_identifier: str | None
    subscriber_id: SubscriberId
    subscriber_key: SubscriberKey | None
    context_keys: tuple[str, ...]
    type: EndpointType
    endpoint: dict[str, Any]
    created_at: Millis
    updated_at: Millis


def read_trouble(text: str | None) -> ConnectionTrouble | None:
    return None if text is None else msgspec.json.decode(text, type=ConnectionTrouble)


def make_connection_identifier() -> str:
    return f"chconn_{_random_text()}"


def make_endpoint_identifier() -> str:
    return f"chendp_{_random_text()}"


def mask_auth(auth: Mapping[str, str]) -> dict[str, str]:
    """The authorisation without its tokens; a masked token that is sent back stands for the stored one."""
    return {name: value if name in _SHOWN_OF_AUTH else MASK for name, value in auth.items()}


def mask_endpoint(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    """The address without what anybody could send with: keys, tokens, and URLs but for their host."""
    return {name: _mask_member(name, value) for name, value in endpoint.items()}


def unmask(given: Mapping[str, Any], stored: Mapping[str, Any], masked: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, with the stored value for each member that is as answers show it."""
    return {
        name: _unmask_headers(value, stored.get(name))
        if isinstance(value, Mapping)
        else stored[name]
        if name in stored and value == masked.get(name)
        else value
        for name, value in given.items()
    }


def find_moved_secrets(given: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """Members that are sent masked with another URL, at which a caller who does not know them could read them."""
    url = stored.get(_URL)
    if url is None or given.get(_URL) in (url, mask_url(url)):
        return []
    headers = given.get(_HEADERS)
    values = headers if isinstance(headers, Mapping) else {}
    masked = [f"{_HEADERS}.{name}" for name, value in values.items() if value == MASK]
    return [*(name for name, value in given.items() if value == MASK), *masked]


def _unmask_headers(given: Mapping[str, Any], stored: Any) -> dict[str, Any]:
    known = stored if isinstance(stored, Mapping) else {}
    return {name: known.get(name, value) if value == MASK else value for name, value in given.items()}


def _mask_member(name: str, value: Any) -> Any:
    if name == _URL:
        return mask_url(value)
    if name == _HEADERS:
        return dict.fromkeys(value, MASK)
    return MASK if name in _SECRET else value


def _random_text() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_CHARACTERS))
