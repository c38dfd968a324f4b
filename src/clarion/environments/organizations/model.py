"""New environments and deleted ones as records."""

from msgspec import Struct

from clarion.clock import Millis
from clarion.environments.actions import NewKey
from clarion.environments.model import Environment
from clarion.ids import EnvironmentId, OrganizationId


class NewEnvironment(Struct, frozen=True, kw_only=True):
    """A new environment with its first API key, whose secret is shown once."""

    environment: Environment
    key: NewKey


class DeletedEnvironment(Struct, frozen=True, kw_only=True):
    """An environment that is deleted but whose rows may still exist."""

    environment_id: EnvironmentId
    organization_id: OrganizationId
    deleted_at: Millis
