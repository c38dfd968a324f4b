"""The cache of integrations, with decrypted credentials."""

from collections.abc import Sequence
from functools import partial

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.environments.configuration import Versioned, get_or_load
from clarion.ids import EnvironmentId
from clarion.integrations.model import Integration
from clarion.integrations.store import list_integrations
from clarion.vault import Vault

INTEGRATIONS: CacheSlot[EnvironmentId, Versioned[list[Integration]]] = CacheSlot(limit=1_000)


class IntegrationCache:
    """Caches the integrations of each environment until one of them changes."""

    def __init__(self, vault: Vault) -> None:
        self._load = partial(list_integrations, vault=vault)

    async def list(self, db: Connection, environment_id: EnvironmentId, version: int) -> Sequence[Integration]:
        """List the live integrations of the environment at this version of its configuration, oldest first."""
        return await get_or_load(db, INTEGRATIONS, environment_id, version, self._load)
