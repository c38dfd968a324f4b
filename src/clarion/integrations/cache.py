"""A cache of integrations with decrypted credentials."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.integrations.model import Integration
from clarion.integrations.store import list_integrations
from clarion.vault import Vault

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may use an integration that another process has changed."""

_MAX_CACHED = 1_000


class _CachedIntegrations(Struct, frozen=True, kw_only=True):
    integrations: Sequence[Integration]
    until: Millis


class IntegrationCache:
    """Caches the integrations of each environment for two seconds."""

    def __init__(self, vault: Vault, clock: Clock, bus: Bus) -> None:
        self._vault = vault
        self._clock = clock
        self._cached: dict[EnvironmentId, _CachedIntegrations] = {}
        bus.listen(Signal.INTEGRATION_CHANGED, self._cached.clear)

    async def list(self, db: Connection, environment_id: EnvironmentId) -> Sequence[Integration]:
        """List the live integrations of the environment, oldest first."""
        now = self._clock.now()
        cached = self._cached.get(environment_id)
        if cached is None or cached.until <= now:
            found = await list_integrations(db, environment_id, self._vault)
            cached = _CachedIntegrations(integrations=found, until=Millis(now + CACHED_FOR))
            if len(self._cached) >= _MAX_CACHED:
                self._cached.clear()
            self._cached[environment_id] = cached
        return cached.integrations
