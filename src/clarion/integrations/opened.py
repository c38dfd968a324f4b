"""Integrations with their credentials opened, mostly from memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.integrations.model import Integration
from clarion.integrations.store import list_integrations
from clarion.vault import Vault

CACHED_FOR = Millis(2 * SECOND)
"""An integration changed by another process is used here as it was for at most this time."""

_MAX_KNOWN = 1_000


@dataclass(frozen=True, slots=True)
class _Entry:
    integrations: Sequence[Integration]
    until: Millis


class OpenedIntegrations:
    """Knows the integrations of the environments that sent in the last two seconds."""

    def __init__(self, vault: Vault, clock: Clock, bus: Bus) -> None:
        self._vault = vault
        self._clock = clock
        self._cached: dict[EnvironmentId, _Entry] = {}
        bus.listen(Signal.INTEGRATION_CHANGED, self._cached.clear)

    async def list(self, db: Connection, environment_id: EnvironmentId) -> Sequence[Integration]:
        """The live integrations of the environment, oldest first."""
        now = self._clock.now()
        known = self._cached.get(environment_id)
        if known is None or known.until <= now:
            found = await list_integrations(db, environment_id, self._vault)
            known = _Entry(found, Millis(now + CACHED_FOR))
            if len(self._cached) >= _MAX_KNOWN:
                self._cached.clear()
            self._cached[environment_id] = known
        return known.integrations
