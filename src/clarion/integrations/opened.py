"""Integrations with their credentials opened, mostly from memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from clarion.bus import Bus, Topic
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.integrations.model import Integration
from clarion.integrations.store import list_integrations
from clarion.vault import Vault

KNOWN_FOR = Millis(2 * SECOND)
"""An integration changed by another process is used here as it was for at most this time."""

_MOST_KNOWN = 1_000


@dataclass(frozen=True, slots=True)
class _Known:
    integrations: Sequence[Integration]
    until: Millis


class OpenedIntegrations:
    """Knows the integrations of the environments that sent in the last two seconds."""

    def __init__(self, vault: Vault, clock: Clock, bus: Bus) -> None:
        self._vault = vault
        self._clock = clock
        self._known: dict[EnvironmentId, _Known] = {}
        bus.listen(Topic.INTEGRATION_CHANGED, self._known.clear)

    async def list(self, db: Connection, environment_id: EnvironmentId) -> Sequence[Integration]:
        """The live integrations of the environment, oldest first."""
        now = self._clock.now()
        known = self._known.get(environment_id)
        if known is None or known.until <= now:
            found = await list_integrations(db, environment_id, self._vault)
            known = _Known(found, Millis(now + KNOWN_FOR))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[environment_id] = known
        return known.integrations
