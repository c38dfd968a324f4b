"""Integrations as records."""

from dataclasses import dataclass
from typing import Any

from clarion.clock import Millis
from clarion.ids import ApiKeyId, EnvironmentId, IntegrationId
from clarion.vocabulary import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    environment_id: EnvironmentId
    id: IntegrationId
    provider_id: str
    channel: Channel
    name: str
    identifier: str
    credentials: dict[str, Any]
    conditions: list[dict[str, Any]]
    active: bool
    is_primary: bool
    priority: int
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None = None
    deleted_by: ApiKeyId | None = None
